//! Somebody's word about a release in an environment: given once, taken back by deleting it.

use std::time::{Duration, Instant};

use http::Request;
use jiff::{Timestamp, Unit};
use kube::ResourceExt as _;
use quadrille_types::{
    Approval, ComponentRelease, ReleaseBinding, annotations,
    approval::Decision,
    names::{EnvironmentName, generate},
};
use serde_json::{Value, json};

use super::{
    decide::to_judge,
    named::Named,
    ready::{OFTEN, SEEN},
    scene::{Scene, chosen},
    standing::is_unseen,
};
use crate::{arguments::Output, cluster::Cluster, failure::Failure, output, patience};

/// What a word is about.
#[derive(Debug, clap::Args)]
pub(crate) struct Subject {
    #[command(flatten)]
    named: Named,
    /// The environment.
    #[arg(long = "env", value_name = "ENVIRONMENT")]
    environment: String,
    /// The release [default: the one that waits there].
    #[arg(long)]
    release: Option<String>,
    /// Why, for others to read.
    #[arg(long, value_name = "WORDS", conflicts_with = "withdraw")]
    comment: Option<String>,
    /// How long your word counts: 30m, 8h [default: until you take it back]. What runs by then goes on.
    #[arg(long, value_name = "TIME", value_parser = patience::parse, conflicts_with = "withdraw")]
    expires: Option<Duration>,
    /// Take back what you said about the release.
    #[arg(long)]
    pub(crate) withdraw: bool,
}

/// A word, and what it is about.
pub(crate) struct Word {
    pub(crate) cluster: Cluster,
    pub(crate) scene: Scene,
    pub(crate) environment: EnvironmentName,
    pub(crate) release: String,
    /// Whether the release is what is asked for there now.
    pub(crate) is_asked_for: bool,
    by: String,
    comment: Option<String>,
    /// How long it counts.
    expires: Option<Duration>,
    /// What was said before, by the same person about the same.
    before: Vec<Approval>,
}

impl Subject {
    /// Finds what the word is about, and what was said already.
    pub(crate) async fn find(&self) -> Result<Word, Failure> {
        let (cluster, name) = self.named.find().await?;
        let mut scene = Scene::read_any(&cluster, &name).await?;
        let environment = scene.environment(&self.environment)?;
        if self.release.is_none() && !self.withdraw {
            // What was asked for just now waits as soon as somebody has looked at it.
            let until = Instant::now() + SEEN;
            while scene.binding(&environment)?.is_some_and(is_unseen) && Instant::now() < until {
                tokio::time::sleep(OFTEN).await;
                scene = Scene::read_any(&cluster, &name).await?;
            }
        }
        let component = scene.name();
        let binding = scene.binding(&environment)?;
        let release = match (&self.release, binding) {
            (Some(typed), _) if scene.older.is_some() => typed.clone(),
            (Some(typed), _) => chosen(&scene.releases(&cluster).await?, &component, typed)?,
            (None, Some(binding)) if self.withdraw => {
                let asked = binding.spec.release_name.clone();
                asked.ok_or_else(|| to_judge(&scene, binding).err().unwrap_or_else(unasked))?
            }
            (None, Some(binding)) => to_judge(&scene, binding)?,
            (None, None) => to_judge(&scene, scene.bound(&environment)?)?,
        };
        let is_asked_for = asking(&scene, &environment, &release).is_some();
        let by = cluster.whoami().await?;
        let said = cluster
            .of_component::<Approval>("approvals", scene.project(), &component)
            .await?;
        let before = said.into_iter().filter(|said| {
            said.spec.by == by
                && said.spec.environment == environment
                && said.spec.release_name == release
        });
        Ok(Word {
            before: before.collect(),
            is_asked_for,
            by,
            release,
            environment,
            scene,
            cluster,
            comment: self.comment.clone(),
            expires: self.expires,
        })
    }
}

fn unasked() -> Failure {
    Failure::new("no release is asked for there")
}

