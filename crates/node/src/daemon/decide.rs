//! What a DaemonSet does next on each node, and what it says of itself. Pure.

use std::{collections::BTreeMap, sync::Arc};

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    read::{self, int, list, share},
    scheduler::fit,
    seen::{Phase, Pod},
};

/// Taints that a daemon's pods stand.
const STOOD: [(&str, &str); 6] = [
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
];

/// The tolerations of a daemon's pods: their own and those that all have.
pub(super) fn tolerations(spec: &Value) -> Vec<Value> {
    let mut all = list(&spec["tolerations"]).to_vec();
    for (key, effect) in STOOD {
        let toleration = json!({ "key": key, "operator": "Exists", "effect": effect });
        if !all.contains(&toleration) {
            all.push(toleration);
        }
    }
    all
}

/// Whether a node shall have a pod.
pub(super) fn is_meant(set: &Value, node: &Value) -> bool {
    let spec = &set["spec"]["template"]["spec"];
    fit::is_wanted(spec, node) && fit::untolerated(&tolerations(spec), node).is_none()
}

/// The set's pods by node.
pub(super) type ByNode = BTreeMap<String, Vec<Arc<Pod>>>;

/// What to do.
#[derive(Debug, Default)]
pub(super) struct Steps {
    /// Nodes that get a pod.
    pub(super) create: Vec<String>,
    pub(super) delete: Vec<Arc<Pod>>,
}

/// Makes what is missing and ends what is too much.
pub(super) fn manage(set: &Value, nodes: &[Arc<Value>], pods: &ByNode) -> Steps {
    let mut steps = Steps::default();
    for node in nodes {
        let here = pods.get(read::name(node)).map_or(&[][..], Vec::as_slice);
        if !is_meant(set, node) {
            steps
                .delete
                .extend(here.iter().filter(|pod| pod.deleting.is_none()).cloned());
            continue;
        }
        let mut running: Vec<&Arc<Pod>> = Vec::new();
        for pod in here {
            if pod.deleting.is_some() {
                continue;
            }
            if pod.phase == Phase::Failed || pod.phase == Phase::Succeeded {
                steps.delete.push(pod.clone());
            } else {
                running.push(pod);
            }
        }
        if here.is_empty() {
            steps.create.push(read::name(node).to_owned());
        }
        running.sort_by_key(|pod| (std::cmp::Reverse(pod.phase), pod.created));
        steps.delete.extend(running.into_iter().skip(1).cloned());
    }
    let known: Vec<&str> = nodes.iter().map(|node| read::name(node)).collect();
    for (node, here) in pods {
        if !known.contains(&node.as_str()) {
            steps
                .delete
                .extend(here.iter().filter(|pod| pod.deleting.is_none()).cloned());
        }
    }
    steps
}

/// Old pods that a rolling update ends next.
pub(super) fn roll(
    set: &Value,
    nodes: &[Arc<Value>],
    pods: &ByNode,
    is_new: impl Fn(&Pod) -> bool,
    now: Timestamp,
) -> Vec<Arc<Pod>> {
    let strategy = &set["spec"]["updateStrategy"];
    if strategy["type"] == "OnDelete" {
        return Vec::new();
    }
    let meant: Vec<_> = nodes.iter().filter(|node| is_meant(set, node)).collect();
    let total = i64::try_from(meant.len()).unwrap_or(i64::MAX);
    // An update that may only surge goes one by one here.
    let most = share(&strategy["rollingUpdate"]["maxUnavailable"], total, true).max(1);
    let needed = int(&set["spec"]["minReadySeconds"]);
    let mut unavailable = 0;
    let (mut broken, mut working) = (Vec::new(), Vec::new());
    for node in meant {
        let here = pods.get(read::name(node)).map_or(&[][..], Vec::as_slice);
        let Some(pod) = here.iter().find(|pod| pod.deleting.is_none()) else {
            unavailable += 1;
            continue;
        };
        let is_available = pod.is_available(needed, now);
        unavailable += i64::from(!is_available);
        if !is_new(pod) {
            let old = if is_available {
                &mut working
            } else {
                &mut broken
            };
            old.push(pod.clone());
        }
    }
    let room = usize::try_from(most - unavailable).unwrap_or(0);
    broken.extend(working.into_iter().take(room));
    broken
}

