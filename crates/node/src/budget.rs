//! PodDisruptionBudgets: how many pods may be missing.

use std::{collections::BTreeMap, sync::Arc};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::{
    hands::{Hands, Outcome},
    kinds::Kind,
    queue::Task,
    read::{self, Place, share, text},
    seen::Pod,
};

/// Within this time a pod goes whose eviction was allowed.
const EXPECTED_WITHIN: SignedDuration = SignedDuration::from_mins(2);

/// Looks at a budget.
pub(crate) async fn look(hands: &Hands, place: &Place) -> Outcome {
    let kind = Kind::PodDisruptionBudget;
    let Some(budget) = hands.seen.get(kind, place) else {
        return Ok(());
    };
    let selector = read::selector(kind, &budget);
    let pods = hands.seen.pods_within(&place.namespace, |pod| {
        pod.is_selected(&selector) && !pod.is_over()
    });
    let asked = expected(hands, &pods);
    let now = hands.now();
    let going = going(&budget, &pods, now);
    if let Some(first) = going.values().min() {
        // Whoever should have gone by then did not go, and counts again.
        let wait = expected_by(*first).duration_since(now);
        hands.again(Task::Budget, place, wait.try_into().unwrap_or_default());
    }
    let status = status(&budget, &pods, asked, &going, now);
    hands.set_status(kind, &budget, &status).await
}

/// Pods whose eviction was allowed, and when: they count as gone already.
fn going(budget: &Value, pods: &[Arc<Pod>], now: Timestamp) -> BTreeMap<String, Timestamp> {
    let told = budget["status"]["disruptedPods"].as_object();
    let told = told.into_iter().flatten().filter_map(|(name, since)| {
        let since: Timestamp = since.as_str()?.parse().ok()?;
        let is_there = |pod: &Arc<Pod>| *pod.place.name == **name && pod.deleting.is_none();
        let is_expected = now < expected_by(since) && pods.iter().any(is_there);
        is_expected.then(|| (name.clone(), since))
    });
    told.collect()
}

/// When a pod should be gone whose eviction was allowed then. Anybody who may write a status may name any moment.
fn expected_by(since: Timestamp) -> Timestamp {
    since.checked_add(EXPECTED_WITHIN).unwrap_or(Timestamp::MAX)
}

/// How many pods there should be, by what controls them.
fn expected(hands: &Hands, pods: &[Arc<Pod>]) -> i64 {
    let mut controllers: BTreeMap<&str, i64> = BTreeMap::new();
    let mut alone = 0;
    for pod in pods {
        let Some(owner) = &pod.controller else {
            alone += 1;
            continue;
        };
        let place = Place::new(&pod.place.namespace, &owner.name);
        let replicas = hands
            .seen
            .get(owner.kind, &place)
            .map(|object| read::replicas(&object));
        controllers.insert(&owner.uid, replicas.unwrap_or(1));
    }
    alone + controllers.values().sum::<i64>()
}

fn status(
    budget: &Value,
    pods: &[Arc<Pod>],
    asked: i64,
    going: &BTreeMap<String, Timestamp>,
    now: Timestamp,
) -> Value {
    let spec = &budget["spec"];
    let there = i64::try_from(pods.len()).unwrap_or(i64::MAX);
    let (expected, desired) = if !spec["maxUnavailable"].is_null() {
        (
            asked,
            (asked - share(&spec["maxUnavailable"], asked, true)).max(0),
        )
    } else if spec["minAvailable"].is_string() {
        (asked, share(&spec["minAvailable"], asked, true))
    } else {
        (there, spec["minAvailable"].as_i64().unwrap_or(1))
    };
    let healthy = pods
        .iter()
        .filter(|pod| pod.is_ready() && pod.deleting.is_none())
        .filter(|pod| !going.contains_key(&*pod.place.name))
        .count();
    let healthy = i64::try_from(healthy).unwrap_or(i64::MAX);
    let allowed = if expected > 0 {
        (healthy - desired).max(0)
    } else {
        0
    };
    let (truth, reason) = if allowed > 0 {
        ("True", "SufficientPods")
    } else {
        ("False", "InsufficientPods")
    };
    let mut conditions = read::conditions(&budget["status"]);
    read::set_condition(
        &mut conditions,
        ("DisruptionAllowed", truth, reason, ""),
        now,
        false,
    );
    for condition in &mut conditions {
        if text(&condition["type"]) == "DisruptionAllowed" {
            condition["observedGeneration"] = budget["metadata"]["generation"].clone();
        }
    }
    let mut status = json!({
        "observedGeneration": budget["metadata"]["generation"],
        "expectedPods": expected,
        "desiredHealthy": desired,
        "currentHealthy": healthy,
        "disruptionsAllowed": allowed,
        "conditions": conditions,
    });
    if !going.is_empty() {
        status["disruptedPods"] = json!(going);
    }
    status
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(is_ready: bool) -> Arc<Pod> {
        let status = if is_ready { "True" } else { "False" };
        Arc::new(Pod::read(&json!({
            "spec": { "nodeName": "n" },
            "status": { "phase": "Running", "conditions": [{ "type": "Ready", "status": status }] },
        })))
    }

    #[test]
    fn as_many_may_go_as_are_healthy_beyond_the_least() {
        let allowed = |spec: Value, ready: usize, asked: i64| {
            let pods: Vec<_> = (0..3).map(|number| pod(number < ready)).collect();
            let status = status(
                &json!({ "spec": spec }),
                &pods,
                asked,
                &BTreeMap::new(),
                Timestamp::UNIX_EPOCH,
            );
            (
                read::int(&status["desiredHealthy"]),
                read::int(&status["disruptionsAllowed"]),
            )
        };
        assert_eq!(allowed(json!({ "minAvailable": 2 }), 3, 3), (2, 1));
        assert_eq!(allowed(json!({ "minAvailable": "50%" }), 3, 3), (2, 1));
        assert_eq!(allowed(json!({ "maxUnavailable": 1 }), 2, 3), (2, 0));
    }

    #[test]
    fn a_pod_whose_eviction_was_allowed_counts_as_gone_until_it_should_have_gone() {
        let evicted = Arc::new(Pod::read(&json!({
            "metadata": { "name": "a" }, "spec": { "nodeName": "n" },
            "status": { "phase": "Running", "conditions": [{ "type": "Ready", "status": "True" }] },
        })));
        let pods = [evicted, pod(true), pod(true)];
        let budget = json!({
            "spec": { "minAvailable": 1 },
            "status": { "disruptedPods": { "a": "2026-01-01T00:00:00Z", "b": "2026-01-01T00:00:00Z" } },
        });
        let told = |now: &str| {
            let now = now.parse().unwrap();
            let status = status(&budget, &pods, 3, &going(&budget, &pods, now), now);
            let told = status["disruptedPods"]
                .as_object()
                .map(serde_json::Map::len);
            (read::int(&status["disruptionsAllowed"]), told)
        };
        assert_eq!(told("2026-01-01T00:01:00Z"), (1, Some(1)));
        assert_eq!(told("2026-01-01T00:03:00Z"), (2, None));
    }
}
