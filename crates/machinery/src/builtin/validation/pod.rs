//! Pods and pod templates.

use serde_json::{Value, json};

use super::{
    affinity, container,
    report::{Report, list, text},
    selector, volume,
};
use crate::names;

/// A whole pod.
pub(super) fn pod(report: &mut Report, pod: &Value, is_new: bool) {
    let spec_value = &pod["spec"];
    spec(report, spec_value, "spec");
    if text(&spec_value["serviceAccountName"]).is_empty() && is_new {
        service_account_tokens(report, spec_value);
    }
}

/// The template of a workload.
pub(super) fn template(report: &mut Report, template: &Value, path: &str) {
    let metadata = &template["metadata"];
    let labels = names::validate_labels(metadata.get("labels"), &format!("{path}.labels"));
    report.errors.extend(labels);
    spec(report, &template["spec"], &format!("{path}.spec"));
}

/// The specification of a pod.
pub(super) fn spec(report: &mut Report, spec: &Value, path: &str) {
    let at = |field: &str| format!("{path}.{field}");
    let volumes = volume::volumes(report, &spec["volumes"], &at("volumes"));
    container::containers(report, spec, &volumes, path);
    report.one_of(
        at("restartPolicy"),
        &spec["restartPolicy"],
        &["Always", "OnFailure", "Never"],
    );
    dns_policy(report, spec, path);
    let node_selector = names::validate_labels(spec.get("nodeSelector"), &at("nodeSelector"));
    report.errors.extend(node_selector);
    security_context(report, &spec["securityContext"], &at("securityContext"));
    affinity::affinity(report, &spec["affinity"], &at("affinity"));
    dns_config(report, spec, path);
    for (index, gate) in list(&spec["readinessGates"]).iter().enumerate() {
        let name = text(&gate["conditionType"]);
        let path = format!("{path}.readinessGates[{index}].conditionType");
        report.names(&path, name, names::qualified_name(name));
    }
    for (index, gate) in list(&spec["schedulingGates"]).iter().enumerate() {
        let name = text(&gate["name"]);
        report.names(
            &format!("{path}.schedulingGates[{index}]"),
            name,
            names::qualified_name(name),
        );
    }
    topology_spread(report, &spec["topologySpreadConstraints"], path);
    report.subdomain_if_set(&at("serviceAccountName"), &spec["serviceAccountName"]);
    report.subdomain_if_set(&at("nodeName"), &spec["nodeName"]);
    if let Some(seconds) = spec["activeDeadlineSeconds"].as_i64()
        && !(1..=i64::from(i32::MAX)).contains(&seconds)
    {
        let why = "must be between 1 and 2147483647, inclusive";
        report.invalid(at("activeDeadlineSeconds"), &json!(seconds), why);
    }
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
}

fn dns_policy(report: &mut Report, spec: &Value, path: &str) {
    let policies = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
    report.one_of(format!("{path}.dnsPolicy"), &spec["dnsPolicy"], &policies);
}

fn dns_config(report: &mut Report, spec: &Value, path: &str) {
    let config = &spec["dnsConfig"];
    let servers = list(&config["nameservers"]);
    if text(&spec["dnsPolicy"]) == "None" {
        if !config.is_object() {
            let why = "must provide `dnsConfig` when `dnsPolicy` is None";
            report.required_because(format!("{path}.dnsConfig"), why);
        } else if servers.is_empty() {
            let why = "must provide at least one DNS nameserver when `dnsPolicy` is None";
            report.required_because(format!("{path}.dnsConfig.nameservers"), why);
        }
    }
    for (index, server) in servers.iter().enumerate() {
        report.ip(format!("{path}.dnsConfig.nameservers[{index}]"), server);
    }
}

fn security_context(report: &mut Report, context: &Value, path: &str) {
    for field in ["runAsUser", "runAsGroup", "fsGroup"] {
        user_id(report, &context[field], &format!("{path}.{field}"));
    }
    for (index, setting) in list(&context["sysctls"]).iter().enumerate() {
        let name = &setting["name"];
        let at = format!("{path}.sysctls[{index}].name");
        if text(name).is_empty() {
            report.required(at);
        } else if !is_sysctl(text(name)) {
            let why = "must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";
            report.invalid(at, name, why);
        }
    }
}

fn is_sysctl(name: &str) -> bool {
    let part = |part: &str| {
        let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
        let edge = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        part.starts_with(edge) && part.ends_with(edge) && part.chars().all(inner)
    };
    name.len() <= 253 && name.split(['.', '/']).all(part)
}

/// A user or group id.
pub(super) fn user_id(report: &mut Report, value: &Value, path: &str) {
    if let Some(id) = value.as_i64()
        && !(0..=i64::from(i32::MAX)).contains(&id)
    {
        report.invalid(path, value, "must be between 0 and 2147483647, inclusive");
    }
}

fn tolerate(report: &mut Report, toleration: &Value, path: &str) {
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
        "" | "Equal" => report.names(&at("operator"), value, names::label_value(value)),
        "Exists" if !value.is_empty() => {
            let why = "value must be empty when `operator` is 'Exists'";
            report.invalid(at("operator"), &toleration["value"], why);
        }
        "Exists" => {}
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

fn topology_spread(report: &mut Report, constraints: &Value, path: &str) {
    for (index, constraint) in list(constraints).iter().enumerate() {
        let path = format!("{path}.topologySpreadConstraints[{index}]");
        let skew = constraint["maxSkew"].as_i64().unwrap_or_default();
        if skew <= 0 {
            report.invalid(
                format!("{path}.maxSkew"),
                &json!(skew),
                "must be greater than zero",
            );
        }
        if text(&constraint["topologyKey"]).is_empty() {
            report.required_because(format!("{path}.topologyKey"), "can not be empty");
        }
        report.one_of(
            format!("{path}.whenUnsatisfiable"),
            &constraint["whenUnsatisfiable"],
            &["DoNotSchedule", "ScheduleAnyway"],
        );
        selector::check(
            report,
            &constraint["labelSelector"],
            &format!("{path}.labelSelector"),
        );
    }
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
