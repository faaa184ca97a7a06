//! What controllers may report: counts that can be true.

use serde_json::{Value, json};

use super::report::Report;

/// The counts of a kind's status, in the order in which they are checked.
fn counts(kind: &str) -> &'static [&'static str] {
    match kind {
        "Deployment" => &[
            "observedGeneration",
            "replicas",
            "updatedReplicas",
            "readyReplicas",
            "availableReplicas",
            "unavailableReplicas",
            "terminatingReplicas",
            "collisionCount",
        ],
        "ReplicaSet" | "ReplicationController" => &[
            "replicas",
            "fullyLabeledReplicas",
            "readyReplicas",
            "availableReplicas",
            "observedGeneration",
            "terminatingReplicas",
        ],
        "StatefulSet" => &[
            "replicas",
            "readyReplicas",
            "currentReplicas",
            "updatedReplicas",
            "availableReplicas",
            "observedGeneration",
            "collisionCount",
        ],
        "DaemonSet" => &[
            "currentNumberScheduled",
            "numberMisscheduled",
            "desiredNumberScheduled",
            "numberReady",
            "observedGeneration",
            "updatedNumberScheduled",
            "numberAvailable",
            "numberUnavailable",
            "collisionCount",
        ],
        "PodDisruptionBudget" => &[
            "disruptionsAllowed",
            "currentHealthy",
            "desiredHealthy",
            "expectedPods",
        ],
        _ => &[],
    }
}

/// Counts that are a part of all replicas.
fn parts(kind: &str) -> &'static [&'static str] {
    match kind {
        "Deployment" => &["updatedReplicas", "readyReplicas", "availableReplicas"],
        "ReplicaSet" | "ReplicationController" => {
            &["fullyLabeledReplicas", "readyReplicas", "availableReplicas"]
        }
        "StatefulSet" => &[
            "readyReplicas",
            "currentReplicas",
            "updatedReplicas",
            "availableReplicas",
        ],
        _ => &[],
    }
}

/// Checks a status against itself and against what it was.
pub(super) fn check(report: &mut Report, kind: &str, new: &Value, old: &Value) {
    let number = |status: &Value, field: &str| status[field].as_i64().unwrap_or(0);
    let status = &new["status"];
    for field in counts(kind) {
        report.not_negative(format!("status.{field}"), &status[*field]);
    }
    let mut too_many = |field: &str, most: &str, words: &str| {
        if number(status, field) > number(status, most) {
            let why = format!("cannot be greater than {words}");
            let path = format!("status.{field}");
            report.invalid(path, &json!(number(status, field)), &why);
        }
    };
    for field in parts(kind) {
        too_many(field, "replicas", "status.replicas");
    }
    if !parts(kind).is_empty() {
        let words = match kind {
            "StatefulSet" => "status.readyReplicas",
            _ => "readyReplicas",
        };
        too_many("availableReplicas", "readyReplicas", words);
    }
    let collisions = |object: &Value| object["status"]["collisionCount"].as_i64();
    let decremented = match (collisions(new), collisions(old)) {
        (now, Some(before)) => now.is_none_or(|now| now < before),
        (_, None) => false,
    };
    if counts(kind).contains(&"collisionCount") && decremented {
        let collisions = collisions(new).unwrap_or(0);
        let why = "cannot be decremented";
        report.invalid("status.collisionCount", &json!(collisions), why);
    }
}
