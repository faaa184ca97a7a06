//! What a kubelet may report about a pod.

use std::net::IpAddr;

use serde_json::{Value, json};

use super::report::{Report, list, text};
use crate::{
    field_error::{FieldError, Kind},
    names,
};

const SYSTEM_CONDITIONS: [&str; 3] = ["PodScheduled", "Ready", "Initialized"];
const MOST_ID: i64 = i32::MAX as i64;

pub(super) fn check(report: &mut Report, new: &Value, old: &Value) {
    let (status, before) = (&new["status"], &old["status"]);
    conditions(report, &status["conditions"]);
    nominated_node(report, new, old);
    not_negative(report, "status", status);
    if text(&status["qosClass"]) != text(&before["qosClass"]) {
        let value = json!(text(&status["qosClass"]));
        report.invalid("status.qosClass", &value, "field is immutable");
    }
    for (statuses, containers) in [
        ("containerStatuses", "containers"),
        ("initContainerStatuses", "initContainers"),
        ("ephemeralContainerStatuses", ""),
    ] {
        stay_terminated(report, new, old, statuses, containers);
    }
    addresses(report, status, before, "podIPs");
    let hosts = list(&status["hostIPs"]);
    if let Some(first) = hosts.first()
        && text(&first["ip"]) != text(&status["hostIP"])
    {
        let why = "must be equal to `hostIP`";
        report.invalid("status.hostIPs[0].ip", &first["ip"], why);
    }
    addresses(report, status, before, "hostIPs");
    users(report, new);
}

fn not_negative(report: &mut Report, path: &str, reported: &Value) {
    let generation = &reported["observedGeneration"];
    if generation.as_i64().is_some_and(|number| number < 0) {
        let why = "must be a non-negative integer";
        report.invalid(format!("{path}.observedGeneration"), generation, why);
    }
}

fn conditions(report: &mut Report, conditions: &Value) {
    for (index, condition) in list(conditions).iter().enumerate() {
        let path = format!("status.conditions[{index}]");
        not_negative(report, &path, condition);
        let name = text(&condition["type"]);
        if !SYSTEM_CONDITIONS.contains(&name) {
            report.names(&format!("{path}.Type"), name, names::qualified_name(name));
        }
    }
}

fn nominated_node(report: &mut Report, new: &Value, old: &Value) {
    let path = "status.nominatedNodeName";
    let name = text(&new["status"]["nominatedNodeName"]);
    if name.is_empty() || name == text(&old["status"]["nominatedNodeName"]) {
        return;
    }
    report.names(path, name, names::dns_1123_subdomain(name));
    if !text(&old["spec"]["nodeName"]).is_empty() {
        let why = "may not be set on pods that are already bound to a node";
        report.forbidden(path, why);
    }
}

/// A container that ended and may not restart can't be reported as running.
fn stay_terminated(report: &mut Report, new: &Value, old: &Value, statuses: &str, field: &str) {
    let spec = &old["spec"];
    if !field.is_empty() && all_may_restart(spec) {
        return;
    }
    let terminated = |status: &Value| status["state"]["terminated"].is_object();
    for (index, before) in list(&old["status"][statuses]).iter().enumerate() {
        let mut now = list(&new["status"][statuses]).iter();
        let revived = now.any(|now| now["name"] == before["name"] && !terminated(now));
        if !terminated(before) || !revived {
            continue;
        }
        let code = before["state"]["terminated"]["exitCode"].as_i64();
        let mut containers = list(&spec[field]).iter();
        let container = containers.find(|container| container["name"] == before["name"]);
        let code = code.unwrap_or_default();
        if !container.is_some_and(|container| may_restart(container, spec, code)) {
            let why = "may not be transitioned to non-terminated state";
            report.forbidden(format!("status.{statuses}[{index}].state"), why);
        }
    }
}

fn all_may_restart(spec: &Value) -> bool {
    ["initContainers", "containers"]
        .iter()
        .flat_map(|field| list(&spec[*field]))
        .flat_map(|container| list(&container["restartPolicyRules"]))
        .any(|rule| rule["action"] == "RestartAllContainers")
}

fn may_restart(container: &Value, spec: &Value, code: i64) -> bool {
    let own = &container["restartPolicy"];
    let matched = |rule: &Value| {
        let listed = list(&rule["exitCodes"]["values"]).contains(&json!(code));
        match text(&rule["exitCodes"]["operator"]) {
            "In" => listed,
            "NotIn" => !listed,
            _ => false,
        }
    };
    let mut rules = list(&container["restartPolicyRules"]).iter();
    if own.is_string() && rules.any(matched) {
        return true;
    }
    let policy = if own.is_string() {
        own
    } else {
        &spec["restartPolicy"]
    };
    match text(policy) {
        "Never" => false,
        "OnFailure" => code != 0,
        _ => true,
    }
}

/// Addresses of the pod or of its node: at most one of each family. One that was there before may stay, whatever it
/// is.
fn addresses(report: &mut Report, status: &Value, before: &Value, field: &str) {
    let path = format!("status.{field}");
    let entries = list(&status[field]);
    for (index, entry) in entries.iter().enumerate() {
        let mut known = list(&before[field]).iter();
        if !known.any(|known| known["ip"] == entry["ip"]) {
            report.ip(format!("{path}[{index}]"), &json!(text(&entry["ip"])));
        }
    }
    if entries.len() < 2 {
        return;
    }
    let ips = entries.iter().map(|entry| text(&entry["ip"]));
    let parsed: Vec<Option<IpAddr>> = ips.map(|ip| ip.parse().ok()).collect();
    if let Some(index) = parsed.iter().position(Option::is_none) {
        let ip = text(&entries[index]["ip"]);
        report.errors.push(FieldError {
            kind: Kind::Internal,
            field: path.clone(),
            value: None,
            detail: format!("failed to check for dual stack with error:invalid IP[{index}]: {ip}"),
        });
    }
    let families = [IpAddr::is_ipv4, IpAddr::is_ipv6];
    let both = families
        .iter()
        .all(|family| parsed.iter().flatten().any(family));
    if !both || entries.len() > 2 || parsed.contains(&None) {
        let why = "may specify no more than one IP for each IP family";
        report.invalid(path, &status[field], why);
    }
}

/// The users as which containers run.
fn users(report: &mut Report, pod: &Value) {
    for field in [
        "containerStatuses",
        "initContainerStatuses",
        "ephemeralContainerStatuses",
    ] {
        for (index, status) in list(&pod["status"][field]).iter().enumerate() {
            let user = &status["user"]["linux"];
            let path = format!("status.{field}[{index}].user.linux");
            if pod["spec"]["os"]["name"] == "windows" {
                if user.is_object() {
                    report.forbidden(path, "cannot be set for a windows pod");
                }
                continue;
            }
            for id in ["uid", "gid"] {
                report.within(format!("{path}.{id}"), &user[id], 0, MOST_ID);
            }
            for (number, group) in list(&user["supplementalGroups"]).iter().enumerate() {
                let at = format!("{path}.supplementalGroups[{number}]");
                report.within(at, group, 0, MOST_ID);
            }
        }
    }
}
