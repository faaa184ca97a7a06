//! Metadata: names by the rule of the kind, and how often real servers repeat themselves on updates.

use serde_json::{Value, json};

use super::report::{Report, text};
use crate::{
    field_error::FieldError,
    names::{self, NameRule},
};

fn name_rule(kind: &str) -> NameRule {
    match kind {
        "Namespace" | "Service" | "StatefulSet" => names::name_is_label,
        "ClusterRole" | "ClusterRoleBinding" | "Role" | "RoleBinding" | "LeaseCandidate" => {
            names::name_is_path_segment
        }
        // Nobody checks names of events but the path.
        "Event" | "IPAddress" => names::name_is_path_segment,
        _ => names::name_is_subdomain,
    }
}

/// Metadata of a new object.
pub(super) fn create(report: &mut Report, kind: &str, namespaced: bool, object: &Value) {
    let metadata = &object["metadata"];
    let errors = names::validate_object_meta(metadata, namespaced, name_rule(kind), "metadata");
    report.errors.extend(errors);
    report
        .errors
        .extend(names::validate_kube_finalizers(metadata, "metadata"));
    let name = text(&metadata["name"]);
    if kind == "CronJob" && name.len() > 52 {
        report.errors.push(FieldError::invalid(
            "metadata.name",
            json!(name),
            "must be no more than 52 characters",
        ));
    }
}

/// Metadata of an update. Several layers of a real server check it, and each reports what it finds.
pub(super) fn update(report: &mut Report, kind: &str, new: &Value, old: &Value) {
    let layers = match kind {
        "Event" | "PodDisruptionBudget" => 2,
        "APIService"
        | "CSIStorageCapacity"
        | "CertificateSigningRequest"
        | "ClusterRole"
        | "ClusterRoleBinding"
        | "ConfigMap"
        | "ControllerRevision"
        | "DeviceClass"
        | "Endpoints"
        | "IPAddress"
        | "Ingress"
        | "IngressClass"
        | "Job"
        | "Namespace"
        | "Node"
        | "PersistentVolume"
        | "PersistentVolumeClaim"
        | "Pod"
        | "ResourceClaim"
        | "ResourceClaimTemplate"
        | "Role"
        | "RoleBinding"
        | "RuntimeClass"
        | "Secret"
        | "ServiceAccount"
        | "StorageClass"
        | "VolumeAttributesClass" => 4,
        _ => 3,
    };
    let (new, old) = (&new["metadata"], &old["metadata"]);
    let changes = names::validate_object_meta_change(new, old, "metadata");
    let shape = names::validate_object_meta_shape(new, "metadata");
    // All layers look at the new state, two compare it with the old one.
    let comparing = if layers > 2 { 2 } else { 1 };
    for layer in 0..layers {
        if layer < comparing {
            report.errors.extend(changes.iter().cloned());
        }
        report.errors.extend(shape.iter().cloned());
    }
    // Two layers of some kinds check the object as if it were new.
    if layers == 4 {
        let errors = names::validate_kube_finalizers(new, "metadata");
        report.errors.extend(errors.iter().cloned());
        report.errors.extend(errors);
    }
}
