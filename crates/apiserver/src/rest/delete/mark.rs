//! What a delete leaves on an object that can't go at once.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{super::Request, DeleteOptions, FOREGROUND, ORPHAN, Propagation};
use crate::{clock, quirks, strategy};

/// How long a pod may take to end when nobody says.
const POD_GRACE_SECONDS: i64 = 30;

/// Whether nothing holds the object.
pub(super) fn may_go(object: &Value) -> bool {
    let held_namespace = object["kind"] == "Namespace"
        && object["apiVersion"] == "v1"
        && object["spec"]["finalizers"]
            .as_array()
            .is_some_and(|list| !list.is_empty());
    finalizers(object).is_empty()
        && !held_namespace
        && object["metadata"]["deletionGracePeriodSeconds"]
            .as_i64()
            .unwrap_or(0)
            == 0
}

pub(super) fn finalizers(object: &Value) -> Vec<String> {
    let list = object["metadata"]["finalizers"].as_array();
    list.into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

/// The object with everything on it that this delete asks for.
pub(super) fn mark(request: &Request, options: &DeleteOptions, object: &Value) -> Value {
    let mut marked = object.clone();
    if !quirks::without_garbage_collection(&request.resource) {
        let wanted = options.propagation(request, object);
        let mut names = finalizers(object);
        names.retain(|name| name != ORPHAN && name != FOREGROUND);
        match wanted {
            Propagation::Orphan => names.push(ORPHAN.to_owned()),
            Propagation::Foreground => names.push(FOREGROUND.to_owned()),
            Propagation::Background => {}
        }
        if names != finalizers(object)
            && let Some(metadata) = marked["metadata"].as_object_mut()
        {
            if names.is_empty() {
                metadata.remove("finalizers");
            } else {
                metadata.insert("finalizers".to_owned(), json!(names));
            }
        }
    }
    let now = request.shared.clock.now();
    if strategy::is_definition(&request.resource) {
        crate::life::definitions::mark_deleted(&mut marked, now);
    }
    if is_graceful(request) {
        mark_gracefully(options, &mut marked, now);
    } else if object["metadata"]["deletionTimestamp"].is_null() {
        mark_held(request, &mut marked, now);
    }
    marked
}

/// Marks an object that something holds; one that nothing holds goes as it is.
fn mark_held(request: &Request, object: &mut Value, now: Timestamp) {
    let namespace = object["kind"] == "Namespace" && object["apiVersion"] == "v1";
    if finalizers(object).is_empty() && !namespace {
        return;
    }
    set_deletion(object, now, 0);
    if namespace {
        object["status"]["phase"] = json!("Terminating");
    }
    // Two kinds end in a way of their own, and know no grace.
    if namespace || strategy::is_definition(&request.resource) {
        if let Some(metadata) = object["metadata"].as_object_mut() {
            metadata.remove("deletionGracePeriodSeconds");
        }
    } else {
        bump_generation(object);
    }
}

/// Only pods have a time in which to end.
pub(super) fn is_graceful(request: &Request) -> bool {
    let resource = &request.resource;
    resource.is_built_in() && resource.group.is_empty() && resource.plural == "pods"
}

/// Starts a pod's last seconds, or makes them fewer: they are never more than once promised.
fn mark_gracefully(options: &DeleteOptions, pod: &mut Value, now: Timestamp) {
    let Some(at) = pod["metadata"]["deletionTimestamp"].as_str() else {
        set_deletion(pod, now, first_grace(options, pod));
        bump_generation(pod);
        return;
    };
    let promised = pod["metadata"]["deletionGracePeriodSeconds"]
        .as_i64()
        .unwrap_or(0);
    let Some(asked) = options.grace_seconds.map(at_least_a_second) else {
        return;
    };
    if asked >= promised {
        return;
    }
    let earlier = at
        .parse::<Timestamp>()
        .and_then(|at| at.checked_sub(SignedDuration::from_secs(promised - asked)))
        .unwrap_or(now);
    let (at, grace) = if earlier < now {
        (now, asked.min(1))
    } else {
        (earlier, asked)
    };
    pod["metadata"]["deletionTimestamp"] = json!(clock::seconds(at));
    pod["metadata"]["deletionGracePeriodSeconds"] = json!(grace);
}

/// A pod that runs nowhere, or no more, needs no time.
fn first_grace(options: &DeleteOptions, pod: &Value) -> i64 {
    let scheduled = pod["spec"]["nodeName"]
        .as_str()
        .is_some_and(|node| !node.is_empty());
    let over = matches!(
        pod["status"]["phase"].as_str(),
        Some("Succeeded" | "Failed")
    );
    if !scheduled || over {
        return 0;
    }
    let own = &pod["spec"]["terminationGracePeriodSeconds"];
    let grace = options.grace_seconds;
    at_least_a_second(grace.unwrap_or_else(|| own.as_i64().unwrap_or(POD_GRACE_SECONDS)))
}

/// A negative time means the shortest.
fn at_least_a_second(grace: i64) -> i64 {
    if grace < 0 { 1 } else { grace }
}

fn set_deletion(object: &mut Value, now: Timestamp, grace: i64) {
    let at = now
        .saturating_add(SignedDuration::from_secs(grace))
        .unwrap_or(now);
    object["metadata"]["deletionTimestamp"] = json!(clock::seconds(at));
    object["metadata"]["deletionGracePeriodSeconds"] = json!(grace);
}

fn bump_generation(object: &mut Value) {
    if let Some(generation) = object["metadata"]["generation"]
        .as_i64()
        .filter(|value| *value > 0)
    {
        object["metadata"]["generation"] = json!(generation + 1);
    }
}
