//! Defaults of workloads: update strategies, jobs and what follows from pod labels.

use serde_json::{Map, Value, json};

use crate::builtin::fields::{count, object, object_or_new, set_unset, text, unset};

type Object = Map<String, Value>;

/// Rolling, a quarter at a time.
pub(super) fn deployment_strategy(strategy: &mut Object) {
    set_unset(strategy, "type", "RollingUpdate");
    if text(strategy, "type") == "RollingUpdate" {
        let rolling = object_or_new(strategy, "rollingUpdate");
        set_unset(rolling, "maxUnavailable", "25%");
        set_unset(rolling, "maxSurge", "25%");
    }
}

/// Rolling, one node at a time.
pub(super) fn daemon_set_strategy(strategy: &mut Object) {
    set_unset(strategy, "type", "RollingUpdate");
    if text(strategy, "type") == "RollingUpdate" {
        let rolling = object_or_new(strategy, "rollingUpdate");
        set_unset(rolling, "maxUnavailable", 1);
        set_unset(rolling, "maxSurge", 0);
    }
}

/// Rolling over all ordinals.
pub(super) fn stateful_set_strategy(strategy: &mut Object) {
    if unset(strategy, "type") {
        strategy.insert("type".into(), json!("RollingUpdate"));
        object_or_new(strategy, "rollingUpdate");
    }
    if text(strategy, "type") == "RollingUpdate"
        && let Some(rolling) = object(strategy, "rollingUpdate")
    {
        set_unset(rolling, "partition", 0);
    }
}

/// A job runs one pod once, and is labelled like its pods.
pub(super) fn job(job: &mut Object) {
    let spec = object_or_new(job, "spec");
    if unset(spec, "completions") && unset(spec, "parallelism") {
        spec.insert("completions".into(), json!(1));
    }
    set_unset(spec, "parallelism", 1);
    let backoff = if unset(spec, "backoffLimitPerIndex") {
        6
    } else {
        i32::MAX
    };
    set_unset(spec, "backoffLimit", backoff);
    set_unset(spec, "completionMode", "NonIndexed");
    set_unset(spec, "suspend", false);
    let replacement = if unset(spec, "podFailurePolicy") {
        "TerminatingOrFailed"
    } else {
        "Failed"
    };
    set_unset(spec, "podReplacementPolicy", replacement);
    set_unset(spec, "manualSelector", false);
    if let Some(labels) = template_labels(spec) {
        labels_if_none(job, labels);
    }
}

/// Selector and labels of a controller are those of its pods.
pub(super) fn replication_controller(controller: &mut Object) {
    let spec = object_or_new(controller, "spec");
    let Some(labels) = template_labels(spec) else {
        return;
    };
    if count(spec, "selector") == 0 {
        spec.insert("selector".into(), labels.clone());
    }
    labels_if_none(controller, labels);
}

fn template_labels(spec: &Object) -> Option<Value> {
    let labels = spec.get("template")?.get("metadata")?.get("labels")?;
    (!labels.is_null()).then(|| labels.clone())
}

fn labels_if_none(owner: &mut Object, labels: Value) {
    let metadata = object_or_new(owner, "metadata");
    if count(metadata, "labels") == 0 {
        metadata.insert("labels".into(), labels);
    }
}
