//! Workloads that keep pods running: what they say of themselves before their pods are looked at.

use std::time::Duration;

use serde_json::Value;

use super::{
    cause,
    live::{Conditions, not_observed, number, text, unobserved},
    selector::PodSelector,
    verdict::{PATIENCE, Verdict},
};

/// A Deployment. Pausing stops a rollout on purpose, but hides no trouble of the pods that run.
pub(super) fn deployment(object: &Value) -> Verdict {
    if let Some(verdict) = unobserved(object) {
        return verdict;
    }
    let (spec, status) = (&object["spec"], &object["status"]);
    let desired = replicas(spec);
    let available = number(&status["availableReplicas"]);
    if spec["paused"] == true {
        let paused = Verdict::suspended("Paused", "its rollout is paused");
        let pods = PodSelector::of(object).filter(|_| available < desired);
        return paused.judged_by(pods);
    }
    if desired == 0 {
        return none_wanted(status);
    }
    if let Some(verdict) = refused(object) {
        return verdict;
    }
    let updated = number(&status["updatedReplicas"]);
    let total = number(&status["replicas"]);
    let former = total.saturating_sub(updated);
    let missing = if updated < desired {
        format!("{updated} of {desired} replicas are updated")
    } else if former > 0 {
        format!("replicas left of a former revision: {former}")
    } else if available < desired {
        format!("{available} of {desired} replicas are available")
    } else if total > desired {
        format!("replicas there: {total}, wanted: {desired}")
    } else {
        return Verdict::healthy();
    };
    let stuck = Conditions::of(object).denies("Progressing");
    let verdict = if stuck.is_some_and(|stuck| stuck.reason == "ProgressDeadlineExceeded") {
        Verdict::degraded("ProgressDeadlineExceeded", &missing)
    } else {
        Verdict::progressing("Rollout", &missing).within(rollout_deadline(spec))
    };
    verdict.judged_by(PodSelector::of(object))
}

/// A `StatefulSet`. Replicas below the partition, and all of them with `OnDelete`, may stay at a former
/// revision for ever.
pub(super) fn stateful_set(object: &Value) -> Verdict {
    if let Some(verdict) = unobserved(object) {
        return verdict;
    }
    let (spec, status) = (&object["spec"], &object["status"]);
    let desired = replicas(spec);
    if desired == 0 {
        return none_wanted(status);
    }
    let renewed = if renews_by_itself(object) {
        let beyond = number(&spec["ordinals"]["start"]).saturating_add(desired);
        beyond.saturating_sub(partition(object)).min(desired).max(0)
    } else {
        0
    };
    let updated = number(&status["updatedReplicas"]);
    // Servers of before minReadySeconds count the ready ones only.
    let available = status["availableReplicas"]
        .as_i64()
        .unwrap_or_else(|| number(&status["readyReplicas"]));
    let total = number(&status["replicas"]);
    let missing = if updated < renewed {
        format!("{updated} of {renewed} replicas are updated")
    } else if available < desired {
        format!("{available} of {desired} replicas are available")
    } else if total > desired {
        format!("replicas there: {total}, wanted: {desired}")
    } else {
        return Verdict::healthy();
    };
    on_the_way(object, &missing)
}

/// A `DaemonSet`; on no node at all it has nothing to do and is well.
pub(super) fn daemon_set(object: &Value) -> Verdict {
    if let Some(verdict) = unobserved(object) {
        return verdict;
    }
    let status = &object["status"];
    let Some(desired) = status["desiredNumberScheduled"].as_i64() else {
        return not_observed();
    };
    let updated = number(&status["updatedNumberScheduled"]);
    let available = number(&status["numberAvailable"]);
    let missing = if renews_by_itself(object) && updated < desired {
        format!("{updated} of {desired} nodes are updated")
    } else if available < desired {
        format!("{available} of {desired} nodes have an available pod")
    } else {
        return Verdict::healthy();
    };
    on_the_way(object, &missing)
}

/// A `ReplicaSet` of its own.
pub(super) fn replica_set(object: &Value) -> Verdict {
    if let Some(verdict) = unobserved(object) {
        return verdict;
    }
    let (spec, status) = (&object["spec"], &object["status"]);
    let desired = replicas(spec);
    if desired == 0 {
        return none_wanted(status);
    }
    if let Some(verdict) = refused(object) {
        return verdict;
    }
    let available = number(&status["availableReplicas"]);
    let total = number(&status["replicas"]);
    let missing = if available < desired {
        format!("{available} of {desired} replicas are available")
    } else if total > desired {
        format!("replicas there: {total}, wanted: {desired}")
    } else {
        return Verdict::healthy();
    };
    on_the_way(object, &missing)
}

/// Whether pods of a former revision are replaced without a person deleting them.
pub(super) fn renews_by_itself(object: &Value) -> bool {
    text(&object["spec"]["updateStrategy"]["type"]) != "OnDelete"
}

/// The ordinal below which a `StatefulSet` leaves its pods at the former revision.
pub(super) fn partition(object: &Value) -> i64 {
    number(&object["spec"]["updateStrategy"]["rollingUpdate"]["partition"])
}

/// How many replicas are asked for: one where nothing is said, as while an autoscaler has the say.
fn replicas(spec: &Value) -> i64 {
    spec["replicas"].as_i64().unwrap_or(1)
}

fn none_wanted(status: &Value) -> Verdict {
    match number(&status["replicas"]) {
        0 => Verdict::suspended("ScaledToZero", "it is scaled to zero"),
        left => Verdict::progressing("Rollout", &format!("replicas left: {left}")),
    }
}

/// The verdict where the API refuses to make the pods, as over a quota.
fn refused(object: &Value) -> Option<Verdict> {
    let failure = Conditions::of(object).holds("ReplicaFailure")?;
    let message = cause::refusal(failure.message);
    let reason = match failure.reason {
        "" => "ReplicaFailure".to_owned(),
        word => word.to_owned(),
    };
    Some(Verdict::degraded(reason, &message))
}

fn on_the_way(object: &Value, missing: &str) -> Verdict {
    let rest = object["spec"]["minReadySeconds"].as_u64().unwrap_or(0);
    let deadline = PATIENCE.saturating_add(Duration::from_secs(rest));
    Verdict::progressing("Rollout", missing)
        .within(Some(deadline))
        .judged_by(PodSelector::of(object))
}

/// A Deployment reports a stuck rollout itself; waiting longer than it does leaves it the first word.
/// The largest deadline there is means none.
fn rollout_deadline(spec: &Value) -> Option<Duration> {
    const NEVER: u64 = i32::MAX as u64;
    match spec["progressDeadlineSeconds"].as_u64() {
        None => Some(PATIENCE),
        Some(NEVER..) => None,
        Some(seconds) => Some(PATIENCE.max(Duration::from_secs(seconds))),
    }
}

#[cfg(test)]
mod tests;
