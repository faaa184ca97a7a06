//! Whether a pod fits a node. Pure.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{
    read::{self, is_true, list, text},
    seen::Use,
};

/// Why a pod does not fit a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Obstacle {
    /// As the scheduler of a real cluster says it.
    pub(crate) reason: String,
    /// Whether it would fit if others left.
    pub(crate) is_crowded: bool,
}

/// What keeps a pod from a node that has so much room, of which so much is free.
pub(crate) fn obstacle(
    spec: &Value,
    node: &Value,
    room: Use,
    free: Use,
    needed: Use,
) -> Option<Obstacle> {
    let reason = if let Some(reason) = unwanted(spec, node) {
        return Some(Obstacle {
            reason,
            is_crowded: false,
        });
    } else if needed.pods > free.pods {
        "Too many pods"
    } else if needed.cpu_milli > free.cpu_milli {
        "Insufficient cpu"
    } else if needed.memory > free.memory {
        "Insufficient memory"
    } else {
        return None;
    };
    Some(Obstacle {
        reason: reason.to_owned(),
        is_crowded: needed.pods <= room.pods
            && needed.cpu_milli <= room.cpu_milli
            && needed.memory <= room.memory,
    })
}

/// Why a pod may not be on a node, however much room there is.
fn unwanted(spec: &Value, node: &Value) -> Option<String> {
    if is_true(&node["spec"]["unschedulable"]) && !tolerates_unschedulable(spec) {
        return Some("node(s) were unschedulable".to_owned());
    }
    if let Some(taint) = untolerated(list(&spec["tolerations"]), node) {
        let (key, value) = (text(&taint["key"]), text(&taint["value"]));
        return Some(if value.is_empty() {
            format!("node(s) had untolerated taint(s) {{{key}}}")
        } else {
            format!("node(s) had untolerated taint(s) {{{key}: {value}}}")
        });
    }
    (!is_wanted(spec, node)).then(|| "node(s) didn't match Pod's node affinity/selector".to_owned())
}

fn tolerates_unschedulable(spec: &Value) -> bool {
    let taint =
        serde_json::json!({ "key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule" });
    list(&spec["tolerations"])
        .iter()
        .any(|toleration| tolerates(toleration, &taint))
}

/// A taint of a node that keeps a pod away.
pub(crate) fn untolerated<'a>(tolerations: &[Value], node: &'a Value) -> Option<&'a Value> {
    list(&node["spec"]["taints"])
        .iter()
        .filter(|taint| taint["effect"] != "PreferNoSchedule")
        .find(|taint| {
            !tolerations
                .iter()
                .any(|toleration| tolerates(toleration, taint))
        })
}

fn tolerates(toleration: &Value, taint: &Value) -> bool {
    let is_any = |field: &str| text(&toleration[field]).is_empty();
    let same = |field: &str| text(&toleration[field]) == text(&taint[field]);
    (is_any("effect") || same("effect"))
        && (is_any("key") || same("key"))
        && (toleration["operator"] == "Exists" || same("value"))
}

/// Whether a pod's node selector and its required affinity want the node.
pub(crate) fn is_wanted(spec: &Value, node: &Value) -> bool {
    let labels = &node["metadata"]["labels"];
    let selects = spec["nodeSelector"]
        .as_object()
        .into_iter()
        .flatten()
        .all(|(key, value)| labels[key.as_str()] == *value);
    let required =
        &spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
    let terms = list(&required["nodeSelectorTerms"]);
    selects && (required.is_null() || terms.iter().any(|term| matches_term(term, node)))
}

fn matches_term(term: &Value, node: &Value) -> bool {
    let expressions = list(&term["matchExpressions"]);
    let fields = list(&term["matchFields"]);
    if expressions.is_empty() && fields.is_empty() {
        return false;
    }
    let label = |key: &str| node["metadata"]["labels"][key].as_str();
    let field = |key: &str| (key == "metadata.name").then(|| read::name(node));
    expressions
        .iter()
        .all(|demand| holds(demand, label(text(&demand["key"]))))
        && fields
            .iter()
            .all(|demand| holds(demand, field(text(&demand["key"]))))
}

