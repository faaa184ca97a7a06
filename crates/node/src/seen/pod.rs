//! A pod as it is kept: little, since there may be ten thousand.

use std::{collections::BTreeMap, sync::Arc};

use jiff::Timestamp;
use quadrille_machinery::quantity::Quantity;
use quadrille_machinery::selector::LabelSelector;
use serde_json::Value;

use crate::{
    kinds::Kind,
    kubelet::Plan,
    read::{self, Owner, Place, int, is_true, list, text, time},
};

/// The finalizer by which a job's pods are counted.
pub(crate) const TRACKING_FINALIZER: &str = "batch.kubernetes.io/job-tracking";
/// Says which of a job's indexes a pod is for.
pub(crate) const INDEX_ANNOTATION: &str = "batch.kubernetes.io/job-completion-index";

/// Where a pod is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    Pending,
    Unknown,
    Running,
    Succeeded,
    Failed,
}

/// What is kept of a pod.
#[derive(Clone, Debug)]
pub(crate) struct Pod {
    pub(crate) place: Place,
    pub(crate) uid: Arc<str>,
    pub(crate) version: u64,
    pub(crate) generation: i64,
    pub(crate) labels: Labels,
    pub(crate) controller: Option<Owner>,
    /// Whether anything controls it, known here or not.
    pub(crate) is_controlled: bool,
    pub(crate) created: Timestamp,
    /// When its end was asked for.
    pub(crate) deleting: Option<Timestamp>,
    /// How long its end may take.
    pub(crate) grace_seconds: i64,
    pub(crate) is_tracked: bool,
    pub(crate) has_finalizers: bool,
    pub(crate) node: Option<Arc<str>>,
    pub(crate) phase: Phase,
    /// Since when it is ready.
    pub(crate) ready_since: Option<Timestamp>,
    pub(crate) ip: Option<Box<str>>,
    pub(crate) restarts: i64,
    pub(crate) deletion_cost: i64,
    pub(crate) index: Option<u32>,
    /// When it ended, if it did.
    pub(crate) finished: Option<Timestamp>,
    /// Exit codes of containers that failed, for those who judge by them.
    pub(crate) exits: Box<[(Box<str>, i64)]>,
    pub(crate) use_of: Use,
    /// What is left to schedule: the spec, until it has a node.
    pub(crate) unscheduled: Option<Box<Value>>,
    /// How it is to be run, once it has a node.
    pub(crate) plan: Option<Arc<Plan>>,
}

/// What a pod takes of its node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Use {
    pub(crate) pods: i64,
    pub(crate) cpu_milli: i64,
    pub(crate) memory: i64,
}

impl Pod {
    /// Reads what is to be kept.
    pub(crate) fn read(object: &Value) -> Self {
        let (metadata, spec, status) = (&object["metadata"], &object["spec"], &object["status"]);
        let phase = match text(&status["phase"]) {
            "Running" => Phase::Running,
            "Succeeded" => Phase::Succeeded,
            "Failed" => Phase::Failed,
            "Unknown" => Phase::Unknown,
            _ => Phase::Pending,
        };
        let ready = read::condition(status, "Ready").filter(|ready| ready["status"] == "True");
        let finalizers = list(&metadata["finalizers"]);
        let containers = list(&status["containerStatuses"]);
        let node: Option<Arc<str>> = Some(text(&spec["nodeName"]))
            .filter(|name| !name.is_empty())
            .map(Into::into);
        let is_over = matches!(phase, Phase::Succeeded | Phase::Failed);
        Self {
            place: Place::of(object),
            uid: read::uid(object).into(),
            version: read::version(object),
            generation: int(&metadata["generation"]),
            labels: Labels::read(&metadata["labels"]),
            controller: read::controller(object),
            is_controlled: read::is_controlled(object),
            created: read::created(object),
            deleting: time(&metadata["deletionTimestamp"]),
            grace_seconds: int(&metadata["deletionGracePeriodSeconds"]),
            is_tracked: finalizers.iter().any(|name| name == TRACKING_FINALIZER),
            has_finalizers: !finalizers.is_empty(),
            phase,
            ready_since: ready.map(|ready| time(&ready["lastTransitionTime"]).unwrap_or_default()),
            ip: status["podIP"].as_str().map(Into::into),
            restarts: containers
                .iter()
                .map(|container| int(&container["restartCount"]))
                .sum(),
            deletion_cost: text(
                &metadata["annotations"]["controller.kubernetes.io/pod-deletion-cost"],
            )
            .parse()
            .unwrap_or(0),
            index: text(&metadata["annotations"][INDEX_ANNOTATION])
                .parse()
                .ok(),
            finished: if is_over {
                containers
                    .iter()
                    .filter_map(|container| time(&container["state"]["terminated"]["finishedAt"]))
                    .max()
            } else {
                None
            },
            exits: if phase == Phase::Failed {
                containers.iter().filter_map(exit).collect()
            } else {
                Box::default()
            },
            use_of: Use::of(spec),
            unscheduled: (node.is_none() && !is_over).then(|| Box::new(spec.clone())),
            plan: (node.is_some() && !is_over).then(|| Arc::new(Plan::read(object))),
            node,
        }
    }

