//! A component in one environment, as it is shown.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use quadrille_types::{ReleaseBinding, names::EnvironmentName};
use serde_json::{Value, json};

use crate::{
    chain::{
        approval::asked_by,
        decide::after_colon,
        standing::{Health, Standing, history, running},
        urls,
    },
    fields,
};

/// A component in one environment.
#[derive(Clone, Debug)]
pub(super) struct Stage {
    pub(super) environment: EnvironmentName,
    /// What runs.
    pub(super) release: Option<String>,
    /// What is asked for, where that is something else.
    pub(super) asked: Option<String>,
    pub(super) health: &'static str,
    /// How many objects are healthy, of how many.
    pub(super) healthy: Option<String>,
    pub(super) since: Option<Time>,
    /// What is pending, and why.
    pub(super) notes: Vec<String>,
    pub(super) urls: Vec<String>,
}

impl Stage {
    /// Nothing was ever there.
    pub(super) fn empty(environment: EnvironmentName) -> Self {
        Self {
            environment,
            release: None,
            asked: None,
            health: "Not deployed",
            healthy: None,
            since: None,
            notes: Vec::new(),
            urls: Vec::new(),
        }
    }

    /// What a binding says, if there is one, and the release that it became.
    pub(super) fn of(
        environment: &EnvironmentName,
        binding: Option<&ReleaseBinding>,
        rendered: Option<&Value>,
    ) -> Self {
        let Some(binding) = binding else {
            return Self::empty(environment.clone());
        };
        let runs = running(binding);
        let asked = binding.spec.release_name.clone();
        let standing = Standing::of(binding);
        let current = runs.as_ref().map(|runs| runs.release);
        let asked = asked.filter(|asked| Some(asked.as_str()) != current);
        let asked = asked.filter(|_| standing != Standing::Undeployed);
        let since = history(binding).first();
        let since = since.filter(|ran| Some(ran.release_name.as_str()) == current);
        Self {
            notes: notes(binding, asked.as_deref(), &standing),
            health: match (&standing, &runs) {
                (Standing::Undeployed, _) if rendered.is_some() => "Going",
                (Standing::Undeployed, _) => "Undeployed",
                (Standing::Suspended, _) => "Suspended",
                (Standing::Progressing(_), Some(runs)) if runs.health == Health::Ready => {
                    Health::Progressing.as_str()
                }
                (_, Some(runs)) => runs.health.as_str(),
                (Standing::Degraded(_), None) => Health::Degraded.as_str(),
                (Standing::Progressing(_), None) => Health::Progressing.as_str(),
                (_, None) => "Not deployed",
            },
            healthy: rendered
                .map(|release| fields::text(&release["status"], "healthy").to_owned())
                .filter(|healthy| !healthy.is_empty()),
            since: since.and_then(|ran| ran.since.clone()),
            release: runs.map(|runs| runs.release.to_owned()),
            asked,
            urls: if standing == Standing::Undeployed {
                Vec::new()
            } else {
                urls::of(binding)
            },
            environment: environment.clone(),
        }
    }

    /// Something else of the component is in the same environment: another of its tracks.
    pub(super) fn beside(&mut self, binding: &ReleaseBinding, other: Self) {
        let name = binding.metadata.name.as_deref().unwrap_or_default();
        let release = other.release.map(|release| format!(" {release}"));
        let release = release.unwrap_or_default();
        self.notes
            .push(format!("also {name}:{release} {}", other.health));
        let words = other.notes.iter();
        self.notes
            .extend(words.map(|words| format!("{name}: {words}")));
        self.urls.extend(other.urls);
    }

    /// The same for scripts.
    pub(super) fn facts(&self) -> Value {
        json!({
            "environment": self.environment,
            "release": self.release,
            "asked": self.asked,
            "health": self.health,
            "healthy": self.healthy,
            "since": self.since,
            "pending": self.notes,
            "urls": self.urls,
        })
    }
}