impl Word {
    /// Says it. What the same person said otherwise about the same is taken back first.
    pub(crate) async fn say(&self, decision: Decision) -> Result<(), Failure> {
        if decision == Decision::Approve {
            self.must_be_another()?;
        }
        let now = Timestamp::now();
        let end = self.end(now)?;
        // One that ends at another time is said anew.
        let is_said = |said: &Approval| {
            let same_end = end.is_none() && said.spec.expires_at.is_none();
            same_end && said.spec.decision() == decision && said.spec.counts_at(now)
        };
        if self.before.iter().any(is_said) {
            return Ok(());
        }
        self.withdraw().await?;
        let word = match decision {
            Decision::Approve => "Approve",
            Decision::Reject => "Reject",
        };
        let about: Option<ComponentRelease> = self
            .cluster
            .ours("componentreleases", &self.release)
            .await?;
        let name = generate::name(&[&self.release, self.environment.as_str(), &self.by]);
        let mut object = json!({
            "apiVersion": "openchoreo.dev/v1alpha1", "kind": "Approval",
            "metadata": { "name": name, "namespace": self.cluster.namespace },
            "spec": {
                "owner": { "projectName": self.scene.project(), "componentName": self.scene.name() },
                "environment": self.environment, "releaseName": self.release,
                "decision": word, "by": self.by,
            },
        });
        if let Some(uid) = about.and_then(|about| about.metadata.uid) {
            object["spec"]["releaseUid"] = uid.into();
        }
        if let Some(comment) = &self.comment {
            object["spec"]["comment"] = comment.as_str().into();
        }
        if let Some(end) = end {
            object["spec"]["expiresAt"] = end.to_string().into();
        }
        let made = self.cluster.create("approvals", &object).await;
        made.map_err(|error| self.cluster.failed(&error))?;
        Ok(())
    }

    /// Until when it counts, in whole seconds as the server keeps them.
    fn end(&self, now: Timestamp) -> Result<Option<Timestamp>, Failure> {
        let Some(expires) = self.expires else {
            return Ok(None);
        };
        let end = now
            .checked_add(expires)
            .and_then(|end| end.round(Unit::Second));
        end.map(Some)
            .map_err(|error| Failure::usage("nobody's word counts that long").because(&error))
    }

    /// Takes back what was said; tells whether there was anything.
    pub(crate) async fn withdraw(&self) -> Result<bool, Failure> {
        for said in &self.before {
            let path = self.cluster.path_of_ours("approvals", &said.name_any());
            let request = Request::delete(path)
                .body(Vec::new())
                .map_err(|error| self.cluster.failed(&kube::Error::HttpError(error)))?;
            match self.cluster.send(request).await {
                Ok(_) => {}
                Err(kube::Error::Api(status)) if status.code == 404 => {}
                Err(error) => return Err(self.cluster.failed(&error)),
            }
        }
        Ok(!self.before.is_empty())
    }

    /// Where the pipeline wants somebody else, who asked cannot agree: that is told before it is written.
    fn must_be_another(&self) -> Result<(), Failure> {
        let Some(binding) = asking(&self.scene, &self.environment, &self.release) else {
            return Ok(());
        };
        let mut steps = self.scene.steps_to(&self.environment);
        let needs_other = steps.any(|step| step.needs_other_approver);
        if needs_other && asked_by(binding) == Some(&self.by) {
            return Err(Failure::new(format!(
                "you asked for {} in {}: somebody else has to agree",
                self.release, self.environment
            ))
            .saying(format!("you are {}", self.by))
            .next(format!(
                "They type: quad approve {} --env {}",
                self.scene.name(),
                self.environment
            )));
        }
        Ok(())
    }
}

/// What asks for a release in an environment.
fn asking<'a>(
    scene: &'a Scene,
    environment: &EnvironmentName,
    release: &str,
) -> Option<&'a ReleaseBinding> {
    let mut all = scene.bindings_in(environment);
    all.find(|binding| binding.spec.release_name.as_deref() == Some(release))
}

/// Who asked for the release of a binding.
pub(crate) fn asked_by(binding: &ReleaseBinding) -> Option<&str> {
    let notes = binding.metadata.annotations.as_ref()?;
    notes.get(annotations::REQUESTED_BY).map(String::as_str)
}

impl Word {
    /// Takes back what was said, and says so.
    pub(crate) async fn taken_back(&self, output: Output) -> Result<(), Failure> {
        let (release, environment) = (&self.release, &self.environment);
        if !self.withdraw().await? {
            return Err(
                Failure::new(format!("you said nothing about {release} in {environment}"))
                    .saying(format!("you are {}", self.by))
                    .next("See what was said: quad get approvals"),
            );
        }
        let words = format!("what you said about {release} in {environment} is taken back");
        output::tell(output, &words, &self.facts("withdrawn"))
    }

    /// The word for scripts.
    pub(crate) fn facts(&self, result: &str) -> Value {
        json!({
            "component": self.scene.name(),
            "project": self.scene.project(),
            "environment": self.environment,
            "release": self.release,
            "by": self.by,
            "result": result,
        })
    }
}
