//! What an update may not change.

use serde_json::{Value, json};

use super::{
    pod_update,
    report::{Report, amount, text},
};

const IMMUTABLE: &str = "field is immutable";
const FROZEN: &str = "field is immutable when `immutable` is set";

/// Kinds whose content is checked before the changes are.
pub(super) fn checks_content_first(kind: &str) -> bool {
    matches!(
        kind,
        "Pod"
            | "Deployment"
            | "ReplicaSet"
            | "Job"
            | "PersistentVolume"
            | "PersistentVolumeClaim"
            | "RoleBinding"
            | "StatefulSet"
    )
}

/// How often the content of such a kind is checked: two layers of a real server do it for some.
pub(super) fn checks_of_content(kind: &str) -> usize {
    match kind {
        "PersistentVolume" => 2,
        _ => 1,
    }
}

/// Kinds whose content is checked on updates at all.
pub(super) fn checks_content(kind: &str) -> bool {
    !matches!(
        kind,
        "StorageClass" | "PriorityClass" | "CertificateSigningRequest" | "RuntimeClass"
    )
}

/// Compares the new state with the old one.
pub(super) fn check(report: &mut Report, kind: &str, new: &Value, old: &Value) {
    let (spec, old_spec) = (&new["spec"], &old["spec"]);
    match kind {
        "Pod" => pod_update::check(report, spec, old_spec),
        "Deployment" | "ReplicaSet" | "DaemonSet" => {
            same(report, spec, old_spec, "selector", "spec.selector");
        }
        "StatefulSet" => stateful_set(report, spec, old_spec),
        "Job" => job(report, spec, old_spec),
        "ConfigMap" => frozen(report, new, old, &["data", "binaryData"]),
        "Secret" => {
            same(report, new, old, "type", "type");
            frozen(report, new, old, &["data"]);
        }
        "RoleBinding" | "ClusterRoleBinding" if new["roleRef"] != old["roleRef"] => {
            let role = &new["roleRef"];
            let shown = format!(
                "{{\"APIGroup\":{},\"Kind\":{},\"Name\":{}}}",
                role["apiGroup"], role["kind"], role["name"]
            );
            report.invalid_shown("roleRef", &shown, "cannot change roleRef");
        }
        "PersistentVolumeClaim" => claim(report, spec, old_spec, old),
        "PersistentVolume" => volume(report, spec, old_spec),
        "IngressClass" => same(report, spec, old_spec, "controller", "spec.controller"),
        "StorageClass" => storage_class(report, new, old),
        "PriorityClass" => {
            if new["value"] != old["value"] {
                report.forbidden("value", "may not be changed in an update.");
            }
            same(report, new, old, "preemptionPolicy", "preemptionPolicy");
        }
        "EndpointSlice" => same(report, new, old, "addressType", "addressType"),
        "RuntimeClass" => same(report, new, old, "handler", "handler"),
        "Node" if !old_spec["podCIDRs"].is_null() && spec["podCIDRs"] != old_spec["podCIDRs"] => {
            let why = "node updates may not change podCIDR except from \"\" to valid";
            report.forbidden("spec.podCIDRs", why);
        }
        "Service" => service(report, spec, old_spec),
        _ => {}
    }
}

fn same(report: &mut Report, new: &Value, old: &Value, field: &str, path: &str) {
    if new[field] != old[field] {
        report.invalid(path, &new[field], IMMUTABLE);
    }
}

/// Objects that were declared immutable.
fn frozen(report: &mut Report, new: &Value, old: &Value, fields: &[&str]) {
    if old["immutable"] != json!(true) {
        return;
    }
    if new["immutable"] != json!(true) {
        report.forbidden("immutable", FROZEN);
    }
    for field in fields {
        if new[*field] != old[*field] {
            report.forbidden(*field, FROZEN);
        }
    }
}

fn stateful_set(report: &mut Report, new: &Value, old: &Value) {
    let mut allowed = new.clone();
    for field in [
        "replicas",
        "ordinals",
        "template",
        "updateStrategy",
        "revisionHistoryLimit",
        "persistentVolumeClaimRetentionPolicy",
        "minReadySeconds",
    ] {
        match old.get(field) {
            Some(value) => allowed[field] = value.clone(),
            None => {
                if let Some(fields) = allowed.as_object_mut() {
                    fields.remove(field);
                }
            }
        }
    }
    if &allowed != old {
        let why = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
        report.forbidden("spec", why);
    }
}

