//! The final verdict of a workload: what its pods say, as far as they are of its present revision.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

use super::{
    kinds::of,
    live::{group_kind, text},
    pod::Pod,
    verdict::Verdict,
    workloads::{partition, renews_by_itself},
};

/// Names that are longer may have been cut to make room for a hash.
const LONG_NAME: usize = 200;

/// The verdict of a workload whose pods have been looked at.
///
/// One pod in trouble is enough, also long after the rollout has finished. Pods that are deleted, at
/// their end, of somebody else or of a revision that is being replaced do not count. Where [`of`] does
/// not ask for pods, they change nothing.
pub fn with_pods(object: &Value, pods: &[Pod]) -> Verdict {
    let verdict = of(object);
    if verdict.pods.is_none() {
        return verdict;
    }
    let current = current(object, pods);
    match current.into_iter().filter_map(Pod::trouble).min() {
        Some(trouble) => {
            Verdict::degraded(trouble.reason.clone(), &trouble.message).judged_by(verdict.pods)
        }
        None => verdict,
    }
}

/// From when a workload that seems to have recovered can be believed; at once if `None`.
///
/// A container that crashed before has to run for a good deal longer than it did the last time. Until
/// then, whoever told of the crash should stay with it: either the crash comes again and nothing was
/// to be told, or this time passes.
pub fn steady_from(object: &Value, pods: &[Pod]) -> Option<Timestamp> {
    let current = current(object, pods).into_iter();
    current.filter_map(|pod| pod.steady_from).max()
}

/// The pods that the verdict depends on.
fn current<'a>(object: &Value, pods: &'a [Pod]) -> Vec<&'a Pod> {
    let (_, kind) = group_kind(object);
    let mut own: Vec<&Pod> = pods
        .iter()
        .filter(|pod| pod.lives && owns(object, kind, pod))
        .collect();
    match kind {
        "Deployment" => {
            let named = present_set(object);
            let is_of_it =
                |pod: &&Pod| pod.owner.as_ref().map(|owner| owner.name.as_str()) == named;
            if named.is_some() && own.iter().any(is_of_it) {
                own.retain(is_of_it);
            } else {
                keep_newest(&mut own, |pod| pod.template_hash.as_deref());
            }
        }
        "DaemonSet" if renews_by_itself(object) => {
            keep_newest(&mut own, |pod| pod.revision_hash.as_deref());
        }
        "StatefulSet" if renews_by_itself(object) && partition(object) == 0 => {
            let wanted = object["status"]["updateRevision"].as_str();
            let is_updated = |pod: &&Pod| pod.revision_hash.as_deref() == wanted;
            // Before the first one is replaced, a pod of the former revision can hold up the rollout.
            if wanted.is_some() && own.iter().any(is_updated) {
                own.retain(is_updated);
            }
        }
        // Pods of a former revision that stay on purpose count like the others.
        _ => {}
    }
    own
}

/// The `ReplicaSet` of the present revision, as the controller of a Deployment names it in what it says of its progress.
/// Times alone don't tell revisions apart that follow each other within a second.
fn present_set(object: &Value) -> Option<&str> {
    let status = &object["status"];
    if status["observedGeneration"] != object["metadata"]["generation"] {
        return None;
    }
    let mut conditions = status["conditions"].as_array()?.iter();
    let progress = conditions.find(|one| one["type"] == "Progressing")?;
    progress["message"].as_str()?.split('"').nth(1)
}

/// Whether a pod is the workload's own; labels alone may select the pods of others, too.
fn owns(object: &Value, kind: &str, pod: &Pod) -> bool {
    let Some(owner) = &pod.owner else {
        return true;
    };
    let metadata = &object["metadata"];
    if kind != "Deployment" {
        let uid = text(&metadata["uid"]);
        return uid.is_empty() || owner.uid.is_empty() || owner.uid == uid;
    }
    // In between is a ReplicaSet that bears the Deployment's name, cut if it is a very long one.
    let hash = pod.template_hash.as_deref().unwrap_or_default();
    let stem = owner
        .name
        .strip_suffix(hash)
        .and_then(|stem| stem.strip_suffix('-'));
    owner.kind == "ReplicaSet"
        && stem.is_some_and(|stem| {
            let name = text(&metadata["name"]);
            stem == name || (stem.len() > LONG_NAME && name.starts_with(stem))
        })
}

/// Leaves the pods of the revision that made a pod last. Of two revisions that made one in the same
/// second, it is the one whose oldest pod is younger.
fn keep_newest<'a>(pods: &mut Vec<&'a Pod>, revision: impl Fn(&'a Pod) -> Option<&'a str>) {
    let mut ages = BTreeMap::new();
    for pod in pods.iter() {
        let (newest, oldest) = ages
            .entry(revision(pod))
            .or_insert((pod.created, pod.created));
        *newest = pod.created.max(*newest);
        *oldest = pod.created.min(*oldest);
    }
    let newest = ages.into_iter().max_by_key(|(_, age)| *age);
    if let Some((newest, _)) = newest {
        pods.retain(|pod| revision(pod) == newest);
    }
}

#[cfg(test)]
mod tests;