/// What is pending, and why.
fn notes(binding: &ReleaseBinding, asked: Option<&str>, standing: &Standing) -> Vec<String> {
    let what = asked.unwrap_or("it");
    let words = match standing {
        Standing::Ready | Standing::Undeployed | Standing::Suspended | Standing::Unasked => None,
        Standing::NeedsApproval(_) => {
            let by = asked_by(binding);
            let by = by.map_or(String::new(), |by| format!("; {by} asked for it"));
            Some(format!("{what} waits for an approval{by}"))
        }
        Standing::Refused(words) => Some(format!("{what} is not let in{}", after_colon(words))),
        Standing::Progressing(words) | Standing::Degraded(words) => match asked {
            Some(asked) => Some(format!("{asked}{}", after_colon(words))),
            None => Some(words.clone()).filter(|words| !words.is_empty()),
        },
    };
    let pending = binding.status.iter();
    let pending = pending.flat_map(|status| &status.pending_connections);
    let pending = pending.map(|pending| {
        format!(
            "waits for endpoint {} of {}/{}: {}",
            pending.endpoint, pending.project, pending.component, pending.reason
        )
    });
    let pending: Vec<String> = pending.collect();
    // What is pending one by one says more than that something is.
    let words =
        words.filter(|_| pending.is_empty() || !matches!(standing, Standing::Progressing(_)));
    words.into_iter().chain(pending).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::scene::tests::{binding, condition, ready};

    #[test]
    fn what_waits_is_told_beside_what_runs() {
        let status = json!({ "currentRelease": "cart-1", "conditions": [
            condition("Ready", "False", "ApprovalRequired", "m"),
            condition("Admitted", "False", "ApprovalRequired", "m"),
            condition("ResourcesReady", "True", "Ready", ""),
        ] });
        let mut waiting = binding("production", "cart-2", &status);
        let notes = [("openchoreo.dev/requested-by".to_owned(), "anna".to_owned())];
        waiting.metadata.annotations = Some(notes.into());
        let stage = Stage::of(&"production".into(), Some(&waiting), None);
        assert_eq!(stage.release.as_deref(), Some("cart-1"));
        assert_eq!(stage.asked.as_deref(), Some("cart-2"));
        assert_eq!(stage.health, "Ready");
        assert_eq!(
            stage.notes,
            ["cart-2 waits for an approval; anna asked for it"]
        );
    }

    #[test]
    fn pending_connections_are_named_one_by_one() {
        let status = json!({
            "currentRelease": "cart-1",
            "conditions": [condition("Ready", "False", "ConnectionsPending", "1 connection pending")],
            "pendingConnections": [{ "namespace": "default", "project": "shop", "component": "till", "endpoint": "http", "reason": "not deployed" }],
        });
        let stage = Stage::of(
            &"staging".into(),
            Some(&binding("staging", "cart-1", &status)),
            None,
        );
        assert_eq!(stage.health, "Progressing");
        assert_eq!(
            stage.notes,
            ["waits for endpoint http of shop/till: not deployed"]
        );
    }

    #[test]
    fn another_track_in_the_same_environment_is_told_beside() {
        let (one, mut other) = (ready("staging", "cart-1"), ready("staging", "cart-next-1"));
        other.metadata.name = Some("cart-next".to_owned());
        let mut stage = Stage::of(&"staging".into(), Some(&one), None);
        stage.beside(&other, Stage::of(&"staging".into(), Some(&other), None));
        assert_eq!(stage.notes, ["also cart-next: cart-next-1 Ready"]);
    }

    #[test]
    fn what_was_taken_away_is_going_until_it_is_gone() {
        let mut taken = ready("staging", "cart-1");
        taken.spec.state = Some("Undeploy".to_owned());
        let health =
            |rendered: Option<&Value>| Stage::of(&"staging".into(), Some(&taken), rendered).health;
        assert_eq!(health(Some(&json!({}))), "Going");
        assert_eq!(health(None), "Undeployed");
        assert_eq!(
            Stage::of(&"staging".into(), None, None).health,
            "Not deployed"
        );
    }
}