/// What the set says of itself.
pub(super) fn status(
    set: &Value,
    nodes: &[Arc<Value>],
    pods: &ByNode,
    is_new: impl Fn(&Pod) -> bool,
    now: Timestamp,
) -> Value {
    let needed = int(&set["spec"]["minReadySeconds"]);
    let [
        mut desired,
        mut current,
        mut misplaced,
        mut ready,
        mut available,
        mut updated,
    ] = [0_i64; 6];
    for node in nodes {
        let here = pods.get(read::name(node)).map_or(&[][..], Vec::as_slice);
        let first = here
            .iter()
            .min_by_key(|pod| (std::cmp::Reverse(pod.phase), pod.created));
        if !is_meant(set, node) {
            misplaced += i64::from(first.is_some());
            continue;
        }
        desired += 1;
        let Some(pod) = first else { continue };
        current += 1;
        ready += i64::from(pod.is_ready());
        available += i64::from(pod.is_available(needed, now));
        updated += i64::from(is_new(pod));
    }
    let mut status = json!({
        "observedGeneration": set["metadata"]["generation"],
        "desiredNumberScheduled": desired,
        "currentNumberScheduled": current,
        "numberMisscheduled": misplaced,
        "numberReady": ready,
    });
    for (field, number) in [
        ("updatedNumberScheduled", updated),
        ("numberAvailable", available),
        ("numberUnavailable", desired - available),
    ] {
        if number > 0 {
            status[field] = json!(number);
        }
    }
    status
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str) -> Arc<Value> {
        Arc::new(json!({ "metadata": { "name": name, "labels": { "zone": name } } }))
    }

    fn pod(name: &str, node: &str, hash: &str) -> Arc<Pod> {
        Arc::new(Pod::read(&json!({
            "metadata": { "name": name, "labels": { "hash": hash } },
            "spec": { "nodeName": node },
            "status": { "phase": "Running", "conditions": [
                { "type": "Ready", "status": "True", "lastTransitionTime": "2030-01-01T00:00:00Z" },
            ]},
        })))
    }

    fn names(pods: &[Arc<Pod>]) -> Vec<&str> {
        pods.iter().map(|pod| &*pod.place.name).collect()
    }

    #[test]
    fn every_node_that_is_meant_has_one_pod() {
        let set =
            json!({ "spec": { "template": { "spec": { "nodeSelector": { "zone": "a" } } } } });
        let nodes = [node("a"), node("b")];
        let steps = manage(&set, &nodes, &ByNode::new());
        assert_eq!(steps.create, ["a"]);
        let pods = ByNode::from([
            (
                "a".to_owned(),
                vec![pod("one", "a", "x"), pod("two", "a", "x")],
            ),
            ("b".to_owned(), vec![pod("stray", "b", "x")]),
        ]);
        let steps = manage(&set, &nodes, &pods);
        assert_eq!(names(&steps.delete), ["two", "stray"]);
    }

    #[test]
    fn an_update_ends_as_many_as_may_be_missing() {
        let set =
            json!({ "spec": { "updateStrategy": { "rollingUpdate": { "maxUnavailable": 1 } } } });
        let nodes = [node("a"), node("b")];
        let mut pods = ByNode::from([
            ("a".to_owned(), vec![pod("one", "a", "old")]),
            ("b".to_owned(), vec![pod("two", "b", "old")]),
        ]);
        let now = Timestamp::from_second(1_893_456_100).unwrap();
        let is_new = |pod: &Pod| pod.labels.get("hash") == Some("new");
        assert_eq!(names(&roll(&set, &nodes, &pods, is_new, now)), ["one"]);
        pods.insert("a".to_owned(), vec![]);
        assert_eq!(
            names(&roll(&set, &nodes, &pods, is_new, now)),
            Vec::<&str>::new()
        );
        pods.insert("a".to_owned(), vec![pod("three", "a", "new")]);
        assert_eq!(names(&roll(&set, &nodes, &pods, is_new, now)), ["two"]);
        let status = status(&set, &nodes, &pods, is_new, now);
        assert_eq!(
            (
                int(&status["numberReady"]),
                int(&status["updatedNumberScheduled"])
            ),
            (2, 1)
        );
    }
}
