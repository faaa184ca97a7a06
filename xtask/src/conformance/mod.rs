//! `cargo xtask conformance SUITE`: runs a suite and holds its result against the committed expectations.
//! Every suite ends with one line `SUITE: PASSED/TOTAL`; `scoreboard` is what they share.

mod diff;
mod expectations;
mod scoreboard;

/// Options of `cargo xtask conformance`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    suite: Suite,
}

/// One suite each, in a file of its own.
#[derive(clap::Subcommand)]
enum Suite {
    /// Request scripts against a real kube-apiserver and the embedded one: any difference fails.
    Diff(diff::Arguments),
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    match &arguments.suite {
        Suite::Diff(arguments) => diff::run(arguments),
    }
}
