//! What creating and updating does to an object of a built-in kind: which fields clients may not set, when
//! `generation` grows, and what a status update may touch.

mod generation;
mod job;
mod service;
mod topology;

use serde_json::{Map, Value, json};

use super::fields::{object, object_or_new, objects, text, unset};
use super::quality;

type Object = Map<String, Value>;

/// Kinds whose status only the `status` subresource writes; new objects start with an empty one.
const OWN_STATUS: [&str; 26] = [
    "APIService",
    "CertificateSigningRequest",
    "CronJob",
    "CustomResourceDefinition",
    "DaemonSet",
    "Deployment",
    "FlowSchema",
    "HorizontalPodAutoscaler",
    "Ingress",
    "Job",
    "Namespace",
    "Node",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Pod",
    "PodDisruptionBudget",
    "PriorityLevelConfiguration",
    "ReplicaSet",
    "ReplicationController",
    "ResourceClaim",
    "ResourceQuota",
    "Service",
    "ServiceCIDR",
    "StatefulSet",
    "ValidatingAdmissionPolicy",
    "VolumeAttachment",
];

/// Kinds whose status update leaves all metadata alone.
const FROZEN_METADATA: [&str; 3] = [
    "APIService",
    "CustomResourceDefinition",
    "ValidatingAdmissionPolicy",
];

/// Readies a new object that already has name, uid and defaults. `now` is the time in the form of
/// `metadata.creationTimestamp`.
pub fn prepare_for_create(kind: &str, object: &mut Value, now: &str) {
    let pod_class = (kind == "Pod").then(|| quality::class(object));
    let Some(object) = object.as_object_mut() else {
        return;
    };
    if OWN_STATUS.contains(&kind) && kind != "Node" {
        object.insert("status".into(), json!({}));
    }
    if generation::has(kind) {
        object_or_new(object, "metadata").insert("generation".into(), json!(1));
    }
    match kind {
        "Lease" => without_coordination(object),
        "Pod" => new_pod(object, pod_class.unwrap_or_default(), now),
        "Namespace" => new_namespace(object),
        "Job" => job::generate_selector(object),
        "DaemonSet" => {
            let given = current_template_generation(&object["metadata"]);
            template_generation(object, given.max(1));
        }
        "PersistentVolume" => {
            let status = json!({"phase": "Pending", "lastPhaseTransitionTime": now});
            object.insert("status".into(), status);
        }
        "PersistentVolumeClaim" => data_sources(object),
        "ServiceAccount" => secret_names(object),
        "EndpointSlice" => topology::drop(object, &Value::Null),
        "Service" => service::new(object),
        _ => {}
    }
}

/// Readies the new state of an object: restores what this update may not change, and counts generations.
pub fn prepare_for_update(kind: &str, new: &mut Value, old: &Value) {
    let Some(new) = new.as_object_mut() else {
        return;
    };
    if OWN_STATUS.contains(&kind) {
        restore(new, old, "status");
    }
    match kind {
        "Namespace" => {
            let spec = object_or_new(new, "spec");
            restore(spec, &old["spec"], "finalizers");
        }
        "CertificateSigningRequest" => restore(new, old, "spec"),
        "PersistentVolumeClaim" => data_sources(new),
        "ServiceAccount" => secret_names(new),
        "Lease" => without_coordination(new),
        "Service" => service::update(new, old),
        "DaemonSet" => {
            let template = |object: &Value| object["spec"]["template"].clone();
            let current = current_template_generation(&old["metadata"]);
            let changed = template(old) != new["spec"]["template"];
            template_generation(new, current + i64::from(changed));
        }
        "Secret" if unset(new, "type") => restore(new, old, "type"),
        _ => {}
    }
    generation::update(kind, new, old);
    // Counted as a change although nothing comes of it.
    if kind == "EndpointSlice" {
        topology::drop(new, old);
    }
}

/// Keeps or counts the generation after a change through a subresource such as `ephemeralcontainers`.
pub fn count_generation(kind: &str, new: &mut Value, old: &Value) {
    if let Some(new) = new.as_object_mut() {
        generation::update(kind, new, old);
    }
}

/// Dates the conditions of a certificate request: an update now, a transition now if the status changed.
pub fn date_conditions(new: &mut Value, old: &Value, now: &str) {
    let before = old["status"]["conditions"].as_array();
    let conditions = new
        .pointer_mut("/status/conditions")
        .and_then(Value::as_array_mut);
    for condition in conditions.into_iter().flatten() {
        if condition["lastUpdateTime"].is_null() {
            condition["lastUpdateTime"] = json!(now);
        }
        if condition["lastTransitionTime"].is_null() {
            let known = before.into_iter().flatten().find(|known| {
                known["type"] == condition["type"] && known["status"] == condition["status"]
            });
            condition["lastTransitionTime"] = match known {
                Some(known) if !known["lastTransitionTime"].is_null() => {
                    known["lastTransitionTime"].clone()
                }
                _ => json!(now),
            };
        }
    }
}

