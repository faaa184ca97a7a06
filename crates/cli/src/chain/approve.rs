//! `quad approve`: a release may run in an environment.

use quadrille_types::approval::Decision;

use super::{
    approval::Subject,
    ready::{Awaited, Wait},
};
use crate::{arguments::TEMPLATE, failure::Failure, output, runtime::block_on};

/// Agree that a release runs in an environment, in your own name.
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Examples:\n  quad approve cart --env production                      the release that waits there\n  quad approve cart --env production --expires 8h         unless nobody asks for it today",
    help_template = TEMPLATE
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    subject: Subject,
    #[command(flatten)]
    wait: Wait,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    block_on(async {
        let word = arguments.subject.find().await?;
        if arguments.subject.withdraw {
            return word.taken_back(arguments.wait.output()).await;
        }
        word.say(Decision::Approve).await?;
        if !word.is_asked_for {
            let (release, environment) = (&word.release, &word.environment);
            let name = word.scene.name();
            let words = format!(
                "{release} may run in {environment}\nNext:  quad promote {name} --to {environment} --release {release}"
            );
            return output::tell(arguments.wait.output(), &words, &word.facts("approved"));
        }
        if word.scene.older.is_some() {
            let (release, environment) = (&word.release, &word.environment);
            let name = word.scene.name();
            let words = format!("{release} may run in {environment}\nNext:  quad status {name}");
            return output::tell(arguments.wait.output(), &words, &word.facts("approved"));
        }
        let binding = word.scene.bound(&word.environment)?;
        let binding = kube::ResourceExt::name_any(binding);
        let awaited = Awaited {
            scene: &word.scene,
            environment: &word.environment,
            release: &word.release,
            binding: &binding,
        };
        arguments.wait.follow_approved(&word.cluster, awaited).await
    })
}
