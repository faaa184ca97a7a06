//! Containers.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{
    environment, pod, probe,
    report::{Report, list, port_name, text},
    resources,
};

/// All containers of a pod; `volumes` are the names of its volumes.
pub(super) fn containers(report: &mut Report, spec: &Value, volumes: &BTreeSet<&str>, path: &str) {
    let containers = list(&spec["containers"]);
    let mut seen = BTreeSet::new();
    if containers.is_empty() {
        report.required(format!("{path}.containers"));
    }
    for (index, container) in containers.iter().enumerate() {
        let path = format!("{path}.containers[{index}]");
        common(report, container, volumes, &path);
        unique_name(report, container, &mut seen, &path);
        probe::lifecycle(report, container, &path);
        for kind in ["livenessProbe", "readinessProbe", "startupProbe"] {
            probe::probe(report, &container[kind], kind, &format!("{path}.{kind}"));
        }
    }
    host_ports(report, containers, &format!("{path}.containers"));
    for (index, container) in list(&spec["initContainers"]).iter().enumerate() {
        let path = format!("{path}.initContainers[{index}]");
        common(report, container, volumes, &path);
        unique_name(report, container, &mut seen, &path);
        if container["restartPolicy"] == "Always" {
            probe::lifecycle(report, container, &path);
            for kind in ["livenessProbe", "readinessProbe", "startupProbe"] {
                probe::probe(report, &container[kind], kind, &format!("{path}.{kind}"));
            }
            continue;
        }
        for field in [
            "lifecycle",
            "livenessProbe",
            "readinessProbe",
            "startupProbe",
        ] {
            if container[field].is_object() {
                let why = "may not be set for init containers without restartPolicy=Always";
                report.forbidden(format!("{path}.{field}"), why);
            }
        }
    }
}

fn unique_name<'a>(
    report: &mut Report,
    container: &'a Value,
    seen: &mut BTreeSet<&'a str>,
    path: &str,
) {
    let name = text(&container["name"]);
    if !name.is_empty() && !seen.insert(name) {
        report.duplicate(format!("{path}.name"), &container["name"]);
    }
}

fn common(report: &mut Report, container: &Value, volumes: &BTreeSet<&str>, path: &str) {
    let at = |field: &str| format!("{path}.{field}");
    report.label_name(&at("name"), &container["name"]);
    let image = text(&container["image"]);
    if image.is_empty() {
        report.required(at("image"));
    } else if image.trim() != image {
        let why = "must not have leading or trailing whitespace";
        report.invalid(at("image"), &container["image"], why);
    }
    report.one_of(
        at("terminationMessagePolicy"),
        &container["terminationMessagePolicy"],
        &["File", "FallbackToLogsOnError"],
    );
    ports(report, &container["ports"], &at("ports"));
    environment::variables(report, &container["env"], &at("env"));
    environment::sources(report, &container["envFrom"], &at("envFrom"));
    mounts(report, container, volumes, &at("volumeMounts"));
    devices(report, container, volumes, &at("volumeDevices"));
    report.one_of(
        at("imagePullPolicy"),
        &container["imagePullPolicy"],
        &["Always", "IfNotPresent", "Never"],
    );
    resources::container(report, &container["resources"], &at("resources"));
    security_context(
        report,
        &container["securityContext"],
        &at("securityContext"),
    );
}

fn ports(report: &mut Report, ports: &Value, path: &str) {
    let mut names = BTreeSet::new();
    for (index, port) in list(ports).iter().enumerate() {
        let path = format!("{path}[{index}]");
        let name = text(&port["name"]);
        if !name.is_empty() {
            let complaints = port_name(name);
            for complaint in &complaints {
                report.invalid(format!("{path}.name"), &port["name"], complaint);
            }
            if complaints.is_empty() && !names.insert(name) {
                report.duplicate(format!("{path}.name"), &port["name"]);
            }
        }
        match port["containerPort"].as_i64().unwrap_or_default() {
            0 => report.required(format!("{path}.containerPort")),
            number => report.port(format!("{path}.containerPort"), number),
        }
        match port["hostPort"].as_i64().unwrap_or_default() {
            0 => {}
            number => report.port(format!("{path}.hostPort"), number),
        }
        protocol(report, &port["protocol"], &format!("{path}.protocol"));
    }
}