/// Readies a status update: all but the status (and metadata that it may change) is as before.
pub fn prepare_for_status_update(kind: &str, new: &mut Value, old: &Value, now: &str) {
    let Some(new) = new.as_object_mut() else {
        return;
    };
    let (metadata, status) = (new.remove("metadata"), new.remove("status"));
    *new = old.as_object().cloned().unwrap_or_default();
    let mut metadata = metadata.unwrap_or_default();
    if FROZEN_METADATA.contains(&kind) {
        // Who owns the new status is told in the metadata as well.
        let (version, owners) = (
            metadata["resourceVersion"].take(),
            metadata["managedFields"].take(),
        );
        metadata = old["metadata"].clone();
        metadata["resourceVersion"] = version;
        metadata["managedFields"] = owners;
    }
    if let Value::Object(fields) = &mut metadata {
        let kept: &[&str] = match kind {
            "Deployment" => &["labels", "generation"],
            "Pod" => &["ownerReferences", "generation"],
            _ => &["generation"],
        };
        for field in kept {
            restore(fields, &old["metadata"], field);
        }
    }
    new.insert("metadata".into(), metadata);
    new.insert("status".into(), status.unwrap_or_else(|| json!({})));
    match kind {
        "Pod" => {
            let status = object_or_new(new, "status");
            if unset(status, "qosClass") {
                restore(status, &old["status"], "qosClass");
            }
        }
        "PersistentVolume" => phase_transition(new, old, now),
        _ => {}
    }
}

const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

/// Puts back the old value of a field.
fn restore(new: &mut Object, old: &Value, field: &str) {
    match old.get(field) {
        Some(value) => new.insert(field.to_owned(), value.clone()),
        None => new.remove(field),
    };
}

fn new_pod(pod: &mut Object, class: &str, now: &str) {
    let mut status = json!({"phase": "Pending", "qosClass": class});
    let gates = object(pod, "spec").and_then(|spec| spec.get("schedulingGates"));
    if gates
        .and_then(Value::as_array)
        .is_some_and(|gates| !gates.is_empty())
    {
        status["conditions"] = json!([{
            "type": "PodScheduled",
            "status": "False",
            "reason": "SchedulingGated",
            "message": "Scheduling is blocked due to non-empty scheduling gates",
            "lastProbeTime": null,
            "lastTransitionTime": now,
        }]);
    }
    pod.insert("status".into(), status);
}

fn new_namespace(namespace: &mut Object) {
    namespace.insert("status".into(), json!({"phase": "Active"}));
    let spec = object_or_new(namespace, "spec");
    let finalizers = spec.entry("finalizers").or_insert_with(|| json!([]));
    if finalizers.is_null() {
        *finalizers = json!([]);
    }
    if let Value::Array(finalizers) = finalizers
        && !finalizers.contains(&json!("kubernetes"))
    {
        finalizers.push(json!("kubernetes"));
    }
}

fn current_template_generation(metadata: &Value) -> i64 {
    let text = metadata["annotations"][TEMPLATE_GENERATION].as_str();
    text.and_then(|text| text.parse().ok()).unwrap_or_default()
}

fn template_generation(set: &mut Object, number: i64) {
    let annotations = object_or_new(object_or_new(set, "metadata"), "annotations");
    annotations.insert(TEMPLATE_GENERATION.into(), json!(number.to_string()));
}

/// References keep nothing but the name.
fn secret_names(account: &mut Object) {
    for secret in objects(account, "secrets") {
        secret.retain(|field, _| field == "name");
    }
}

/// The old and the new field for the source of a volume say the same, where both can.
fn data_sources(claim: &mut Object) {
    let spec = object_or_new(claim, "spec");
    if let Some(source) = object(spec, "dataSource") {
        let group = text(source, "apiGroup");
        let kind = text(source, "kind");
        let claim = group.is_empty() && kind == "PersistentVolumeClaim";
        let snapshot = group == "snapshot.storage.k8s.io" && kind == "VolumeSnapshot";
        if !claim && !snapshot {
            spec.remove("dataSource");
        }
    }
    let (source, reference) = (spec.get("dataSource"), spec.get("dataSourceRef"));
    match (source.cloned(), reference.cloned()) {
        (Some(source), None) => {
            spec.insert("dataSourceRef".into(), source);
        }
        (None, Some(reference)) if reference.get("namespace").is_none() => {
            spec.insert("dataSource".into(), reference);
        }
        _ => {}
    }
}

fn phase_transition(new: &mut Object, old: &Value, now: &str) {
    const FIELD: &str = "lastPhaseTransitionTime";
    let status = object_or_new(new, "status");
    let same_phase = status.get("phase") == old["status"].get("phase");
    let given = status.get(FIELD).filter(|time| !time.is_null());
    if same_phase && given.is_none() {
        restore(status, &old["status"], FIELD);
    } else if !same_phase && (given.is_none() || given == old["status"].get(FIELD)) {
        status.insert(FIELD.into(), json!(now));
    }
}

/// Coordinated leader election is off on servers that nobody told otherwise, and its fields are dropped.
fn without_coordination(lease: &mut Object) {
    let spec = object_or_new(lease, "spec");
    spec.remove("strategy");
    spec.remove("preferredHolder");
}
