//! Being written.

/// Options.
#[derive(clap::Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(_: &Arguments) -> anyhow::Result<()> {
    anyhow::bail!("being written")
}
