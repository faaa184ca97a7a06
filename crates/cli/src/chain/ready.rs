//! Waiting for what comes of a binding.

use std::time::{Duration, Instant};

use quadrille_types::{ReleaseBinding, names::EnvironmentName};
use serde_json::{Value, json};

use super::{
    decide::{after_colon, onward},
    scene::Scene,
    standing::Standing,
    urls,
};
use crate::{
    arguments::Output, cluster::Cluster, failure::Failure, output, patience, progress::Progress,
    style::Style,
};

/// Whether to wait, and how long.
#[derive(Debug, clap::Args)]
pub(crate) struct Wait {
    /// Only ask for it; see what becomes of it: quad status.
    #[arg(long = "no-wait", id = "no_wait")]
    is_unwanted: bool,
    /// How long to wait for it: seconds, or 5m.
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = patience::parse, conflicts_with = "no_wait")]
    timeout: Duration,
    /// For whom to write.
    #[arg(short, long, value_enum, default_value_t)]
    output: Output,
}

/// How often to look.
pub(super) const OFTEN: Duration = Duration::from_millis(100);
/// How long trouble must last before it is believed: a pod may fall once and get up again.
pub(super) const BELIEVED: Duration = Duration::from_secs(3);

/// How long a word, or what was asked for, may take to be seen.
pub(super) const SEEN: Duration = Duration::from_secs(10);

/// How long one that is not let in is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// Not at all: nobody knows when somebody agrees.
    Short,
    /// A moment: somebody just did.
    UntilSeen,
}

/// What is waited for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Awaited<'a> {
    pub(crate) scene: &'a Scene,
    pub(crate) environment: &'a EnvironmentName,
    pub(crate) release: &'a str,
    /// The name of the binding.
    pub(crate) binding: &'a str,
}

/// How a wait ended.
#[derive(Debug)]
pub(crate) enum End {
    /// It runs and is ready.
    Ready(Box<ReleaseBinding>),
    /// Somebody has to agree.
    NeedsApproval(String),
}

impl Wait {
    /// For whom to write.
    pub(crate) fn output(&self) -> Output {
        self.output
    }

    /// How long to wait; nothing where that is not wanted.
    pub(crate) fn timeout(&self) -> Option<Duration> {
        (!self.is_unwanted).then_some(self.timeout)
    }

    /// Waits, unless that was not wanted, and says what came of it.
    pub(crate) async fn follow(
        &self,
        cluster: &Cluster,
        awaited: Awaited<'_>,
    ) -> Result<(), Failure> {
        self.go_on(cluster, awaited, Patience::Short).await
    }

    /// The same where somebody just agreed, which takes a moment to be seen.
    pub(crate) async fn follow_approved(
        &self,
        cluster: &Cluster,
        awaited: Awaited<'_>,
    ) -> Result<(), Failure> {
        self.go_on(cluster, awaited, Patience::UntilSeen).await
    }

    async fn go_on(
        &self,
        cluster: &Cluster,
        awaited: Awaited<'_>,
        patience: Patience,
    ) -> Result<(), Failure> {
        let Awaited {
            scene,
            environment,
            release,
            ..
        } = awaited;
        let name = scene.name();
        if self.is_unwanted {
            let mut steps = scene.steps_to(environment);
            let next = if steps.any(|step| step.needs_approval) {
                format!("quad approve {name} --env {environment}")
            } else {
                format!("quad status {name}")
            };
            let words = format!("{release} is asked for in {environment}\nNext:  {next}");
            return output::tell(self.output, &words, &awaited.facts("asked", &[]));
        }
        match awaited.until_ready(cluster, self.timeout, patience).await? {
            End::Ready(binding) => {
                let urls = urls::of(&binding);
                let words = awaited.ready(&urls, Style::of_standard_output());
                output::tell(self.output, &words, &awaited.facts("ready", &urls))
            }
            End::NeedsApproval(words) => {
                if self.output == Output::Json {
                    output::say(&awaited.facts("needsApproval", &[]).to_string())?;
                    return Err(Failure::told(3));
                }
                Err(
                    Failure::not_yet(format!("{release} waits for an approval in {environment}"))
                        .saying(without_command(&words))
                        .next(format!(
                            "Somebody who may approves it: quad approve {name} --env {environment}"
                        )),
                )
            }
        }
    }
}

