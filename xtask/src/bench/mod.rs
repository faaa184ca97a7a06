//! `cargo xtask bench NAME`: measures, writes `target/bench/NAME.json`, prints a table that marks each goal met
//! or missed. `report` is what the benches share.

mod apiserver;
mod apply;
mod board;
mod chain;
mod controller;
mod deployment_system;
mod engine;
mod load;
mod numbers;
mod objects;
mod planes;
mod process;
mod render;
mod report;
mod requests;
mod subject;
mod up;

use std::collections::BTreeMap;

use anyhow::Result;

use self::{report::Report, subject::Subject};
use crate::workspace;

/// Options of `cargo xtask bench`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    bench: Bench,
}

/// One bench each, in a file or folder of its own.
#[derive(clap::Subcommand)]
enum Bench {
    /// The embedded server against kube-apiserver and etcd.
    Apiserver(apiserver::Arguments),
    /// Server-side apply: in process, and against kube-apiserver.
    Apply(apply::Arguments),
    /// Components: from what developers write to pods that are ready; edits of them and of their type.
    Chain(chain::Arguments),
    /// Deployments with their endpoints, and a group of settings that many of them use.
    DeploymentSystem(deployment_system::Arguments),
    /// The engine: releases per second, requests, memory, drift; on the embedded server and on kube-apiserver.
    Engine(engine::Arguments),
    /// Many planes, three of which misbehave.
    Planes(planes::Arguments),
    /// Rendering of components: time and allocations, warm and cold.
    Render(render::Arguments),
    /// `quad up`: how fast it starts, what it takes at rest, and with many pods.
    Up(up::Arguments),
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if cfg!(debug_assertions) {
        // An unoptimized client would measure itself.
        let mut cargo = workspace::cargo(&["run", "--release", "--package", "xtask", "--"]);
        return workspace::run(cargo.args(std::env::args_os().skip(1)));
    }
    match &arguments.bench {
        Bench::Apiserver(arguments) => apiserver::run(arguments),
        Bench::Apply(arguments) => apply::run(arguments),
        Bench::Chain(arguments) => chain::run(arguments),
        Bench::DeploymentSystem(arguments) => deployment_system::run(arguments),
        Bench::Engine(arguments) => engine::run(arguments),
        Bench::Planes(arguments) => planes::run(arguments),
        Bench::Render(arguments) => render::run(arguments),
        Bench::Up(arguments) => up::run(arguments),
    }
}

/// Numbers of one subject: what was measured, and its named values.
type Numbers = BTreeMap<String, BTreeMap<&'static str, f64>>;

/// Starts a server, measures it, ends it.
async fn measure(
    start: impl AsyncFn() -> Result<Subject>,
    work: impl AsyncFn(&Subject) -> Result<Numbers>,
) -> Result<Numbers> {
    let subject = start().await?;
    eprintln!("measuring {}", subject.name());
    let numbers = work(&subject).await?;
    subject.end();
    Ok(numbers)
}

fn add_row(report: &mut Report, what: &str, numbers: &BTreeMap<&'static str, f64>) {
    let numbers: Vec<_> = numbers
        .iter()
        .map(|(name, value)| (*name, *value))
        .collect();
    report.measured(what, &numbers);
}
