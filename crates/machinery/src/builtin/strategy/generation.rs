//! `metadata.generation`: which kinds count, and what counts as a change.

use serde_json::{Map, Value, json};

use crate::builtin::fields::object_or_new;

enum Counts {
    /// Changes of these top-level fields.
    Fields(&'static [&'static str]),
    /// Changes of the specification or of annotations.
    SpecAndAnnotations,
    /// Changes of anything but metadata, and of labels.
    ContentAndLabels,
    /// Nothing: it is one for ever.
    Never,
}

fn counts(kind: &str) -> Option<Counts> {
    Some(match kind {
        "CronJob"
        | "CustomResourceDefinition"
        | "DaemonSet"
        | "DeviceClass"
        | "FlowSchema"
        | "Ingress"
        | "IngressClass"
        | "Job"
        | "MutatingAdmissionPolicy"
        | "MutatingAdmissionPolicyBinding"
        | "NetworkPolicy"
        | "Pod"
        | "PodDisruptionBudget"
        | "PriorityLevelConfiguration"
        | "ReplicaSet"
        | "ReplicationController"
        | "ResourceSlice"
        | "StatefulSet"
        | "ValidatingAdmissionPolicy"
        | "ValidatingAdmissionPolicyBinding" => Counts::Fields(&["spec"]),
        "Deployment" => Counts::SpecAndAnnotations,
        "EndpointSlice" => Counts::ContentAndLabels,
        "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration" => {
            Counts::Fields(&["webhooks"])
        }
        "PodTemplate" => Counts::Fields(&["template"]),
        "PriorityClass" => Counts::Never,
        _ => return None,
    })
}

/// Whether new objects of the kind start at generation one.
pub(super) fn has(kind: &str) -> bool {
    counts(kind).is_some()
}

/// Keeps the old generation, or counts one up.
pub(super) fn update(kind: &str, new: &mut Map<String, Value>, old: &Value) {
    let changed = match counts(kind) {
        None if kind == "CSIDriver" => new.get("spec") != old.get("spec"),
        None | Some(Counts::Never) => false,
        Some(Counts::Fields(fields)) => fields
            .iter()
            .any(|field| new.get(*field) != old.get(*field)),
        Some(Counts::SpecAndAnnotations) => {
            new.get("spec") != old.get("spec") || differs(new, old, "annotations")
        }
        Some(Counts::ContentAndLabels) => {
            let without_metadata = |object: &Map<String, Value>| {
                let mut rest = object.clone();
                rest.remove("metadata");
                rest
            };
            let before = old.as_object().map(without_metadata);
            before != Some(without_metadata(new)) || differs(new, old, "labels")
        }
    };
    let generation = old["metadata"]["generation"].as_i64().unwrap_or(0) + i64::from(changed);
    let metadata = object_or_new(new, "metadata");
    if generation == 0 {
        metadata.remove("generation");
    } else {
        metadata.insert("generation".into(), json!(generation));
    }
}

fn differs(new: &Map<String, Value>, old: &Value, field: &str) -> bool {
    let empty = json!({});
    let part = |metadata: Option<&Value>| {
        let part = metadata.and_then(|metadata| metadata.get(field));
        part.filter(|part| !part.is_null())
            .unwrap_or(&empty)
            .clone()
    };
    part(new.get("metadata")) != part(old.get("metadata"))
}