    /// Whether it is neither over nor about to end.
    pub(crate) fn is_active(&self) -> bool {
        !self.is_over() && self.deleting.is_none()
    }

    /// Whether it has ended, well or badly.
    pub(crate) fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Succeeded | Phase::Failed)
    }

    /// Whether it is ready.
    pub(crate) fn is_ready(&self) -> bool {
        self.ready_since.is_some()
    }

    /// Whether it has been ready for so long.
    pub(crate) fn is_available(&self, min_ready_seconds: i64, now: Timestamp) -> bool {
        self.ready_since.is_some_and(|since| {
            min_ready_seconds == 0 || since.as_second() + min_ready_seconds <= now.as_second()
        })
    }

    /// Whether its labels are selected.
    pub(crate) fn is_selected(&self, selector: &LabelSelector) -> bool {
        selector.matches_with(|key| self.labels.get(key))
    }
}

fn exit(container: &Value) -> Option<(Box<str>, i64)> {
    let code = container["state"]["terminated"]["exitCode"].as_i64()?;
    (code != 0).then(|| (text(&container["name"]).into(), code))
}

impl Use {
    fn of(spec: &Value) -> Self {
        let sum = |resource: &str| -> (i64, i64) {
            let mut running = 0;
            let mut largest_init = 0;
            let mut sidecars = 0;
            for container in list(&spec["initContainers"]) {
                let amount = milli(&container["resources"]["requests"][resource]);
                if container["restartPolicy"] == "Always" {
                    sidecars += amount;
                    largest_init = largest_init.max(sidecars);
                } else {
                    largest_init = largest_init.max(sidecars + amount);
                }
            }
            for container in list(&spec["containers"]) {
                running += milli(&container["resources"]["requests"][resource]);
            }
            let amount = largest_init.max(running + sidecars) + milli(&spec["overhead"][resource]);
            (amount, amount / 1000)
        };
        Self {
            pods: 1,
            cpu_milli: sum("cpu").0,
            memory: sum("memory").1,
        }
    }

    /// What a node has to give.
    pub(crate) fn room(node: &Value) -> Self {
        let room = &node["status"]["allocatable"];
        Self {
            pods: milli(&room["pods"]) / 1000,
            cpu_milli: milli(&room["cpu"]),
            memory: milli(&room["memory"]) / 1000,
        }
    }

    pub(crate) fn add(&mut self, other: Self, sign: i64) {
        self.pods += sign * other.pods;
        self.cpu_milli += sign * other.cpu_milli;
        self.memory += sign * other.memory;
    }
}

/// Thousandths of a quantity; zero if it is none.
pub(crate) fn milli(quantity: &Value) -> i64 {
    let written = match quantity {
        Value::String(text) => Quantity::parse(text).ok().flatten(),
        Value::Number(number) => Quantity::parse(&number.to_string()).ok().flatten(),
        _ => None,
    };
    written.map_or(0, |quantity| {
        let milli = (quantity.nanos() + 999_999) / 1_000_000;
        i64::try_from(milli).unwrap_or(i64::MAX)
    })
}

/// Labels of a pod, sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Labels(Box<[(Box<str>, Box<str>)]>);

impl Labels {
    pub(crate) fn read(labels: &Value) -> Self {
        let sorted: BTreeMap<&str, &str> = labels
            .as_object()
            .into_iter()
            .flatten()
            .map(|(key, value)| (key.as_str(), text(value)))
            .collect();
        Self(
            sorted
                .into_iter()
                .map(|(key, value)| (key.into(), value.into()))
                .collect(),
        )
    }

    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        let at = self.0.binary_search_by(|(known, _)| (**known).cmp(key));
        at.ok().map(|at| &*self.0[at].1)
    }
}

/// The kinds that control pods.
pub(crate) const CONTROLLERS: [Kind; 5] = [
    Kind::ReplicaSet,
    Kind::ReplicationController,
    Kind::StatefulSet,
    Kind::DaemonSet,
    Kind::Job,
];

/// Whether a pod asks to be scheduled by the scheduler here.
pub(crate) fn wants_scheduling(spec: &Value) -> bool {
    matches!(text(&spec["schedulerName"]), "" | "default-scheduler")
        && list(&spec["schedulingGates"]).is_empty()
}

/// Whether a pod uses its node's network.
pub(crate) fn is_on_host(spec: &Value) -> bool {
    is_true(&spec["hostNetwork"])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_pod_takes_is_the_larger_of_starting_and_running() {
        let spec = json!({
            "initContainers": [
                { "resources": { "requests": { "cpu": "2", "memory": "1Mi" } } },
                { "restartPolicy": "Always", "resources": { "requests": { "cpu": "100m" } } },
            ],
            "containers": [
                { "resources": { "requests": { "cpu": "500m", "memory": "1Gi" } } },
                { "resources": { "requests": { "cpu": "1" } } },
            ],
        });
        let taken = Use::of(&spec);
        assert_eq!(taken.cpu_milli, 2000);
        assert_eq!(taken.memory, 1 << 30);
    }

    #[test]
    fn labels_are_found_and_selected() {
        let labels = Labels::read(&json!({ "b": "2", "a": "1" }));
        assert_eq!(labels.get("a"), Some("1"));
        assert_eq!(labels.get("c"), None);
    }
}
