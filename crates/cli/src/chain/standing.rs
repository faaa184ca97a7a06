//! How a component is doing in an environment, out of what its binding says about itself.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use quadrille_types::{
    ReleaseBinding,
    conditions::{self, ConditionType, Reason},
    release_binding::Ran,
};

/// How what is asked for is going.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It runs and is ready.
    Ready,
    /// It is on its way; what is waited for.
    Progressing(String),
    /// Somebody has to agree first.
    NeedsApproval(String),
    /// It is not let in.
    Refused(String),
    /// It is in trouble.
    Degraded(String),
    /// It was taken away, as asked.
    Undeployed,
    /// It was stopped, as asked.
    Suspended,
    /// Nothing is asked for: there are only settings that wait for a release.
    Unasked,
}

/// What runs, whatever is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Running<'a> {
    pub(crate) release: &'a str,
    pub(crate) health: Health,
    /// Why, where it is not ready.
    pub(crate) words: &'a str,
}

/// How what runs is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Health {
    Ready,
    Progressing,
    Degraded,
}

impl Health {
    /// Its word.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Ready => "Ready",
            Self::Progressing => "Progressing",
            Self::Degraded => "Degraded",
        }
    }
}

/// Reasons that pass by themselves, or once something else is there.
const UNDER_WAY: [Reason; 12] = [
    Reason::DeploymentProgressing,
    Reason::EndpointProgressing,
    Reason::ResourceHealthProgressing,
    Reason::ResourcesProgressing,
    Reason::ResourcesUnknown,
    Reason::JobRunning,
    Reason::ReleaseCreated,
    Reason::ReleaseSynced,
    Reason::ConnectionsPending,
    Reason::ResourceDependenciesPending,
    Reason::CleanupInProgress,
    Reason::Finalizing,
];

impl Standing {
    /// What a binding says about what is asked for.
    pub(crate) fn of(binding: &ReleaseBinding) -> Self {
        if binding.metadata.deletion_timestamp.is_some() {
            return Self::Progressing("it is being deleted".to_owned());
        }
        if binding.spec.is_undeployed() {
            return Self::Undeployed;
        }
        if binding.spec.release_name.is_none() {
            return Self::Unasked;
        }
        let Some(ready) = condition(binding, ConditionType::Ready) else {
            return Self::Progressing("nobody has looked at it yet".to_owned());
        };
        if is_stale(binding, ready) {
            return Self::Progressing("its last change was not looked at yet".to_owned());
        }
        if let Some(held) = held(binding) {
            let words = held.message.clone();
            return if held.reason == Reason::ApprovalRequired.as_str() {
                Self::NeedsApproval(words)
            } else {
                Self::Refused(words)
            };
        }
        if ready.reason == Reason::ResourcesSuspended.as_str() {
            return Self::Suspended;
        }
        match health(ready) {
            Health::Ready => Self::Ready,
            Health::Progressing => Self::Progressing(ready.message.clone()),
            Health::Degraded => Self::Degraded(ready.message.clone()),
        }
    }
}

/// What runs; nothing where nothing does.
pub(crate) fn running(binding: &ReleaseBinding) -> Option<Running<'_>> {
    let status = binding.status.as_ref()?;
    if binding.spec.is_undeployed() {
        return None;
    }
    let release = status.current_release.as_deref()?;
    // While something else is asked for, that is what Ready is about.
    let is_asked_for = binding.spec.release_name.as_deref() == Some(release);
    let matter = if held(binding).is_some() || !is_asked_for {
        ConditionType::ResourcesReady
    } else {
        ConditionType::Ready
    };
    let told = condition(binding, matter);
    Some(Running {
        release,
        health: told.map_or(Health::Progressing, health),
        words: told.map_or("", |told| match health(told) {
            Health::Ready => "",
            _ => told.message.as_str(),
        }),
    })
}

/// Why what is asked for is not let in, if so.
pub(crate) fn held(binding: &ReleaseBinding) -> Option<&Condition> {
    let admitted = condition(binding, ConditionType::Admitted)?;
    (admitted.status == "False").then_some(admitted)
}

/// Whether nobody has looked at its last change yet.
pub(crate) fn is_unseen(binding: &ReleaseBinding) -> bool {
    let ready = condition(binding, ConditionType::Ready);
    ready.is_none_or(|ready| is_stale(binding, ready))
}

