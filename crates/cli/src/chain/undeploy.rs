//! `quad undeploy`: takes a component out of an environment.

use std::time::{Duration, Instant};

use kube::ResourceExt as _;
use serde_json::{Value, json};

use super::{binding::change_binding, named::Named, ready::Wait, scene::Scene};
use crate::{
    arguments::TEMPLATE, cluster::Cluster, confirm, failure::Failure, fields, output,
    progress::Progress, runtime::block_on,
};

/// Take a component out of an environment; its releases and settings stay.
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Examples:\n  quad undeploy cart --env staging           until nothing of it is left there\n  quad undeploy cart --env staging --yes     without asking, also where data goes with it",
    help_template = TEMPLATE
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    named: Named,
    /// The environment.
    #[arg(long = "env", value_name = "ENVIRONMENT")]
    environment: String,
    /// Don't ask.
    #[arg(short, long)]
    yes: bool,
    #[command(flatten)]
    wait: Wait,
}

/// How often to look.
const OFTEN: Duration = Duration::from_millis(100);

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    block_on(async {
        let (cluster, name) = arguments.named.find().await?;
        let scene = Scene::read(&cluster, &name).await?;
        let environment = scene.environment(&arguments.environment)?;
        let name = scene.name();
        let binding = scene.bound(&environment)?;
        let release = cluster.path_of_ours("releases", &format!("{name}-{environment}"));
        let rendered = cluster.get(&release).await?.unwrap_or_default();
        let data = data_of(&rendered);
        if !data.is_empty() && !arguments.yes && confirm::is_possible() {
            let question = format!(
                "With {name} this goes from {environment}, and what it holds: {}. Go on?",
                data.join(", ")
            );
            if !confirm::ask(&question)? {
                return Err(Failure::new("nothing was done"));
            }
        }
        if !binding.spec.is_undeployed() {
            let change = json!({ "spec": { "state": "Undeploy" } });
            change_binding(&cluster, &binding.name_any(), &change).await?;
        }
        let back = match binding.spec.release_name.as_deref() {
            Some(release) => format!("quad deploy {name} --env {environment} --release {release}"),
            None => format!("quad deploy {name} --env {environment}"),
        };
        let facts = |result: &str| {
            json!({
                "component": name, "project": scene.project(), "environment": environment,
                "release": binding.spec.release_name, "result": result,
            })
        };
        let Some(timeout) = arguments.wait.timeout() else {
            let words = format!("{name} goes from {environment}\nBring it back: {back}");
            return output::tell(arguments.wait.output(), &words, &facts("asked"));
        };
        gone(&cluster, &release, &name, environment.as_str(), timeout).await?;
        let words = format!("{name} is undeployed from {environment}\nBring it back: {back}");
        output::tell(arguments.wait.output(), &words, &facts("undeployed"))
    })
}

/// Waits until nothing is left.
async fn gone(
    cluster: &Cluster,
    release: &str,
    name: &str,
    environment: &str,
    timeout: Duration,
) -> Result<(), Failure> {
    let deadline = Instant::now() + timeout;
    let mut progress = Progress::start();
    while let Some(left) = cluster.get(release).await? {
        let words = match fields::waits_for(&left) {
            "" => "its objects are taken away",
            words => words,
        };
        progress.show(&format!("{name} in {environment}: {words}"));
        if Instant::now() > deadline {
            return Err(
                Failure::not_yet(format!("{name} is not gone from {environment} yet"))
                    .saying(words)
                    .next(format!(
                        "Look closer: quad describe release {name}-{environment}"
                    )),
            );
        }
        tokio::time::sleep(OFTEN).await;
    }
    Ok(())
}

/// What of a release holds data.
fn data_of(release: &Value) -> Vec<String> {
    let entries = fields::items(&release["status"]["resources"]).iter();
    let holds = |entry: &&Value| {
        ["PersistentVolumeClaim", "StatefulSet"].contains(&fields::text(entry, "kind"))
    };
    entries
        .filter(holds)
        .map(|entry| {
            format!(
                "{} {}",
                fields::text(entry, "kind"),
                fields::text(entry, "name")
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_holds_data_is_named() {
        let release = json!({ "status": { "resources": [
            { "kind": "Deployment", "name": "cart" }, { "kind": "PersistentVolumeClaim", "name": "disk" }] } });
        assert_eq!(data_of(&release), ["PersistentVolumeClaim disk"]);
        assert!(data_of(&json!({})).is_empty());
    }
}
