//! `quad promote`: what runs and is ready before an environment goes there.

mod older;

use super::{
    binding::point,
    decide::to_promote,
    named::Named,
    ready::{Awaited, Wait, remark},
    scene::{Scene, chosen},
};
use serde_json::json;

use crate::{arguments::TEMPLATE, failure::Failure, output, runtime::block_on};

/// Promote a component: what runs and is Ready before an environment goes there.
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Examples:\n  quad promote cart --to staging                          what is Ready in development\n  quad promote cart --to production --release cart-1a2b   this release and no other",
    help_template = TEMPLATE
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    named: Named,
    /// The environment to promote to.
    #[arg(long, value_name = "ENVIRONMENT")]
    to: String,
    /// The release [default: what is Ready in an environment that promotes there].
    #[arg(long)]
    release: Option<String>,
    #[command(flatten)]
    wait: Wait,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    block_on(async {
        let (cluster, name) = arguments.named.find().await?;
        let scene = Scene::read_any(&cluster, &name).await?;
        let to = scene.environment(&arguments.to)?;
        if let Some(release) = &arguments.release
            && scene.older.is_none()
        {
            chosen(&scene.releases(&cluster).await?, &scene.name(), release)?;
        }
        let promoted = to_promote(&scene, &to, arguments.release.as_deref())?;
        remark(promoted.remark.as_deref());
        if scene.older.is_some() {
            older::promote(&cluster, &scene, &promoted, &to).await?;
            let (release, name) = (&promoted.release, scene.name());
            let words = format!("{to} is asked for {release}\nNext:  quad status {name}");
            let facts = json!({ "component": name, "environment": to, "release": release });
            return output::tell(arguments.wait.output(), &words, &facts);
        }
        let binding = point(&cluster, &scene, &to, &promoted.release).await?;
        let awaited = Awaited {
            scene: &scene,
            environment: &to,
            release: &promoted.release,
            binding: &binding,
        };
        arguments.wait.follow(&cluster, awaited).await
    })
}
