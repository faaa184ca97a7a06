//! Being written.

/// Options.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// What to run.
    #[arg(value_name = "SUITE")]
    name: String,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    anyhow::bail!("{} is being written", arguments.name)
}
