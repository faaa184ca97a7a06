//! `quad convert`: documents of the first generation as ours, without a cluster.

use crate::{arguments::TEMPLATE, documents::Files, failure::Failure, output};

/// Write documents of core.choreo.dev/v1 as they are today; nothing is sent anywhere.
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Examples:\n  quad convert -f old.yaml > new.yaml     one file\n  quad convert -f old/ -R                 a folder and what is in it",
    help_template = TEMPLATE
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    files: Files,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    for (index, document) in arguments.files.read()?.iter().enumerate() {
        if index > 0 {
            output::say("---")?;
        }
        output::say(output::yaml(&document.object)?.trim_end())?;
    }
    Ok(())
}
