//! `quad rollback`: back to a release that was ready.

use kube::ResourceExt;

use super::{
    binding::point,
    decide::{to_deploy, to_go_back},
    named::Named,
    ready::{Awaited, Wait, remark},
    scene::{Scene, chosen},
    standing::was_ready,
};
use crate::{arguments::TEMPLATE, failure::Failure, runtime::block_on};

/// Go back to the last other release that was Ready in an environment.
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Examples:\n  quad rollback cart --env staging                     to what was Ready there before\n  quad rollback cart --env production --to cart-1a2b   to this release",
    help_template = TEMPLATE
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    named: Named,
    /// The environment.
    #[arg(long = "env", value_name = "ENVIRONMENT")]
    environment: String,
    /// The release [default: the last other one that was Ready there].
    #[arg(long, value_name = "RELEASE")]
    to: Option<String>,
    #[command(flatten)]
    wait: Wait,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    block_on(async {
        let (cluster, name) = arguments.named.find().await?;
        let scene = Scene::read(&cluster, &name).await?;
        let environment = scene.environment(&arguments.environment)?;
        let binding = scene.bound(&environment)?;
        let releases = scene.releases(&cluster).await?;
        let release = match &arguments.to {
            Some(typed) => chosen(&releases, &scene.name(), typed)?,
            None => {
                let kept = releases.iter().map(ResourceExt::name_any).collect();
                to_go_back(&scene, binding, &kept)?
            }
        };
        // What was ready there once is in order, wherever else it has been since.
        if !was_ready(binding, &release) {
            remark(to_deploy(&scene, &environment, &release)?.as_deref());
        }
        let binding = point(&cluster, &scene, &environment, &release).await?;
        let awaited = Awaited {
            scene: &scene,
            environment: &environment,
            release: &release,
            binding: &binding,
        };
        arguments.wait.follow(&cluster, awaited).await
    })
}
