//! What a StatefulSet does next with its pods, and what it says of itself. Pure.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    read::{self, int, text},
    seen::{Phase, Pod},
};

/// Which revision a pod is of.
pub(super) const REVISION_LABEL: &str = "controller-revision-hash";

/// What a set asks for.
#[derive(Debug)]
pub(super) struct Wanted<'a> {
    pub(super) replicas: i64,
    pub(super) start: i64,
    /// One after the other, in order.
    pub(super) is_ordered: bool,
    /// Where a rolling update stops; nothing if pods are updated only when somebody deletes them.
    pub(super) partition: Option<i64>,
    pub(super) min_ready_seconds: i64,
    pub(super) current: &'a str,
    pub(super) update: &'a str,
}

impl<'a> Wanted<'a> {
    pub(super) fn of(set: &Value, current: &'a str, update: &'a str) -> Self {
        let spec = &set["spec"];
        let strategy = &spec["updateStrategy"];
        Self {
            replicas: read::replicas(set),
            start: int(&spec["ordinals"]["start"]),
            is_ordered: spec["podManagementPolicy"] != "Parallel",
            partition: (strategy["type"] != "OnDelete")
                .then(|| int(&strategy["rollingUpdate"]["partition"])),
            min_ready_seconds: int(&spec["minReadySeconds"]),
            current,
            update,
        }
    }

    fn has(&self, ordinal: i64) -> bool {
        (self.start..self.start + self.replicas).contains(&ordinal)
    }

    /// The revision that a new pod gets.
    fn revision(&self, ordinal: i64) -> &'a str {
        match self.partition {
            Some(partition) if ordinal < self.start + partition => self.current,
            _ => self.update,
        }
    }
}

/// The number at the end of a pod's name, if it is the set's.
pub(super) fn ordinal(set: &str, pod: &Pod) -> Option<i64> {
    let number = pod.place.name.strip_prefix(set)?.strip_prefix('-')?;
    let is_plain = number == "0" || !number.starts_with('0');
    number
        .parse()
        .ok()
        .filter(|ordinal| *ordinal >= 0 && is_plain)
}

/// Something to do.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    Create {
        ordinal: i64,
        revision: String,
    },
    /// A replica that is too many goes.
    ScaleDown(i64),
    /// A replica makes room for a new one of the same name.
    Replace(i64),
}

/// A pod and its number.
pub(super) type Numbered = (i64, Arc<Pod>);

/// What to do next, given the pods.
pub(super) fn next(wanted: &Wanted<'_>, pods: &[Numbered], now: Timestamp) -> Vec<Step> {
    let find = |ordinal: i64| {
        pods.iter()
            .find(|(number, _)| *number == ordinal)
            .map(|(_, pod)| pod)
    };
    let is_available = |pod: &Pod| {
        is_running(pod) && pod.deleting.is_none() && pod.is_available(wanted.min_ready_seconds, now)
    };
    let mut condemned: Vec<&Numbered> = pods
        .iter()
        .filter(|(number, _)| !wanted.has(*number))
        .collect();
    condemned.sort_by_key(|(number, _)| std::cmp::Reverse(*number));
    let first_unavailable = (wanted.start..wanted.start + wanted.replicas)
        .find(|number| !find(*number).is_some_and(|pod| is_available(pod)))
        .or_else(|| {
            let ascending = condemned.iter().rev();
            ascending
                .clone()
                .find(|(_, pod)| !is_available(pod))
                .map(|(number, _)| *number)
        });

    let mut steps = Vec::new();
    for number in wanted.start..wanted.start + wanted.replicas {
        let is_blocked = match find(number) {
            None => {
                steps.push(Step::Create {
                    ordinal: number,
                    revision: wanted.revision(number).to_owned(),
                });
                true
            }
            Some(pod) if pod.is_over() => {
                if pod.deleting.is_none() {
                    steps.push(Step::Replace(number));
                }
                // A pod of this name can be made only when this one is gone.
                if !wanted.is_ordered {
                    continue;
                }
                true
            }
            Some(pod) => pod.deleting.is_some() || !is_available(pod),
        };
        if is_blocked && wanted.is_ordered {
            return steps;
        }
    }
    for (number, pod) in &condemned {
        if pod.deleting.is_some() {
            if wanted.is_ordered {
                return steps;
            }
            continue;
        }
        if wanted.is_ordered && !is_available(pod) && first_unavailable != Some(*number) {
            return steps;
        }
        steps.push(Step::ScaleDown(*number));
        if wanted.is_ordered {
            return steps;
        }
    }
    let Some(partition) = wanted.partition else {
        return steps;
    };
    for number in (wanted.start + partition..wanted.start + wanted.replicas).rev() {
        let Some(pod) = find(number) else { break };
        if pod.labels.get(REVISION_LABEL) != Some(wanted.update) && pod.deleting.is_none() {
            if !steps.contains(&Step::Replace(number)) {
                steps.push(Step::Replace(number));
            }
            break;
        }
        if !is_available(pod) {
            break;
        }
    }
    steps
}

fn is_running(pod: &Pod) -> bool {
    pod.phase == Phase::Running
}

/// What the set says of itself; `replaced` pods of the current revision are on their way out.
pub(super) fn status(
    set: &Value,
    wanted: &Wanted<'_>,
    pods: &[Numbered],
    replaced: i64,
    now: Timestamp,
) -> Value {
    let count = |holds: &dyn Fn(&Pod) -> bool| -> i64 {
        let held = pods.iter().filter(|(_, pod)| holds(pod)).count();
        i64::try_from(held).unwrap_or(i64::MAX)
    };
    let is_of = |revision: &str| {
        count(&|pod| pod.deleting.is_none() && pod.labels.get(REVISION_LABEL) == Some(revision))
    };
    let replicas = count(&|_| true);
    let ready = count(&|pod| is_running(pod) && pod.is_ready());
    let updated = is_of(wanted.update);
    let mut current_replicas = is_of(wanted.current) - replaced;
    let mut current = wanted.current;
    let is_done = [replicas, ready, updated]
        .iter()
        .all(|number| *number == wanted.replicas);
    if wanted.partition.is_some() && is_done {
        current_replicas = updated;
        current = wanted.update;
    }
    let mut status = json!({
        "observedGeneration": set["metadata"]["generation"],
        "replicas": replicas,
        "availableReplicas": count(&|pod| {
            is_running(pod) && pod.is_available(wanted.min_ready_seconds, now)
        }),
        "currentRevision": current,
        "updateRevision": wanted.update,
        "collisionCount": int(&set["status"]["collisionCount"]),
    });
    for (field, number) in [
        ("readyReplicas", ready),
        ("currentReplicas", current_replicas),
        ("updatedReplicas", updated),
    ] {
        if number > 0 {
            status[field] = json!(number);
        }
    }
    if !read::list(&set["status"]["conditions"]).is_empty() {
        status["conditions"] = set["status"]["conditions"].clone();
    }
    status
}

/// The claims of a pod: name and what each asks for.
pub(super) fn claims(set: &Value, ordinal: i64) -> Vec<(String, Value)> {
    read::list(&set["spec"]["volumeClaimTemplates"])
        .iter()
        .map(|template| {
            let volume = text(&template["metadata"]["name"]);
            (
                format!("{volume}-{}-{ordinal}", read::name(set)),
                template.clone(),
            )
        })
        .collect()
}

#[cfg(test)]
mod tests;
