//! ReplicaSets and ReplicationControllers: as many pods as asked for.

mod choose;

pub(crate) use self::choose::to_delete;

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    hands::{Hands, Outcome},
    kinds::Kind,
    pods::{self, BURST},
    queue::Task,
    read::{self, Place, int},
    seen::Pod,
};

/// Looks at a set: makes or ends pods, and writes how many there are.
pub(crate) async fn look(hands: &Hands, kind: Kind, place: &Place) -> Outcome {
    let Some(set) = hands.seen.get(kind, place) else {
        return Ok(());
    };
    let selector = read::selector(kind, &set);
    let all = pods::claim(hands, kind, &set, &selector).await?;
    let active: Vec<Arc<Pod>> = all.iter().filter(|pod| pod.is_active()).cloned().collect();
    let mut failure = None;
    let mut outcome = Ok(());
    if !read::is_deleting(&set) {
        let missing = read::replicas(&set) - i64::try_from(active.len()).unwrap_or(i64::MAX);
        if missing > 0 {
            let count = usize::try_from(missing).unwrap_or(0).min(BURST);
            let pod = pods::from_template(kind, &set, &set["spec"]["template"]);
            let made = pods::create(hands, &vec![pod; count]).await;
            if let Some(trouble) = made
                .trouble
                .filter(|trouble| !pods::is_terminating(trouble))
            {
                failure = Some(trouble.to_string());
                outcome = Err(trouble);
            }
        } else if missing < 0 {
            let count = usize::try_from(-missing).unwrap_or(0).min(BURST);
            outcome = pods::delete(hands, &to_delete(&active, count)).await;
        }
    }
    // The set's own answers are seen: what was just made or ended is counted by the next look, as in a real cluster.
    let now = hands.now();
    let status = status(kind, &set, &all, failure.as_deref(), now);
    hands.set_status(kind, &set, &status).await?;
    if let Some(wait) = next_available(&set, &active, now) {
        let task = match kind {
            Kind::ReplicaSet => Task::ReplicaSet,
            _ => Task::ReplicationController,
        };
        hands.again(task, place, wait);
    }
    outcome
}

/// When the next pod will have been ready for long enough.
fn next_available(set: &Value, active: &[Arc<Pod>], now: Timestamp) -> Option<Duration> {
    let needed = int(&set["spec"]["minReadySeconds"]);
    if needed == 0 {
        return None;
    }
    active
        .iter()
        .filter(|pod| !pod.is_available(needed, now))
        .filter_map(|pod| pod.ready_since)
        .map(|since| since.as_second() + needed - now.as_second())
        .min()
        .map(|seconds| Duration::from_secs(u64::try_from(seconds).unwrap_or(0).max(1)))
}

/// What the status of a set should be.
fn status(
    kind: Kind,
    set: &Value,
    all: &[Arc<Pod>],
    failure: Option<&str>,
    now: Timestamp,
) -> Value {
    let labels = set["spec"]["template"]["metadata"]["labels"].as_object();
    let is_fully_labeled = |pod: &Pod| {
        labels
            .into_iter()
            .flatten()
            .all(|(key, value)| pod.labels.get(key) == value.as_str())
    };
    let needed = int(&set["spec"]["minReadySeconds"]);
    let active = || all.iter().filter(|pod| pod.is_active());
    let mut status = json!({ "replicas": active().count() });
    let mut count = |field: &str, number: usize| {
        if number > 0 {
            status[field] = json!(number);
        }
    };
    count(
        "fullyLabeledReplicas",
        active().filter(|pod| is_fully_labeled(pod)).count(),
    );
    count(
        "readyReplicas",
        active().filter(|pod| pod.is_ready()).count(),
    );
    count(
        "availableReplicas",
        active().filter(|pod| pod.is_available(needed, now)).count(),
    );
    if kind == Kind::ReplicaSet {
        let ending = |pod: &&Arc<Pod>| pod.deleting.is_some() && !pod.is_over();
        status["terminatingReplicas"] = json!(all.iter().filter(ending).count());
    }
    status["observedGeneration"] = set["metadata"]["generation"].clone();
    let mut conditions = read::conditions(&set["status"]);
    match failure {
        Some(message) => {
            if read::condition(&set["status"], "ReplicaFailure").is_none() {
                let words = ("ReplicaFailure", "True", "FailedCreate", message);
                read::set_condition(&mut conditions, words, now, false);
            }
        }
        None => conditions.retain(|condition| condition["type"] != "ReplicaFailure"),
    }
    if !conditions.is_empty() {
        status["conditions"] = Value::Array(conditions);
    }
    status
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(name: &str, status: &Value) -> Arc<Pod> {
        Arc::new(Pod::read(&json!({
            "metadata": { "name": name, "labels": { "a": "b" } },
            "spec": { "nodeName": "n" },
            "status": status,
        })))
    }

    #[test]
    fn a_status_counts_active_ready_and_available_pods() {
        let set = json!({
            "metadata": { "generation": 3 },
            "spec": { "minReadySeconds": 10, "template": { "metadata": { "labels": { "a": "b" } } } },
        });
        let now: Timestamp = "2030-01-01T00:00:30Z".parse().unwrap();
        let ready = |since: &str| {
            json!({ "phase": "Running", "conditions": [
                { "type": "Ready", "status": "True", "lastTransitionTime": since },
            ]})
        };
        let pods = [
            pod("a", &ready("2030-01-01T00:00:00Z")),
            pod("b", &ready("2030-01-01T00:00:25Z")),
            pod("c", &json!({ "phase": "Pending" })),
            pod("d", &json!({ "phase": "Failed" })),
        ];
        let status = status(Kind::ReplicaSet, &set, &pods, None, now);
        assert_eq!(
            status,
            json!({
                "replicas": 3, "fullyLabeledReplicas": 3, "readyReplicas": 2, "availableReplicas": 1,
                "terminatingReplicas": 0, "observedGeneration": 3,
            })
        );
        assert_eq!(
            next_available(&set, &pods, now),
            Some(Duration::from_secs(5))
        );
    }
}