impl Awaited<'_> {
    /// Waits until the release runs and is ready, or it is clear that it will not be by itself.
    pub(crate) async fn until_ready(
        &self,
        cluster: &Cluster,
        timeout: Duration,
        patience: Patience,
    ) -> Result<End, Failure> {
        let Self {
            scene,
            environment,
            release,
            binding,
        } = self;
        let name = scene.name();
        let started = Instant::now();
        let deadline = started + timeout;
        let mut trouble: Option<Instant> = None;
        let mut progress = Progress::start();
        loop {
            let found: Option<ReleaseBinding> = cluster.ours("releasebindings", binding).await?;
            let Some(found) = found else {
                return Err(Failure::new(format!(
                    "the binding of {name} in {environment} was deleted meanwhile"
                )));
            };
            let asked = found.spec.release_name.as_deref().unwrap_or_default();
            if asked != *release {
                return Err(Failure::new(format!(
                    "somebody asked for {asked} in {environment} meanwhile"
                ))
                .next(format!("See what runs where: quad status {name}")));
            }
            let standing = Standing::of(&found);
            if !matches!(standing, Standing::Degraded(_)) {
                trouble = None;
            }
            let words = match standing {
                Standing::Ready => return Ok(End::Ready(Box::new(found))),
                Standing::NeedsApproval(words) | Standing::Refused(words)
                    if patience == Patience::UntilSeen && started.elapsed() < SEEN =>
                {
                    words
                }
                Standing::NeedsApproval(words) => return Ok(End::NeedsApproval(words)),
                Standing::Refused(words) => {
                    return Err(
                        Failure::new(format!("{release} may not run in {environment}"))
                            .saying(words)
                            .next(format!("See what runs where: quad status {name}")),
                    );
                }
                Standing::Undeployed | Standing::Unasked => {
                    return Err(Failure::new(format!(
                        "{name} was undeployed from {environment} meanwhile"
                    )));
                }
                Standing::Suspended => {
                    return Err(Failure::new(format!(
                        "{release} is suspended in {environment}: nothing of it runs"
                    )));
                }
                Standing::Degraded(words) => {
                    let since = *trouble.get_or_insert_with(Instant::now);
                    if since.elapsed() > BELIEVED {
                        return Err(self.degraded(&words));
                    }
                    words
                }
                Standing::Progressing(words) => words,
            };
            progress.show(&format!("{name} in {environment}: {words}"));
            if Instant::now() > deadline {
                return Err(Failure::not_yet(format!(
                    "{release} is not Ready in {environment} yet"
                ))
                .saying(words)
                .next(format!("Go on watching: quad status {name} -w")));
            }
            tokio::time::sleep(OFTEN).await;
        }
    }

    fn degraded(&self, words: &str) -> Failure {
        let Self {
            scene,
            environment,
            release,
            ..
        } = self;
        let name = scene.name();
        Failure::new(format!("{release} is Degraded in {environment}"))
            .saying(words)
            .next(format!(
                "Look closer: quad describe release {name}-{environment}"
            ))
            .next(format!(
                "or go back: quad rollback {name} --env {environment}"
            ))
    }

    /// It is ready, and what can be done next.
    fn ready(&self, urls: &[String], style: Style) -> String {
        let Self {
            scene,
            environment,
            release,
            ..
        } = self;
        let mut lines = vec![format!(
            "{} {release} is Ready in {environment}",
            style.green("✔")
        )];
        lines.extend(urls.iter().map(|url| format!("  {url}")));
        let mut next = onward(scene, environment, release)
            .map(|step| format!("quad promote {} --to {}", scene.name(), step.to))
            .collect::<Vec<_>>();
        if next.is_empty() {
            next.push(format!("quad status {}", scene.name()));
        }
        lines.push(format!("Next:  {}", next.join("\n       ")));
        lines.join("\n")
    }

    /// The same for scripts.
    fn facts(&self, result: &str, urls: &[String]) -> Value {
        json!({
            "component": self.scene.name(),
            "project": self.scene.project(),
            "environment": self.environment,
            "release": self.release,
            "result": result,
            "urls": urls,
        })
    }
}

/// What a binding says about itself, without the command at its end: that is told as the next one.
fn without_command(words: &str) -> &str {
    words
        .split_once(": quad ")
        .map_or(words, |(before, _)| before)
}

/// Says something that stops nobody.
pub(crate) fn remark(words: Option<&str>) {
    if let Some(words) = words {
        let style = Style::of_standard_error();
        output::aside(&format!(
            "{} {words}{}",
            style.yellow("!"),
            after_colon("the pipeline goes another way")
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::scene::tests::{ready, scene},
        *,
    };

    #[test]
    fn what_is_ready_is_told_with_its_address_and_the_next_step() {
        let scene = scene(vec![ready("development", "cart-1")]);
        let of = |environment: &EnvironmentName, urls: &[String]| {
            let awaited = Awaited {
                scene: &scene,
                environment,
                release: "cart-1",
                binding: "b",
            };
            awaited.ready(urls, Style::plain())
        };
        assert_eq!(
            of(&"development".into(), &["http://x/".to_owned()]),
            "✔ cart-1 is Ready in development\n  http://x/\nNext:  quad promote cart --to staging"
        );
        assert_eq!(
            of(&"production".into(), &[]),
            "✔ cart-1 is Ready in production\nNext:  quad status cart"
        );
    }
}
