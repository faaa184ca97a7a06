//! Pods and pod templates.

use serde_json::{Value, json};

use super::{
    affinity, annotations, container, dns, environment,
    report::{Report, list, text},
    resources, security, spread, volume, windows,
};
use crate::{field_error::FieldError, names};

/// A whole pod.
pub(super) fn pod(report: &mut Report, pod: &Value, is_new: bool) {
    let spec = &pod["spec"];
    annotations::of_pod(report, pod, "metadata.annotations");
    self::spec(report, spec, "spec", Some(&pod["metadata"]));
    if text(&spec["serviceAccountName"]).is_empty() && is_new {
        service_account_tokens(report, spec);
    }
    for field in ["containers", "initContainers"] {
        for (index, container) in list(&spec[field]).iter().enumerate() {
            container::padded_image(report, container, &format!("spec.{field}[{index}]"));
        }
    }
    if !is_new {
        return;
    }
    if !list(&spec["ephemeralContainers"]).is_empty() {
        report.forbidden("spec.ephemeralContainers", "cannot be set on create");
    }
    if !text(&spec["nodeName"]).is_empty() && !list(&spec["schedulingGates"]).is_empty() {
        let why = "cannot be set until all schedulingGates have been cleared";
        report.forbidden("spec.nodeName", why);
    }
    annotations::agree_with_fields(report, pod, "spec");
}

/// The template of a workload.
pub(super) fn template(report: &mut Report, template: &Value, path: &str) {
    labels_and_annotations(report, template, path);
    let at = format!("{path}.spec");
    spec(report, &template["spec"], &at, None);
    annotations::agree_with_fields(report, template, &at);
    if !list(&template["spec"]["ephemeralContainers"]).is_empty() {
        let why = "ephemeral containers not allowed in pod template";
        report.forbidden(format!("{at}.ephemeralContainers"), why);
    }
}

/// What a template says about its pods.
pub(super) fn labels_and_annotations(report: &mut Report, template: &Value, path: &str) {
    let metadata = &template["metadata"];
    let labels = names::validate_labels(metadata.get("labels"), &format!("{path}.labels"));
    report.errors.extend(labels);
    let at = format!("{path}.annotations");
    let keys = names::validate_annotations(metadata, &at);
    report.errors.extend(keys);
    annotations::of_pod(report, template, &at);
}

/// The specification of a pod. `pod` is the metadata of a real pod; a template has none.
fn spec(report: &mut Report, spec: &Value, path: &str, pod: Option<&Value>) {
    let at = |field: &str| format!("{path}.{field}");
    let volumes = volume::volumes(report, &spec["volumes"], &at("volumes"), pod);
    resources::claims(report, &spec["resourceClaims"], &at("resourceClaims"));
    container::containers(report, spec, &volumes, path);
    resources::pod(report, spec, &at("resources"));
    if spec["hostNetwork"] == json!(true) {
        container::node_ports(report, spec, path, pod.is_some());
    }
    report.one_of(
        at("restartPolicy"),
        &spec["restartPolicy"],
        &["Always", "OnFailure", "Never"],
    );
    dns::policy(report, spec, path);
    let node_selector = names::validate_labels(spec.get("nodeSelector"), &at("nodeSelector"));
    report.errors.extend(node_selector);
    security::pod(report, spec, path);
    affinity::affinity(report, &spec["affinity"], &at("affinity"));
    dns::config(report, spec, path);
    gates(report, spec, path);
    spread::constraints(
        report,
        &spec["topologySpreadConstraints"],
        &at("topologySpreadConstraints"),
    );
    windows::host_processes(report, spec, path);
    security::host_users(report, spec, path);
    host_name_override(report, spec, &at("hostnameOverride"));
    report.subdomain_if_set(&at("serviceAccountName"), &spec["serviceAccountName"]);
    report.subdomain_if_set(&at("nodeName"), &spec["nodeName"]);
    report.within(
        at("activeDeadlineSeconds"),
        &spec["activeDeadlineSeconds"],
        1,
        i64::from(i32::MAX),
    );
    for field in ["hostname", "subdomain"] {
        let name = text(&spec[field]);
        if !name.is_empty() {
            report.names(&at(field), name, names::dns_1123_label(name));
        }
    }
    for (index, toleration) in list(&spec["tolerations"]).iter().enumerate() {
        tolerate(report, toleration, &format!("{path}.tolerations[{index}]"));
    }
    for (index, alias) in list(&spec["hostAliases"]).iter().enumerate() {
        report.ip(format!("{path}.hostAliases[{index}].ip"), &alias["ip"]);
        for (number, host) in list(&alias["hostnames"]).iter().enumerate() {
            let path = format!("{path}.hostAliases[{index}].hostnames[{number}]");
            report.names(&path, text(host), names::dns_1123_subdomain(text(host)));
        }
    }
    report.subdomain_if_set(&at("priorityClassName"), &spec["priorityClassName"]);
    report.subdomain_if_set(&at("runtimeClassName"), &spec["runtimeClassName"]);
    let policy = &spec["preemptionPolicy"];
    if policy == "" {
        report.required(at("preemptionPolicy"));
    } else {
        let known = ["PreemptLowerPriority", "Never"];
        report.one_of_if_set(at("preemptionPolicy"), policy, &known);
    }
    if spec["overhead"].is_object() {
        let overhead = json!({"limits": spec["overhead"]});
        resources::container(report, &overhead, &Value::Null, &at("overhead"));
    }
    security::system(report, spec, path);
    environment::file_volumes(report, spec, path);
}

