//! What a Deployment says of itself. Pure.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::rollout::Wanted;
use crate::read::{self, int, text, time};

const PROGRESSING: &str = "Progressing";
const NEW_AVAILABLE: &str = "NewReplicaSetAvailable";
const TIMED_OUT: &str = "ProgressDeadlineExceeded";

/// The deadline for progress, if there is one.
pub(super) fn deadline(deployment: &Value) -> Option<i64> {
    deployment["spec"]["progressDeadlineSeconds"]
        .as_i64()
        .filter(|seconds| *seconds != i64::from(i32::MAX))
}

/// Sets what is said about progress.
pub(super) fn set_progress(
    status: &mut Value,
    truth: &str,
    reason: &str,
    message: &str,
    now: Timestamp,
) {
    let mut conditions = read::conditions(status);
    let words = (PROGRESSING, truth, reason, message);
    read::set_condition(&mut conditions, words, now, true);
    status["conditions"] = Value::Array(conditions);
}

/// The status while a pause begins or ends, if it does.
pub(super) fn paused(deployment: &Value, now: Timestamp) -> Option<Value> {
    deadline(deployment)?;
    let known = read::condition(&deployment["status"], PROGRESSING);
    let reason = known.map_or("", |condition| text(&condition["reason"]));
    let is_paused = read::is_true(&deployment["spec"]["paused"]);
    let (reason, message) = match (is_paused, reason) {
        (_, TIMED_OUT) => return None,
        (true, reason) if reason != "DeploymentPaused" => {
            ("DeploymentPaused", "Deployment is paused")
        }
        (false, "DeploymentPaused") => ("DeploymentResumed", "Deployment is resumed"),
        _ => return None,
    };
    let mut status = deployment["status"].clone();
    set_progress(&mut status, "Unknown", reason, message, now);
    Some(status)
}

/// The numbers, and whether enough is available.
pub(super) fn numbers(
    deployment: &Value,
    new: Option<&Value>,
    old: &[&Value],
    now: Timestamp,
) -> Value {
    let wanted = Wanted::of(deployment);
    let sum = |field: &str| -> i64 {
        old.iter()
            .copied()
            .chain(new)
            .map(|set| int(&set["status"][field]))
            .sum()
    };
    let total: i64 = old.iter().copied().chain(new).map(read::replicas).sum();
    let available = sum("availableReplicas");
    let mut status = json!({ "observedGeneration": deployment["metadata"]["generation"] });
    let mut count = |field: &str, number: i64| {
        if number > 0 {
            status[field] = json!(number);
        }
    };
    count("replicas", sum("replicas"));
    count(
        "updatedReplicas",
        new.map_or(0, |set| int(&set["status"]["replicas"])),
    );
    count("readyReplicas", sum("readyReplicas"));
    count("availableReplicas", available);
    count("unavailableReplicas", total - available);
    let is_known = |set: &&Value| set["status"]["terminatingReplicas"].is_i64();
    if old.iter().all(is_known) && new.iter().all(is_known) {
        status["terminatingReplicas"] = json!(sum("terminatingReplicas"));
    }
    let collisions = &deployment["status"]["collisionCount"];
    if !collisions.is_null() {
        status["collisionCount"] = collisions.clone();
    }
    let mut conditions = read::conditions(&deployment["status"]);
    let words = if available >= wanted.replicas - wanted.unavailable {
        (
            "Available",
            "True",
            "MinimumReplicasAvailable",
            "Deployment has minimum availability.",
        )
    } else {
        (
            "Available",
            "False",
            "MinimumReplicasUnavailable",
            "Deployment does not have minimum availability.",
        )
    };
    read::set_condition(&mut conditions, words, now, true);
    status["conditions"] = Value::Array(conditions);
    status
}

/// The numbers, and how the rollout goes.
pub(super) fn rollout(
    deployment: &Value,
    new: Option<&Value>,
    old: &[&Value],
    now: Timestamp,
) -> Value {
    let mut status = numbers(deployment, new, old, now);
    let before = &deployment["status"];
    let known = read::condition(before, PROGRESSING);
    match deadline(deployment) {
        None => drop_condition(&mut status, PROGRESSING),
        Some(seconds) => {
            let is_settled = int(&status["replicas"]) == int(&status["updatedReplicas"])
                && known.is_some_and(|condition| condition["reason"] == NEW_AVAILABLE);
            if !is_settled {
                progress(deployment, new, &mut status, seconds, now);
            }
        }
    }
    let failure = new
        .into_iter()
        .chain(old.iter().copied())
        .find_map(|set| read::condition(&set["status"], "ReplicaFailure"));
    match failure {
        Some(failure) => {
            let mut conditions = read::conditions(&status);
            let words = (
                "ReplicaFailure",
                text(&failure["status"]),
                text(&failure["reason"]),
                text(&failure["message"]),
            );
            read::set_condition(&mut conditions, words, now, true);
            status["conditions"] = Value::Array(conditions);
        }
        None => drop_condition(&mut status, "ReplicaFailure"),
    }
    status
}

