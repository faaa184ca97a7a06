//! What may change in the specification of a pod: images, deadlines and additional tolerations.

use serde_json::{Value, json};

use super::{
    pod,
    report::{Report, list, text},
    update::restore,
};

const OTHER_FIELDS: &str = "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

pub(super) fn check(report: &mut Report, new: &Value, old: &Value) {
    for field in ["containers", "initContainers"] {
        for (index, container) in list(&new[field]).iter().enumerate() {
            if text(&container["image"]).is_empty() {
                report.required(format!("spec.{field}[{index}].image"));
            }
        }
    }
    for field in ["containers", "initContainers"] {
        if list(&new[field]).len() != list(&old[field]).len() {
            let why = "pod updates may not add or remove containers";
            report.forbidden(format!("spec.{field}"), why);
            return;
        }
    }
    deadline(report, new, old);
    let additions = tolerations(report, new, old);
    new_gates(report, new, old);
    let mut allowed = new.clone();
    for field in ["containers", "initContainers"] {
        if let Some(containers) = allowed[field].as_array_mut() {
            for (container, old) in containers.iter_mut().zip(list(&old[field])) {
                container["image"] = old["image"].clone();
            }
        } else if let Some(fields) = allowed.as_object_mut() {
            fields.remove(field);
        }
    }
    restore(&mut allowed, old, "activeDeadlineSeconds");
    if additions {
        restore(&mut allowed, old, "tolerations");
    }
    let negative = old["terminationGracePeriodSeconds"]
        .as_i64()
        .is_some_and(|seconds| seconds < 0);
    if negative && new["terminationGracePeriodSeconds"].as_i64() == Some(1) {
        restore(&mut allowed, old, "terminationGracePeriodSeconds");
    }
    restore(&mut allowed, old, "schedulingGates");
    if !list(&old["schedulingGates"]).is_empty() {
        gated(report, &mut allowed, new, old);
    }
    if &allowed != old {
        report.forbidden("spec", OTHER_FIELDS);
    }
}

/// Gates can only be opened.
fn new_gates(report: &mut Report, new: &Value, old: &Value) {
    let before = list(&old["schedulingGates"]);
    for (index, gate) in list(&new["schedulingGates"]).iter().enumerate() {
        if !before.contains(gate) {
            let name = text(&gate["name"]);
            let why = format!("only deletion is allowed, but found new scheduling gate '{name}'");
            report.forbidden(format!("spec.schedulingGates[{index}].name"), &why);
        }
    }
}

/// A pod that is not scheduled yet may still be told more about its node.
fn gated(report: &mut Report, allowed: &mut Value, new: &Value, old: &Value) {
    if new["nodeSelector"] != old["nodeSelector"] {
        let kept = |(key, value): (&String, &Value)| new["nodeSelector"].get(key) == Some(value);
        let before = old["nodeSelector"].as_object();
        if !before.is_none_or(|labels| labels.iter().all(kept)) {
            let why = "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
            report.invalid("spec.nodeSelector", &new["nodeSelector"], why);
        }
        restore(allowed, old, "nodeSelector");
    }
    if new["affinity"]["nodeAffinity"] == old["affinity"]["nodeAffinity"] {
        return;
    }
    node_affinity(
        report,
        &new["affinity"]["nodeAffinity"],
        &old["affinity"]["nodeAffinity"],
    );
    if !allowed["affinity"].is_object() {
        allowed["affinity"] = json!({});
    }
    restore(&mut allowed["affinity"], &old["affinity"], "nodeAffinity");
    let empty = allowed["affinity"] == json!({});
    if empty && !old["affinity"].is_object() {
        restore(allowed, old, "affinity");
    }
}

/// Terms that must hold can get more conditions; preferences are free.
fn node_affinity(report: &mut Report, new: &Value, old: &Value) {
    const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
    let path = format!("spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms");
    let terms = |affinity: &Value| list(&affinity[REQUIRED]["nodeSelectorTerms"]).to_vec();
    let (now, before) = (terms(new), terms(old));
    if !old[REQUIRED].is_object() || before.is_empty() {
        return;
    }
    if now.len() != before.len() {
        let why = "no additions/deletions to non-empty NodeSelectorTerms list are allowed";
        let value = &new[REQUIRED]["nodeSelectorTerms"];
        report.invalid(path, value, why);
        return;
    }
    for (index, (now, before)) in now.iter().zip(&before).enumerate() {
        let unset = |term: &Value| {
            list(&term["matchExpressions"]).is_empty() && list(&term["matchFields"]).is_empty()
        };
        let kept = ["matchExpressions", "matchFields"]
            .iter()
            .all(|field| list(&now[*field]).starts_with(list(&before[*field])));
        if !kept || (unset(before) && !unset(now)) {
            let why = "only additions are allowed (no mutations or deletions)";
            report.invalid(format!("{path}[{index}]"), now, why);
        }
    }
}

fn deadline(report: &mut Report, new: &Value, old: &Value) {
    let field = "activeDeadlineSeconds";
    let path = "spec.activeDeadlineSeconds";
    match (new[field].as_i64(), old[field].as_i64()) {
        (Some(new), _) if new < 0 => {
            let why = "must be between 0 and 2147483647, inclusive";
            report.invalid(path, &json!(new), why);
        }
        (Some(new), Some(old)) if new > old => {
            report.invalid(
                path,
                &json!(new),
                "must be less than or equal to previous value",
            );
        }
        (None, Some(_)) => {
            report.invalid(
                path,
                &Value::Null,
                "must not update from a positive integer to nil value",
            );
        }
        _ => {}
    }
}

/// Whether the new tolerations hold all old ones.
fn tolerations(report: &mut Report, new: &Value, old: &Value) -> bool {
    let (new, old) = (list(&new["tolerations"]), list(&old["tolerations"]));
    // The time of an eviction may be changed.
    let without_time = |toleration: &Value| {
        let mut rest = toleration.clone();
        if let Some(fields) = rest.as_object_mut() {
            fields.remove("tolerationSeconds");
        }
        rest
    };
    let kept = old.iter().all(|toleration| {
        new.iter()
            .any(|other| without_time(other) == without_time(toleration))
    });
    if kept {
        for (index, toleration) in new.iter().enumerate() {
            pod::tolerate(report, toleration, &format!("spec.tolerations[{index}]"));
        }
    } else {
        let why = "existing toleration can not be modified except its tolerationSeconds";
        report.forbidden("spec.tolerations", why);
    }
    true
}

/// Containers that were added to a running pod stay as they were added.
pub(super) fn ephemeral_containers(report: &mut Report, new: &Value, old: &Value) {
    let path = "spec.ephemeralContainers";
    for before in list(&old["ephemeralContainers"]) {
        let name = text(&before["name"]);
        let now = list(&new["ephemeralContainers"])
            .iter()
            .find(|container| container["name"] == before["name"]);
        match now {
            None => {
                let why = format!("existing ephemeral containers {name:?} may not be removed\n");
                report.forbidden(path, &why);
            }
            Some(now) if now != before => {
                let why = format!("existing ephemeral containers {name:?} may not be changed\n");
                report.forbidden(path, &why);
            }
            Some(_) => {}
        }
    }
}