/// Whether what is asked for waits for somebody's word.
pub(crate) fn waits(binding: &ReleaseBinding) -> bool {
    let words = [Reason::ApprovalRequired, Reason::ApprovalRejected].map(Reason::as_str);
    let held = held(binding).is_some_and(|held| words.contains(&held.reason.as_str()));
    held && !binding.spec.is_undeployed()
}

/// What ran when, the newest first.
pub(crate) fn history(binding: &ReleaseBinding) -> &[Ran] {
    binding
        .status
        .as_ref()
        .map_or(&[], |status| status.history.as_slice())
}

/// Whether a release has ever been ready there.
pub(crate) fn was_ready(binding: &ReleaseBinding, release: &str) -> bool {
    let mut ran = history(binding).iter();
    ran.any(|ran| ran.release_name == release && ran.ready_at.is_some())
        || running(binding)
            .is_some_and(|runs| runs.release == release && runs.health == Health::Ready)
}

/// What a binding says about one matter.
pub(crate) fn condition(binding: &ReleaseBinding, matter: ConditionType) -> Option<&Condition> {
    conditions::find(&binding.status.as_ref()?.conditions, matter)
}

fn is_stale(binding: &ReleaseBinding, told: &Condition) -> bool {
    let generation = binding.metadata.generation;
    told.observed_generation.is_some() && told.observed_generation != generation
}

fn health(told: &Condition) -> Health {
    if told.status == "True" {
        Health::Ready
    } else if UNDER_WAY.iter().any(|known| known.as_str() == told.reason) {
        Health::Progressing
    } else {
        Health::Degraded
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{
        super::scene::tests::{binding, condition, ready},
        *,
    };

    #[test]
    fn what_is_asked_for_stands_as_its_conditions_say() {
        let well = ready("staging", "cart-1");
        assert_eq!(Standing::of(&well), Standing::Ready);
        assert!(!is_unseen(&well));
        let with = |conditions| {
            Standing::of(&binding(
                "staging",
                "cart-2",
                &json!({ "currentRelease": "cart-1", "conditions": conditions }),
            ))
        };
        let progressing = json!([condition("Ready", "False", "ResourcesProgressing", "1/2")]);
        assert_eq!(with(progressing), Standing::Progressing("1/2".to_owned()));
        let degraded = json!([condition("Ready", "False", "RenderingFailed", "no")]);
        assert_eq!(with(degraded), Standing::Degraded("no".to_owned()));
        let stopped = json!([condition("Ready", "False", "ResourcesSuspended", "")]);
        assert_eq!(with(stopped), Standing::Suspended);
        let held = |reason| {
            json!([
                condition("Ready", "False", reason, "held"),
                condition("Admitted", "False", reason, "held")
            ])
        };
        assert_eq!(
            with(held("ApprovalRequired")),
            Standing::NeedsApproval("held".to_owned())
        );
        assert_eq!(
            with(held("ApprovalRejected")),
            Standing::Refused("held".to_owned())
        );
    }

    #[test]
    fn what_was_said_before_the_last_change_does_not_count() {
        let mut changed = ready("staging", "cart-1");
        changed.metadata.generation = Some(4);
        assert!(matches!(Standing::of(&changed), Standing::Progressing(_)));
        assert!(is_unseen(&changed));
        changed.status = None;
        assert!(matches!(Standing::of(&changed), Standing::Progressing(_)));
        assert!(is_unseen(&changed));
    }

    #[test]
    fn what_runs_is_told_apart_from_what_is_asked_for() {
        let status = json!({ "currentRelease": "cart-1", "conditions": [
            condition("Ready", "False", "ApprovalRequired", "somebody has to agree"),
            condition("Admitted", "False", "ApprovalRequired", "somebody has to agree"),
            condition("ResourcesReady", "True", "Ready", ""),
        ] });
        let binding = binding("production", "cart-2", &status);
        let runs = running(&binding).unwrap();
        assert_eq!((runs.release, runs.health), ("cart-1", Health::Ready));
        let mut undeployed = ready("production", "cart-1");
        assert!(was_ready(&undeployed, "cart-1"));
        assert!(!was_ready(&undeployed, "cart-2"));
        undeployed.spec.state = Some("Undeploy".to_owned());
        assert_eq!(running(&undeployed), None);
        assert_eq!(Standing::of(&undeployed), Standing::Undeployed);
    }
}