/// Conditions that a pod waits for before it is ready, and before it is scheduled.
fn gates(report: &mut Report, spec: &Value, path: &str) {
    for (index, gate) in list(&spec["readinessGates"]).iter().enumerate() {
        let name = text(&gate["conditionType"]);
        let path = format!("{path}.readinessGates[{index}].conditionType");
        report.names(&path, name, names::qualified_name(name));
    }
    let gates = list(&spec["schedulingGates"]);
    for (index, gate) in gates.iter().enumerate() {
        let path = format!("{path}.schedulingGates[{index}]");
        let name = text(&gate["name"]);
        report.names(&path, name, names::qualified_name(name));
        if gates[..index]
            .iter()
            .any(|other| text(&other["name"]) == name)
        {
            report.duplicate(path, &gate["name"]);
        }
    }
}

fn host_name_override(report: &mut Report, spec: &Value, path: &str) {
    const LONGEST: usize = 64;
    let Some(name) = spec["hostnameOverride"].as_str() else {
        return;
    };
    for field in ["setHostnameAsFQDN", "hostNetwork"] {
        if spec[field] == json!(true) {
            let why = format!("may not be specified when {field} is true");
            report.forbidden(path, &why);
        }
    }
    if name.len() > LONGEST {
        report.too_long(path, LONGEST);
    }
    report.names(path, name, names::dns_1123_subdomain(name));
}

/// Which taints a pod tolerates.
pub(super) fn tolerate(report: &mut Report, toleration: &Value, path: &str) {
    let key = text(&toleration["key"]);
    let operator = text(&toleration["operator"]);
    let at = |field: &str| format!("{path}.{field}");
    if !key.is_empty() {
        report.names(&at("key"), key, names::qualified_name(key));
    }
    if key.is_empty() && operator != "Exists" {
        let why = "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
        report.invalid(at("operator"), &json!(operator), why);
    }
    let effect = &toleration["effect"];
    if toleration["tolerationSeconds"].is_number() && text(effect) != "NoExecute" {
        let why = "effect must be 'NoExecute' when `tolerationSeconds` is set";
        report.invalid(at("effect"), &json!(text(effect)), why);
    }
    let value = text(&toleration["value"]);
    match operator {
        "" | "Equal" => {
            let complaints = names::label_value(value);
            if !complaints.is_empty() {
                let value = &toleration["value"];
                report.invalid(at("operator"), value, &complaints.join(";"));
            }
        }
        "Exists" if !value.is_empty() => {
            let why = "value must be empty when `operator` is 'Exists'";
            report.invalid(at("operator"), &toleration["value"], why);
        }
        "Exists" => {}
        // Known, but not in use yet.
        "Lt" | "Gt" => report.errors.push(FieldError::not_supported(
            at("operator"),
            json!(operator),
            &["Equal", "Exists", "Lt", "Gt"],
        )),
        _ => report.one_of(
            at("operator"),
            &toleration["operator"],
            &["Equal", "Exists"],
        ),
    }
    if !text(effect).is_empty() {
        effects(report, effect, &at("effect"));
    }
}

/// The effect of a taint.
pub(super) fn effects(report: &mut Report, effect: &Value, path: &str) {
    report.one_of(
        path,
        effect,
        &["NoSchedule", "PreferNoSchedule", "NoExecute"],
    );
}

fn service_account_tokens(report: &mut Report, spec: &Value) {
    for (index, volume) in list(&spec["volumes"]).iter().enumerate() {
        for (number, source) in list(&volume["projected"]["sources"]).iter().enumerate() {
            if source["serviceAccountToken"].is_object() {
                let path = format!(
                    "spec.volumes[{index}].projected.sources[{number}].serviceAccountToken"
                );
                let why = "must not be specified when serviceAccountName is not set";
                report.forbidden(path, why);
            }
        }
    }
}
