//! Which pods go when there are too many: those that are missed least.

use std::{cmp::Reverse, sync::Arc};

use crate::seen::{Phase, Pod};

/// The pods to end, so many of them.
pub(crate) fn to_delete(active: &[Arc<Pod>], count: usize) -> Vec<Arc<Pod>> {
    let mut pods = active.to_vec();
    if count < pods.len() {
        pods.sort_by_cached_key(|pod| rank(pod, neighbours(pod, active)));
        pods.truncate(count);
    }
    pods
}

/// How many pods of the set run on the same node.
fn neighbours(pod: &Pod, active: &[Arc<Pod>]) -> usize {
    // With one node they are all alike, and counting them would take long.
    if active.len() > 1000 {
        return 0;
    }
    active.iter().filter(|other| other.node == pod.node).count()
}

/// The lower, the sooner: without a node, not running, not ready, cheap, crowded, ready for a short time, restarted
/// often, young.
fn rank(pod: &Pod, neighbours: usize) -> impl Ord + use<> {
    let phase = match pod.phase {
        Phase::Pending => 0,
        Phase::Unknown => 1,
        _ => 2,
    };
    (
        (pod.node.is_some(), phase, pod.is_ready()),
        (pod.deletion_cost, Reverse(neighbours)),
        Reverse(pod.ready_since),
        (Reverse(pod.restarts), Reverse(pod.created)),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pod(name: &str, node: &str, ready: bool, cost: &str, created: &str) -> Arc<Pod> {
        Arc::new(Pod::read(&json!({
            "metadata": {
                "name": name, "creationTimestamp": created,
                "annotations": { "controller.kubernetes.io/pod-deletion-cost": cost },
            },
            "spec": { "nodeName": node },
            "status": {
                "phase": if node.is_empty() { "Pending" } else { "Running" },
                "conditions": [{
                    "type": "Ready", "status": if ready { "True" } else { "False" },
                    "lastTransitionTime": created,
                }],
            },
        })))
    }

    #[test]
    fn the_least_missed_go_first() {
        let pods = [
            pod("old", "n", true, "", "2030-01-01T00:00:00Z"),
            pod("dear", "n", true, "5", "2030-01-03T00:00:00Z"),
            pod("young", "n", true, "", "2030-01-02T00:00:00Z"),
            pod("unready", "n", false, "", "2030-01-01T00:00:00Z"),
            pod("unscheduled", "", false, "", "2030-01-01T00:00:00Z"),
        ];
        let order: Vec<_> = (1..=5)
            .map(|count| to_delete(&pods, count))
            .map(|chosen| chosen.last().map(|pod| pod.place.name.to_string()))
            .take(4)
            .map(Option::unwrap_or_default)
            .collect();
        assert_eq!(order, ["unscheduled", "unready", "young", "old"]);
    }
}
