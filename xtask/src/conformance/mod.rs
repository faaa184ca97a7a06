//! `cargo xtask conformance SUITE`: runs a suite and holds its result against the committed expectations.
//! Every suite ends with one line `SUITE: PASSED/TOTAL`; `scoreboard` is what they share.

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
enum Suite {}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    match arguments.suite {}
}
