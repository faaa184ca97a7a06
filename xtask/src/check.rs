//! `cargo xtask check`: everything that needs no cluster and no test run.

use std::process::Command;

use crate::{
    deny, faults, generate, house, layers,
    steps::Steps,
    workspace::{self, cargo},
};

/// How long each target is fuzzed. Longer runs: `cargo run --release -p quadrille-fuzz -- --seconds 600`.
const FUZZ_SECONDS: u32 = 5;

/// Options of `cargo xtask check`.
#[derive(clap::Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(_: &Arguments) -> anyhow::Result<()> {
    let mut steps = Steps::default();
    add(&mut steps)?;
    steps.summary();
    Ok(())
}

/// The checks, quickest first.
pub(crate) fn add(steps: &mut Steps) -> anyhow::Result<()> {
    steps.run("format", || {
        workspace::run(&mut cargo(&["fmt", "--all", "--check"]))
    })?;
    steps.run("house rules", house::run)?;
    steps.run("the table of faults", faults::run)?;
    steps.run("layers", || layers::run(&layers::Arguments {}))?;
    steps.run("generated files", || {
        generate::run(&generate::Arguments { check: true })
    })?;
    if deny::is_available() {
        steps.run("licences and bans", deny::run)?;
    } else {
        steps.skip(
            "licences and bans",
            "cargo-deny is not installed (`cargo install cargo-deny`)",
        );
    }
    let clippy = [
        "clippy",
        "--workspace",
        "--all-targets",
        "--locked",
        "--quiet",
        "--",
        "-D",
        "warnings",
    ];
    steps.run("lints", || workspace::run(&mut cargo(&clippy)))?;
    steps.run("hostile input", || {
        let fuzz = workspace::built("quadrille-fuzz")?;
        let seconds = FUZZ_SECONDS.to_string();
        workspace::run(Command::new(fuzz).args(["--seconds", &seconds]))
    })
}
