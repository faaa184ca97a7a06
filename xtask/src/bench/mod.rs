//! `cargo xtask bench NAME`: measures, writes `target/bench/NAME.json`, prints a table that marks each goal met
//! or missed. `report` is what the benches share.

mod apiserver;
mod report;

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
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if cfg!(debug_assertions) {
        // An unoptimized client would measure itself.
        let mut cargo = workspace::cargo(&["run", "--release", "--package", "xtask", "--"]);
        return workspace::run(cargo.args(std::env::args_os().skip(1)));
    }
    match &arguments.bench {
        Bench::Apiserver(arguments) => apiserver::run(arguments),
    }
}