fn progress(
    deployment: &Value,
    new: Option<&Value>,
    status: &mut Value,
    deadline: i64,
    now: Timestamp,
) {
    let before = &deployment["status"];
    let subject = match new {
        Some(set) => format!("ReplicaSet {:?}", read::name(set)),
        None => format!("Deployment {:?}", read::name(deployment)),
    };
    if is_complete(deployment, status) {
        let message = format!("{subject} has successfully progressed.");
        set_progress(status, "True", NEW_AVAILABLE, &message, now);
    } else if has_progressed(before, status) {
        let message = format!("{subject} is progressing.");
        let since = read::condition(before, PROGRESSING)
            .filter(|condition| condition["status"] == "True")
            .map(|condition| condition["lastTransitionTime"].clone());
        // Said anew each time, since the deadline counts from the last progress.
        drop_condition(status, PROGRESSING);
        set_progress(status, "True", "ReplicaSetUpdated", &message, now);
        if let (Some(since), Some(last)) = (
            since,
            status["conditions"]
                .as_array_mut()
                .and_then(|list| list.last_mut()),
        ) {
            last["lastTransitionTime"] = since;
        }
    } else if has_timed_out(status, deadline, now) {
        let message = format!("{subject} has timed out progressing.");
        set_progress(status, "False", TIMED_OUT, &message, now);
    }
}

/// Whether all pods are new and available.
pub(super) fn is_complete(deployment: &Value, status: &Value) -> bool {
    let replicas = read::replicas(deployment);
    ["updatedReplicas", "replicas", "availableReplicas"]
        .iter()
        .all(|field| int(&status[*field]) == replicas)
        && int(&status["observedGeneration"]) >= int(&deployment["metadata"]["generation"])
}

fn has_progressed(before: &Value, after: &Value) -> bool {
    let old = |status: &Value| int(&status["replicas"]) - int(&status["updatedReplicas"]);
    let grew = |field: &str| int(&after[field]) > int(&before[field]);
    grew("updatedReplicas")
        || old(after) < old(before)
        || grew("readyReplicas")
        || grew("availableReplicas")
}

fn has_timed_out(status: &Value, deadline: i64, now: Timestamp) -> bool {
    let Some(condition) = read::condition(status, PROGRESSING) else {
        return false;
    };
    match text(&condition["reason"]) {
        NEW_AVAILABLE => false,
        TIMED_OUT => true,
        _ => time(&condition["lastUpdateTime"])
            .is_some_and(|since| since.as_millisecond() + deadline * 1000 < now.as_millisecond()),
    }
}

/// When to look again whether the rollout is stuck.
pub(super) fn check_at(deployment: &Value) -> Option<Timestamp> {
    let seconds = deadline(deployment)?;
    let condition = read::condition(&deployment["status"], PROGRESSING)?;
    if is_complete(deployment, &deployment["status"]) || condition["reason"] == TIMED_OUT {
        return None;
    }
    let since = time(&condition["lastUpdateTime"])?;
    // Times are whole seconds: a second more, so as not to be early.
    Timestamp::from_second(since.as_second() + seconds + 1).ok()
}

fn drop_condition(status: &mut Value, kind: &str) {
    if let Some(conditions) = status["conditions"].as_array_mut() {
        conditions.retain(|condition| condition["type"] != kind);
    }
}

/// The status with the news that a set was made or found.
pub(super) fn with_set(
    deployment: &Value,
    name: &str,
    is_made: bool,
    now: Timestamp,
) -> Option<Value> {
    deadline(deployment)?;
    if !is_made && read::condition(&deployment["status"], PROGRESSING).is_some() {
        return None;
    }
    let mut status = deployment["status"].clone();
    let (reason, message) = if is_made {
        (
            "NewReplicaSetCreated",
            format!("Created new replica set {name:?}"),
        )
    } else {
        (
            "FoundNewReplicaSet",
            format!("Found new replica set {name:?}"),
        )
    };
    set_progress(&mut status, "True", reason, &message, now);
    Some(status)
}

#[cfg(test)]
mod tests;
