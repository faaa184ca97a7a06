//! `quad restart`: new pods of the same release.

use std::time::{Duration, Instant};

use jiff::{Timestamp, Unit};
use kube::ResourceExt as _;
use quadrille_types::{annotations, conditions::Reason};
use serde_json::{Value, json};

use super::{
    binding::change_binding,
    named::Named,
    ready::{BELIEVED, Wait},
    scene::Scene,
    standing::running,
};
use crate::{
    arguments::TEMPLATE, cluster::Cluster, failure::Failure, fields, output, progress::Progress,
    runtime::block_on,
};

/// Restart a component in an environment: new pods of the same release, one after the other.
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Examples:\n  quad restart cart --env staging               until the new pods are Ready\n  quad restart cart --env staging --no-wait     only ask for it",
    help_template = TEMPLATE
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    named: Named,
    /// The environment.
    #[arg(long = "env", value_name = "ENVIRONMENT")]
    environment: String,
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
        let Some(runs) = running(binding) else {
            return Err(
                Failure::new(format!("nothing of {name} runs in {environment}"))
                    .next(format!("See what runs where: quad status {name}")),
            );
        };
        let runs = runs.release.to_owned();
        let type_name = scene.component.spec.component_type.as_ref();
        let what = type_name.map_or("", |written| {
            written.name.split('/').next().unwrap_or_default()
        });
        if !["deployment", "statefulset"].contains(&what) {
            return Err(Failure::new(format!(
                "a {what} has no pods that are always there: nothing can be restarted"
            )));
        }
        let moment = Timestamp::now().round(Unit::Millisecond);
        let moment = moment
            .map_err(|error| Failure::new("the clock cannot be read").because(&error))?
            .to_string();
        let change =
            json!({ "metadata": { "annotations": { annotations::RESTARTED_AT: moment } } });
        change_binding(&cluster, &binding.name_any(), &change).await?;
        let facts = |result: &str| {
            json!({
                "component": name, "project": scene.project(), "environment": environment,
                "release": runs, "result": result, "restartedAt": moment,
            })
        };
        let Some(timeout) = arguments.wait.timeout() else {
            let words = format!("{name} is restarted in {environment}\nNext:  quad status {name}");
            return output::tell(arguments.wait.output(), &words, &facts("asked"));
        };
        let place = (name.as_str(), environment.as_str());
        again(&cluster, place, &moment, timeout).await?;
        let words = format!("{runs} was restarted in {environment} and is Ready");
        output::tell(arguments.wait.output(), &words, &facts("restarted"))
    })
}

/// Waits until the release carries the moment, and is ready with it.
async fn again(
    cluster: &Cluster,
    (name, environment): (&str, &str),
    moment: &str,
    timeout: Duration,
) -> Result<(), Failure> {
    let path = cluster.path_of_ours("releases", &format!("{name}-{environment}"));
    let deadline = Instant::now() + timeout;
    let mut progress = Progress::start();
    let mut trouble: Option<Instant> = None;
    loop {
        let Not { words, is_degraded } = match cluster.get(&path).await? {
            None => Not::yet("it has no release"),
            Some(release) => match judged(&release, moment) {
                Ok(()) => return Ok(()),
                Err(not) => not,
            },
        };
        let since = *trouble.get_or_insert_with(Instant::now);
        if !is_degraded {
            trouble = None;
        } else if since.elapsed() > BELIEVED {
            return Err(Failure::new(format!(
                "{name} is Degraded in {environment} since it was restarted"
            ))
            .saying(words)
            .next(format!(
                "Look closer: quad describe release {name}-{environment}"
            )));
        }
        progress.show(&format!("{name} in {environment}: {words}"));
        if Instant::now() > deadline {
            return Err(Failure::not_yet(format!(
                "{name} is not Ready again in {environment} yet"
            ))
            .saying(words)
            .next(format!("Go on watching: quad status {name} -w")));
        }
        tokio::time::sleep(OFTEN).await;
    }
}

/// What a release that is not ready again says.
#[derive(Debug, PartialEq, Eq)]
struct Not {
    words: String,
    is_degraded: bool,
}

impl Not {
    fn yet(words: &str) -> Self {
        Self {
            words: words.to_owned(),
            is_degraded: false,
        }
    }
}

/// Whether a release was restarted at a moment and is ready since, or what it says instead. What it says of its objects
/// is what became of the restart: one that was applied is Progressing until its pods are new.
fn judged(release: &Value, moment: &str) -> Result<(), Not> {
    if !release["spec"]["resources"].to_string().contains(moment) {
        return Err(Not::yet("the restart was not looked at yet"));
    }
    let generation = &release["metadata"]["generation"];
    let Some(ready) = fields::condition(release, "Ready") else {
        return Err(Not::yet("nothing is said about it yet"));
    };
    if ready["observedGeneration"] != *generation {
        return Err(Not::yet("its last change was not looked at yet"));
    }
    if ready["status"] == "True" {
        return Ok(());
    }
    Err(Not {
        words: fields::text(ready, "message").to_owned(),
        is_degraded: ready["reason"] == Reason::ResourcesDegraded.as_str(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ready_counts_only_after_the_restart() {
        let release = |at: &str, observed: i64, status: &str| {
            json!({
                "metadata": { "generation": 2 },
                "spec": { "resources": [{ "object": { "annotation": at } }] },
                "status": { "conditions": [
                    { "type": "Ready", "status": status, "observedGeneration": observed, "message": "1/2" }] },
            })
        };
        let moment = "2026-11-16T06:00:00.123Z";
        assert_eq!(judged(&release(moment, 2, "True"), moment), Ok(()));
        assert!(judged(&release("before", 2, "True"), moment).is_err());
        assert!(judged(&release(moment, 1, "True"), moment).is_err());
        assert_eq!(
            judged(&release(moment, 2, "False"), moment),
            Err(Not::yet("1/2"))
        );
    }
}
