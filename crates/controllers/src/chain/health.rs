//! How what runs of a component is doing, by what kind of thing it is.

use quadrille_types::{
    conditions::{ConditionType, Holds, Reason},
    release::{Health, ObjectStatus},
};

use crate::releases::Facts;

/// A verdict over a Release.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) holds: Holds,
    pub(crate) reason: Reason,
    pub(crate) words: String,
}

impl Verdict {
    fn new(holds: Holds, reason: Reason, words: impl Into<String>) -> Self {
        Self {
            holds,
            reason,
            words: words.into(),
        }
    }
}

/// The kind of the object that a type is about.
fn primary(workload_type: &str) -> Option<&'static str> {
    match workload_type {
        "deployment" => Some("Deployment"),
        "statefulset" => Some("StatefulSet"),
        "cronjob" => Some("CronJob"),
        "job" => Some("Job"),
        _ => None,
    }
}

/// Judges a Release for a component of a type.
pub(crate) fn judge(facts: &Facts, workload_type: &str) -> Verdict {
    let said = &facts.said;
    if said.observed_generation != Some(facts.generation) {
        return Verdict::new(
            Holds::False,
            Reason::ResourcesProgressing,
            "the objects are being applied",
        );
    }
    if let Some(applied) = said.find(ConditionType::ResourcesApplied)
        && !applied.is_true()
    {
        let is_told = |reason: Reason| *applied.reason == *reason.as_str();
        let reason = if is_told(Reason::ApplyFailed) || is_told(Reason::OwnershipConflict) {
            Reason::ResourceApplyFailed
        } else {
            Reason::ResourcesProgressing
        };
        return Verdict::new(Holds::False, reason, &*applied.message);
    }
    let objects = facts.status().resources;
    if objects.is_empty() {
        return Verdict::new(
            Holds::False,
            Reason::ResourcesProgressing,
            "nothing is in the plane yet",
        );
    }
    of_objects(&objects, workload_type)
}

fn of_objects(objects: &[ObjectStatus], workload_type: &str) -> Verdict {
    let Some(kind) = primary(workload_type) else {
        return all(objects);
    };
    let Some(main) = objects.iter().find(|one| one.kind == kind) else {
        return Verdict::new(
            Holds::False,
            Reason::ResourcesProgressing,
            format!("the {kind} is not there yet"),
        );
    };
    let health = main.health_status.unwrap_or(Health::Unknown);
    let words = said(main);
    match (workload_type, health) {
        ("cronjob", Health::Suspended) => {
            Verdict::new(Holds::True, Reason::CronJobSuspended, words)
        }
        ("cronjob", Health::Progressing | Health::Healthy) => {
            Verdict::new(Holds::True, Reason::CronJobScheduled, words)
        }
        ("job", Health::Healthy) => Verdict::new(Holds::True, Reason::JobCompleted, words),
        ("job", Health::Progressing | Health::Suspended) => {
            Verdict::new(Holds::False, Reason::JobRunning, words)
        }
        ("job", Health::Degraded) => Verdict::new(Holds::False, Reason::JobFailed, words),
        (_, Health::Degraded) => Verdict::new(Holds::False, Reason::ResourcesDegraded, words),
        (_, Health::Progressing) => Verdict::new(Holds::False, Reason::ResourcesProgressing, words),
        (_, Health::Unknown) => Verdict::new(Holds::Unknown, Reason::ResourcesUnknown, words),
        (_, Health::Suspended) => {
            Verdict::new(Holds::True, Reason::ReadyWithSuspendedResources, words)
        }
        (_, Health::Healthy) => all(objects),
    }
}

/// The worst of all. A route that its gateway has not accepted yet leads nowhere, however well the pods are.
fn all(objects: &[ObjectStatus]) -> Verdict {
    let worst = [Health::Degraded, Health::Progressing, Health::Unknown];
    let found = worst.iter().find_map(|health| {
        let mut all = objects.iter();
        all.find(|one| one.health_status.unwrap_or(Health::Unknown) == *health)
    });
    let Some(one) = found else {
        let words = format!("{} objects are doing well", objects.len());
        return Verdict::new(Holds::True, Reason::Ready, words);
    };
    let (holds, reason) = match one.health_status {
        Some(Health::Degraded) => (Holds::False, Reason::ResourcesDegraded),
        Some(Health::Progressing) => (Holds::False, Reason::ResourcesProgressing),
        _ => (Holds::Unknown, Reason::ResourcesUnknown),
    };
    Verdict::new(holds, reason, said(one))
}

fn said(object: &ObjectStatus) -> String {
    let ObjectStatus { kind, name, .. } = object;
    match &object.health_message {
        Some(message) => format!("{kind} {name}: {message}"),
        None => {
            let health = object.health_status.unwrap_or(Health::Unknown);
            format!("{kind} {name} is {health:?}")
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(kind: &str, health: &str) -> ObjectStatus {
        serde_json::from_value(json!({
            "id": kind, "version": "v1", "kind": kind, "name": "x", "healthStatus": health,
        }))
        .unwrap()
    }

    #[test]
    fn what_counts_depends_on_what_runs() {
        let cases = [
            (
                "deployment",
                "Deployment",
                "Healthy",
                Holds::True,
                Reason::Ready,
            ),
            (
                "deployment",
                "Deployment",
                "Degraded",
                Holds::False,
                Reason::ResourcesDegraded,
            ),
            (
                "deployment",
                "Deployment",
                "Suspended",
                Holds::True,
                Reason::ReadyWithSuspendedResources,
            ),
            (
                "deployment",
                "Service",
                "Healthy",
                Holds::False,
                Reason::ResourcesProgressing,
            ),
            (
                "statefulset",
                "StatefulSet",
                "Unknown",
                Holds::Unknown,
                Reason::ResourcesUnknown,
            ),
            (
                "cronjob",
                "CronJob",
                "Progressing",
                Holds::True,
                Reason::CronJobScheduled,
            ),
            (
                "cronjob",
                "CronJob",
                "Suspended",
                Holds::True,
                Reason::CronJobSuspended,
            ),
            ("job", "Job", "Healthy", Holds::True, Reason::JobCompleted),
            (
                "job",
                "Job",
                "Progressing",
                Holds::False,
                Reason::JobRunning,
            ),
            ("job", "Job", "Degraded", Holds::False, Reason::JobFailed),
            ("proxy", "HTTPRoute", "Healthy", Holds::True, Reason::Ready),
            (
                "proxy",
                "HTTPRoute",
                "Progressing",
                Holds::False,
                Reason::ResourcesProgressing,
            ),
        ];
        for (workload_type, kind, health, holds, reason) in cases {
            let verdict = of_objects(&[object(kind, health)], workload_type);
            assert_eq!(
                (verdict.holds, verdict.reason),
                (holds, reason),
                "{workload_type} {health}"
            );
        }
        let routed = [
            object("Deployment", "Healthy"),
            object("HTTPRoute", "Degraded"),
        ];
        assert_eq!(
            of_objects(&routed, "deployment").reason,
            Reason::ResourcesDegraded
        );
    }
}
