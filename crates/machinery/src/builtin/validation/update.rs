//! What an update may not change.

use serde_json::{Value, json};

use super::{
    job, pod_update,
    report::{Report, amount, list, text},
    service,
};

const IMMUTABLE: &str = "field is immutable";
const FROZEN: &str = "field is immutable when `immutable` is set";

/// Kinds whose content is checked before the changes are.
pub(super) fn checks_content_first(kind: &str) -> bool {
    matches!(
        kind,
        "Pod"
            | "Deployment"
            | "EndpointSlice"
            | "ReplicaSet"
            | "Job"
            | "PersistentVolume"
            | "PersistentVolumeClaim"
            | "ResourceQuota"
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
        "Job" => changed_job(report, new, old),
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
        "Service" => service::update(report, spec, old_spec),
        "ResourceQuota" => quota_scopes(report, spec, old_spec),
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
        restore(&mut allowed, old, field);
    }
    if &allowed != old {
        let why = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
        report.forbidden("spec", why);
    }
}

fn changed_job(report: &mut Report, job: &Value, old_job: &Value) {
    let (new, old) = (&job["spec"], &old_job["spec"]);
    // Checked as a state and as a change, each time with all its rules.
    job::selecting_job_spec(report, new);
    if new["completionMode"] != "Indexed" {
        same(report, new, old, "completions", "spec.completions");
    } else if new["completions"].is_number()
        && new["completions"] != old["completions"]
        && new["completions"] != new["parallelism"]
    {
        let why = "can only be modified in tandem with spec.parallelism";
        report.invalid("spec.completions", &new["completions"], why);
    }
    same(report, new, old, "selector", "spec.selector");
    job_template(report, job, old_job);
    for field in [
        "completionMode",
        "podFailurePolicy",
        "backoffLimitPerIndex",
        "managedBy",
        "successPolicy",
    ] {
        same(report, new, old, field, &format!("spec.{field}"));
    }
}

/// The pods of a job stay as they are, but while it rests, where they run and what they need may be decided anew.
fn job_template(report: &mut Report, job: &Value, old: &Value) {
    let mut template = job["spec"]["template"].clone();
    let before = &old["spec"]["template"];
    let status = &old["status"];
    let suspended = old["spec"]["suspend"] == json!(true);
    let never_ran = status["startTime"].is_null();
    let stopped = list(&status["conditions"])
        .iter()
        .any(|condition| condition["type"] == "Suspended" && condition["status"] == "True");
    let idle = status["active"].as_i64().unwrap_or_default() == 0;
    let rests = suspended && (never_ran || stopped) && idle;
    if rests {
        for field in ["labels", "annotations"] {
            restore(&mut template["metadata"], &before["metadata"], field);
        }
        for field in ["nodeSelector", "tolerations", "schedulingGates"] {
            restore(&mut template["spec"], &before["spec"], field);
        }
        node_affinity_may_change(&mut template["spec"], &before["spec"]);
        for field in ["containers", "initContainers"] {
            let old = list(&before["spec"][field]);
            let containers = template["spec"]
                .get_mut(field)
                .and_then(Value::as_array_mut);
            let containers = containers.filter(|containers| containers.len() == old.len());
            for (container, old) in containers.into_iter().flatten().zip(old) {
                if container["name"] == old["name"] {
                    restore(container, old, "resources");
                }
            }
        }
    }
    if template != *before {
        let path = if rests {
            "spec.template.spec"
        } else {
            "spec.template"
        };
        report.invalid(path, &job["spec"]["template"], IMMUTABLE);
    }
}

fn node_affinity_may_change(spec: &mut Value, old: &Value) {
    if !spec["affinity"].is_object() {
        spec["affinity"] = json!({});
    }
    restore(&mut spec["affinity"], &old["affinity"], "nodeAffinity");
    if spec["affinity"] == json!({}) {
        restore(spec, old, "affinity");
    }
}

/// Gives a field the value that it had.
pub(super) fn restore(object: &mut Value, old: &Value, field: &str) {
    match old.get(field).filter(|value| !value.is_null()) {
        Some(value) => object[field] = value.clone(),
        None => {
            if let Some(fields) = object.as_object_mut() {
                fields.remove(field);
            }
        }
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
        restore(&mut allowed, old, field);
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
    same(report, new, old, "volumeMode", "volumeMode");
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

fn quota_scopes(report: &mut Report, new: &Value, old: &Value) {
    let scopes = |spec: &Value| list(&spec["scopes"]).to_vec();
    let (now, before) = (scopes(new), scopes(old));
    let same = now.iter().all(|scope| before.contains(scope))
        && before.iter().all(|scope| now.contains(scope));
    if !same {
        report.invalid("spec.scopes", &new["scopes"], IMMUTABLE);
    }
}
