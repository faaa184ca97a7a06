//! `cargo xtask`: generators, checks, benches and conformance runs.

use std::{alloc::System, process::ExitCode};

use clap::{Parser, Subcommand};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

mod assets;
mod bench;
mod check;
mod conformance;
mod deny;
mod faults;
mod generate;
mod house;
mod jobs;
mod layers;
mod steps;
mod test;
mod wire;
mod workspace;

/// Counts allocations, for benches that tell how many something takes.
#[global_allocator]
static MEMORY: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Tasks of this repository. Examples: `cargo xtask test`, `cargo xtask conformance diff`.
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Everything that must hold: checks, generated files, all tests on both kinds of cluster.
    Test(test::Arguments),
    /// Format, lints, layers, licences, generated files: everything that needs no cluster.
    Check(check::Arguments),
    /// Writes generated files (CRDs, built-in kind data); `--check` only compares.
    Gen(generate::Arguments),
    /// Builds the real control plane and fetches third-party CRDs from Go modules, once.
    Assets(assets::Arguments),
    /// Runs other people's suites and the differential suite.
    Conformance(conformance::Arguments),
    /// Measures; writes `target/bench/NAME.json`.
    Bench(bench::Arguments),
    /// Checks that every crate uses only rooms above it.
    Layers(layers::Arguments),
}

fn main() -> ExitCode {
    match run(&Arguments::parse().task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(task: &Task) -> anyhow::Result<()> {
    match task {
        Task::Test(arguments) => test::run(arguments),
        Task::Check(arguments) => check::run(arguments),
        Task::Gen(arguments) => generate::run(arguments),
        Task::Assets(arguments) => assets::run(arguments),
        Task::Conformance(arguments) => conformance::run(arguments),
        Task::Bench(arguments) => bench::run(arguments),
        Task::Layers(arguments) => layers::run(arguments),
    }
}