/// The protocol of a port.
pub(super) fn protocol(report: &mut Report, protocol: &Value, path: &str) {
    if text(protocol).is_empty() {
        report.required(path);
    } else {
        report.one_of(path, protocol, &["SCTP", "TCP", "UDP"]);
    }
}

fn host_ports(report: &mut Report, containers: &[Value], path: &str) {
    let mut used = BTreeSet::new();
    for (index, container) in containers.iter().enumerate() {
        for (number, port) in list(&container["ports"]).iter().enumerate() {
            let host_port = port["hostPort"].as_i64().unwrap_or_default();
            if host_port == 0 {
                continue;
            }
            let key = format!(
                "{}/{}/{host_port}",
                text(&port["protocol"]),
                text(&port["hostIP"])
            );
            if !used.insert(key.clone()) {
                let path = format!("{path}[{index}].ports[{number}].hostPort");
                report.duplicate(path, &json!(key));
            }
        }
    }
}

/// Whether a list of mounts or devices names a volume.
fn names(list_of: &Value, volume: &str) -> bool {
    let mut entries = list(list_of).iter();
    entries.any(|entry| text(&entry["name"]) == volume)
}

/// Volumes that a container uses as raw devices.
fn devices(report: &mut Report, container: &Value, volumes: &BTreeSet<&str>, path: &str) {
    let mut seen = BTreeSet::new();
    let mut places = BTreeSet::new();
    for (index, device) in list(&container["volumeDevices"]).iter().enumerate() {
        let path = format!("{path}[{index}]");
        let name = text(&device["name"]);
        if name.is_empty() {
            report.required(format!("{path}.name"));
        } else if !seen.insert(name) {
            let why = "must be unique";
            report.invalid(format!("{path}.name"), &device["name"], why);
        }
        let place = text(&device["devicePath"]);
        if place.is_empty() {
            report.required(format!("{path}.devicePath"));
        } else if !places.insert(place) {
            let why = "must be unique";
            report.invalid(format!("{path}.devicePath"), &device["devicePath"], why);
        }
        if !volumes.contains(name) {
            report.not_found(format!("{path}.name"), &json!(name));
        }
        if names(&container["volumeMounts"], name) {
            let why = "must not already exist in volumeMounts";
            report.invalid(format!("{path}.name"), &device["name"], why);
        }
    }
}

fn mounts(report: &mut Report, container: &Value, volumes: &BTreeSet<&str>, path: &str) {
    let at = path;
    let mut places = BTreeSet::new();
    for (index, mount) in list(&container["volumeMounts"]).iter().enumerate() {
        let path = format!("{path}[{index}]");
        let name = text(&mount["name"]);
        if name.is_empty() {
            report.required(format!("{path}.name"));
        }
        if !volumes.contains(name) {
            report.not_found(format!("{path}.name"), &json!(name));
        }
        let place = text(&mount["mountPath"]);
        if place.is_empty() {
            report.required(format!("{path}.mountPath"));
        }
        if !places.insert(place) {
            let why = "must be unique";
            report.invalid(format!("{path}.mountPath"), &mount["mountPath"], why);
        }
        if !name.is_empty() && names(&container["volumeDevices"], name) {
            let why = "must not already exist in volumeDevices";
            report.invalid(format!("{path}.name"), &mount["name"], why);
        }
        for field in ["subPath", "subPathExpr"] {
            let below = text(&mount[field]);
            if below.starts_with('/') {
                let why = "must be a relative path";
                report.invalid(format!("{at}.{field}"), &mount[field], why);
            }
            if below.split('/').any(|part| part == "..") {
                let why = "must not contain '..'";
                report.invalid(format!("{at}.{field}"), &mount[field], why);
            }
        }
    }
}

fn security_context(report: &mut Report, context: &Value, path: &str) {
    for field in ["runAsUser", "runAsGroup"] {
        pod::user_id(report, &context[field], &format!("{path}.{field}"));
    }
    report.one_of_if_set(
        format!("{path}.procMount"),
        &context["procMount"],
        &["Default", "Unmasked"],
    );
    if context["allowPrivilegeEscalation"] == json!(false) {
        let added = list(&context["capabilities"]["add"]);
        let why = if context["privileged"] == json!(true) {
            "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"
        } else if added.iter().any(|name| name == "CAP_SYS_ADMIN") {
            "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"
        } else {
            return;
        };
        report.invalid(path, context, why);
    }
}
