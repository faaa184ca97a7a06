//! `quad reject`: a release may not run in an environment.

use quadrille_types::approval::Decision;

use super::{approval::Subject, standing::running};
use crate::{
    arguments::{Output, TEMPLATE},
    failure::Failure,
    output,
    runtime::block_on,
};

/// Refuse that a release runs in an environment, in your own name.
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Examples:\n  quad reject cart --env production --comment 'breaks the till'\n  quad reject cart --env production --withdraw             take it back",
    help_template = TEMPLATE
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    subject: Subject,
    /// For whom to write.
    #[arg(short, long, value_enum, default_value_t)]
    output: Output,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    block_on(async {
        let word = arguments.subject.find().await?;
        if arguments.subject.withdraw {
            return word.taken_back(arguments.output).await;
        }
        word.say(Decision::Reject).await?;
        let (release, environment) = (&word.release, &word.environment);
        let runs = word.scene.binding(environment)?.and_then(running);
        let goes_on = match runs {
            Some(runs) if runs.release != release => {
                format!("; {} goes on running there", runs.release)
            }
            _ => String::new(),
        };
        let words = format!(
            "{release} is rejected for {environment}{goes_on}\nTake it back: quad reject {} --env {environment} --withdraw",
            word.scene.name()
        );
        output::tell(arguments.output, &words, &word.facts("rejected"))
    })
}