fn holds(demand: &Value, value: Option<&str>) -> bool {
    let values = list(&demand["values"]);
    let is_listed = value.is_some_and(|value| values.iter().any(|wanted| wanted == value));
    let compare = |holds: fn(i64, i64) -> bool| {
        let bound = values.first().and_then(|bound| text(bound).parse().ok());
        let number = value.and_then(|value| value.parse().ok());
        number
            .zip(bound)
            .is_some_and(|(one, other)| holds(one, other))
    };
    match text(&demand["operator"]) {
        "In" => is_listed,
        "NotIn" => !is_listed,
        "Exists" => value.is_some(),
        "DoesNotExist" => value.is_none(),
        "Gt" => compare(|one, other| one > other),
        "Lt" => compare(|one, other| one < other),
        _ => false,
    }
}

/// What is said of a pod that fits nowhere.
pub(crate) fn message(obstacles: &[Obstacle]) -> String {
    let nodes = obstacles.len();
    if nodes == 0 {
        return "no nodes available to schedule pods".to_owned();
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for obstacle in obstacles {
        *counts.entry(&obstacle.reason).or_default() += 1;
    }
    let reasons: Vec<String> = counts
        .into_iter()
        .map(|(reason, count)| format!("{count} {reason}"))
        .collect();
    let crowded = obstacles
        .iter()
        .filter(|obstacle| obstacle.is_crowded)
        .count();
    let mut preemption = Vec::new();
    if crowded > 0 {
        preemption.push(format!(
            "{crowded} No preemption victims found for incoming pod"
        ));
    }
    if nodes > crowded {
        let rest = nodes - crowded;
        preemption.push(format!("{rest} Preemption is not helpful for scheduling"));
    }
    format!(
        "0/{nodes} nodes are available: {}. no new claims to deallocate, preemption: 0/{nodes} nodes are available: {}.",
        reasons.join(", "),
        preemption.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn free() -> Use {
        Use {
            pods: 10,
            cpu_milli: 1000,
            memory: 1 << 30,
        }
    }

    fn needed(cpu_milli: i64) -> Use {
        Use {
            pods: 1,
            cpu_milli,
            memory: 0,
        }
    }

    fn refused(spec: &Value, node: &Value, cpu_milli: i64) -> Option<String> {
        let mut room = free();
        room.cpu_milli *= 4;
        obstacle(spec, node, room, free(), needed(cpu_milli)).map(|obstacle| obstacle.reason)
    }

    #[test]
    fn a_node_is_refused_for_its_labels_its_taints_and_its_size() {
        let node = json!({ "metadata": { "name": "a", "labels": { "disk": "ssd" } } });
        let wants = |disk: &str| json!({ "nodeSelector": { "disk": disk } });
        assert_eq!(refused(&wants("ssd"), &node, 10), None);
        assert_eq!(
            refused(&wants("hdd"), &node, 10).unwrap(),
            "node(s) didn't match Pod's node affinity/selector"
        );
        assert_eq!(
            refused(&json!({}), &node, 2000).unwrap(),
            "Insufficient cpu"
        );
        let tainted = json!({ "spec": { "taints": [{ "key": "k", "effect": "NoSchedule" }] } });
        assert!(refused(&json!({}), &tainted, 1).is_some());
        let tolerant = json!({ "tolerations": [{ "key": "k", "operator": "Exists" }] });
        assert_eq!(refused(&tolerant, &tainted, 1), None);
    }

    #[test]
    fn affinity_is_by_terms_and_fields() {
        let node = json!({ "metadata": { "name": "a" } });
        let to = |name: &str| {
            json!({ "affinity": { "nodeAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{ "matchFields": [
                    { "key": "metadata.name", "operator": "In", "values": [name] },
                ]}],
            }}}})
        };
        assert!(is_wanted(&to("a"), &node));
        assert!(!is_wanted(&to("b"), &node));
    }

    #[test]
    fn the_message_counts_reasons_and_says_whether_others_could_make_room() {
        let crowded = Obstacle {
            reason: "Insufficient cpu".to_owned(),
            is_crowded: true,
        };
        let small = Obstacle {
            is_crowded: false,
            ..crowded.clone()
        };
        assert_eq!(
            message(&[crowded, small]),
            "0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, preemption: 0/2 nodes \
             are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for \
             scheduling."
        );
    }
}