fn job(report: &mut Report, new: &Value, old: &Value) {
    // Checked as a state and as a change, each time with all its rules.
    super::workload::selecting_job_spec(report, new);
    let elastic = new["completionMode"] == "Indexed"
        && old["completionMode"] == "Indexed"
        && new["completions"] == new["parallelism"];
    if !elastic {
        same(report, new, old, "completions", "spec.completions");
    }
    same(report, new, old, "selector", "spec.selector");
    let mut template = new["template"].clone();
    if old["suspend"] == json!(true) {
        scheduling_may_change(&mut template, &old["template"]);
    }
    if template != old["template"] {
        report.invalid_shown("spec.template", IMMUTABLE, "");
    }
    same(report, new, old, "completionMode", "spec.completionMode");
    same(
        report,
        new,
        old,
        "podFailurePolicy",
        "spec.podFailurePolicy",
    );
    same(
        report,
        new,
        old,
        "backoffLimitPerIndex",
        "spec.backoffLimitPerIndex",
    );
    same(report, new, old, "managedBy", "spec.managedBy");
}

/// While a job is suspended, where its pods run may still be decided.
fn scheduling_may_change(template: &mut Value, old: &Value) {
    for field in ["labels", "annotations"] {
        template["metadata"][field] = old["metadata"][field].clone();
    }
    for field in ["nodeSelector", "affinity", "tolerations", "schedulingGates"] {
        template["spec"][field] = old["spec"][field].clone();
    }
    if let (Some(fields), Some(old)) = (template["spec"].as_object_mut(), old["spec"].as_object()) {
        fields.retain(|name, value| !value.is_null() || old.contains_key(name));
    }
    if let (Some(fields), Some(old)) = (
        template["metadata"].as_object_mut(),
        old["metadata"].as_object(),
    ) {
        fields.retain(|name, value| !value.is_null() || old.contains_key(name));
    }
}

fn claim(report: &mut Report, new: &Value, old: &Value, old_claim: &Value) {
    let bound = old_claim["status"]["phase"] == "Bound";
    let mut allowed = new.clone();
    let mut keep = vec!["volumeAttributesClassName"];
    if text(&old["volumeName"]).is_empty() {
        keep.push("volumeName");
    }
    if old["storageClassName"].is_null() {
        keep.push("storageClassName");
    }
    for field in keep {
        match old.get(field) {
            Some(value) => allowed[field] = value.clone(),
            None => {
                if let Some(fields) = allowed.as_object_mut() {
                    fields.remove(field);
                }
            }
        }
    }
    if bound && allowed["resources"]["requests"].is_object() {
        allowed["resources"]["requests"] = old["resources"]["requests"].clone();
    }
    if &allowed != old {
        let why = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
        report.forbidden("spec", why);
    }
    let size = |claim: &Value| amount(&claim["resources"]["requests"]["storage"]);
    let reached = amount(&old_claim["status"]["capacity"]["storage"]);
    if size(new) < size(old) && size(new) <= reached {
        let path = "spec.resources.requests.storage";
        report.forbidden(path, "field can not be less than status.capacity");
    }
    if new["volumeMode"] != old["volumeMode"] {
        report.invalid("volumeMode", &new["volumeMode"], IMMUTABLE);
    }
}

fn volume(report: &mut Report, new: &Value, old: &Value) {
    const SETTINGS: [&str; 9] = [
        "accessModes",
        "capacity",
        "claimRef",
        "mountOptions",
        "nodeAffinity",
        "persistentVolumeReclaimPolicy",
        "storageClassName",
        "volumeAttributesClassName",
        "volumeMode",
    ];
    let source = |spec: &Value| {
        let fields = spec.as_object().into_iter().flatten();
        let source = fields.filter(|(name, _)| !SETTINGS.contains(&name.as_str()));
        source
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect::<Vec<_>>()
    };
    if source(new) != source(old) {
        let why = "spec.persistentvolumesource is immutable after creation";
        report.forbidden("spec.persistentvolumesource", why);
    }
    same(report, new, old, "volumeMode", "spec.volumeMode");
}

fn storage_class(report: &mut Report, new: &Value, old: &Value) {
    for field in [
        "parameters",
        "provisioner",
        "reclaimPolicy",
        "volumeBindingMode",
    ] {
        same(report, new, old, field, field);
    }
}

fn service(report: &mut Report, new: &Value, old: &Value) {
    let (ty, old_ty) = (text(&new["type"]), text(&old["type"]));
    let has_address = |ty: &str| matches!(ty, "ClusterIP" | "NodePort" | "LoadBalancer");
    if !has_address(ty) || !has_address(old_ty) {
        return;
    }
    let first = |spec: &Value| spec["clusterIPs"][0].clone();
    if !first(old).is_null() && first(new) != first(old) {
        let why = "may not change once set";
        report.invalid("spec.clusterIPs[0]", &new["clusterIPs"], why);
    }
}
