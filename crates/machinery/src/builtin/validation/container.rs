//! Containers.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{
    environment, mounts, probe,
    report::{Report, list, port_name, text},
    resources, security,
};

/// What an ephemeral container can't have, in the order in which it is looked for.
const NOT_EPHEMERAL: [&str; 9] = [
    "ports",
    "resources",
    "resizePolicy",
    "restartPolicy",
    "restartPolicyRules",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "lifecycle",
];
const NO_RULES_ALONE: &str = "must specify restartPolicy when restart rules are used";
const MOST_RULES: usize = 20;
const MOST_EXIT_CODES: usize = 255;

/// The good volumes of a pod by their names.
pub(super) type Volumes<'a> = BTreeMap<&'a str, &'a Value>;

/// What the rules of a container ask of its pod.
struct Surroundings<'a> {
    spec: &'a Value,
    volumes: &'a Volumes<'a>,
}

/// Every container of a pod and its place, in the order in which rules about all of them are told.
pub(super) fn all<'a>(spec: &'a Value, path: &str) -> Vec<(&'a Value, String)> {
    ["initContainers", "containers", "ephemeralContainers"]
        .into_iter()
        .flat_map(|field| {
            let containers = list(&spec[field]).iter().enumerate();
            containers.map(move |(index, container)| (container, format!("{field}[{index}]")))
        })
        .map(|(container, place)| (container, format!("{path}.{place}")))
        .collect()
}

/// All containers of a pod.
pub(super) fn containers(report: &mut Report, spec: &Value, volumes: &Volumes<'_>, path: &str) {
    let pod = Surroundings { spec, volumes };
    let containers = list(&spec["containers"]);
    let mut seen = BTreeSet::new();
    if containers.is_empty() {
        report.required(format!("{path}.containers"));
    }
    for (index, container) in containers.iter().enumerate() {
        let path = format!("{path}.containers[{index}]");
        common(report, container, &pod, &path);
        let nameless = text(&container["name"]).is_empty();
        if nameless
            && containers[..index]
                .iter()
                .any(|other| text(&other["name"]).is_empty())
        {
            report.duplicate(format!("{path}.name"), &json!(""));
        }
        unique_name(report, container, &mut seen, &path);
        probe::all(report, container, spec, &path);
        restart_policy(report, container, &path);
    }
    host_ports(report, containers, &format!("{path}.containers"));
    for (index, container) in list(&spec["initContainers"]).iter().enumerate() {
        let list_path = format!("{path}.initContainers");
        let path = format!("{list_path}[{index}]");
        common(report, container, &pod, &path);
        if container["restartPolicy"].is_string() {
            restart_policy(report, container, &path);
        } else if !list(&container["restartPolicyRules"]).is_empty() {
            report.required_because(format!("{path}.restartPolicy"), NO_RULES_ALONE);
        }
        unique_name(report, container, &mut seen, &path);
        // Each for itself, since they run one after the other; all are called the first.
        host_ports(report, std::slice::from_ref(container), &list_path);
        if container["restartPolicy"] == "Always" {
            probe::all(report, container, spec, &path);
        } else {
            runs_once(report, container, &path);
        }
    }
    ephemeral_containers(report, &pod, &mut seen, path);
}

/// An init container that ends has no life to watch.
fn runs_once(report: &mut Report, container: &Value, path: &str) {
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
    for (index, policy) in list(&container["resizePolicy"]).iter().enumerate() {
        if policy["restartPolicy"] == "RestartContainer" {
            let why = "must not be set to 'RestartContainer' for non-sidecar initContainers";
            let at = format!("{path}.resizePolicy[{index}].restartPolicy");
            report.invalid(at, &policy["restartPolicy"], why);
        }
    }
}

fn ephemeral_containers<'a>(
    report: &mut Report,
    pod: &Surroundings<'a>,
    seen: &mut BTreeSet<&'a str>,
    path: &str,
) {
    let lasting = seen.clone();
    let why = "cannot be set for an Ephemeral Container";
    let containers = list(&pod.spec["ephemeralContainers"]);
    for (index, container) in containers.iter().enumerate() {
        let path = format!("{path}.ephemeralContainers[{index}]");
        common(report, container, pod, &path);
        padded_image(report, container, &path);
        unique_name(report, container, seen, &path);
        let target = text(&container["targetContainerName"]);
        if !target.is_empty() && !lasting.contains(target) {
            let at = format!("{path}.targetContainerName");
            report.not_found(at, &container["targetContainerName"]);
        }
        for field in NOT_EPHEMERAL {
            let unset = match &container[field] {
                Value::Null => true,
                Value::Array(entries) => entries.is_empty(),
                Value::Object(fields) => field == "resources" && fields.is_empty(),
                _ => false,
            };
            if !unset {
                report.forbidden(format!("{path}.{field}"), why);
            }
        }
        for (index, mount) in list(&container["volumeMounts"]).iter().enumerate() {
            for field in ["subPath", "subPathExpr"] {
                if !text(&mount[field]).is_empty() {
                    report.forbidden(format!("{path}.volumeMounts[{index}].{field}"), why);
                }
            }
        }
    }
}

/// The image of a pod's container is named without blanks around; a template may have them.
pub(super) fn padded_image(report: &mut Report, container: &Value, path: &str) {
    let image = text(&container["image"]);
    if image.trim() != image {
        let why = "must not have leading or trailing whitespace";
        report.invalid(format!("{path}.image"), &container["image"], why);
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

fn common(report: &mut Report, container: &Value, pod: &Surroundings<'_>, path: &str) {
    let at = |field: &str| format!("{path}.{field}");
    report.label_name(&at("name"), &container["name"]);
    if text(&container["image"]).is_empty() {
        report.required(at("image"));
    }
    report.one_of(
        at("terminationMessagePolicy"),
        &container["terminationMessagePolicy"],
        &["File", "FallbackToLogsOnError"],
    );
    ports(report, &container["ports"], &at("ports"));
    environment::variables(report, &container["env"], &at("env"));
    environment::sources(report, &container["envFrom"], &at("envFrom"));
    mounts::mounts(report, container, pod.volumes, &at("volumeMounts"));
    mounts::devices(report, container, pod.volumes, &at("volumeDevices"));
    pull_policy(
        report,
        &container["imagePullPolicy"],
        &at("imagePullPolicy"),
    );
    resources::container(
        report,
        &container["resources"],
        &pod.spec["resourceClaims"],
        &at("resources"),
    );
    let never = pod.spec["restartPolicy"] == "Never";
    resize_policy(
        report,
        &container["resizePolicy"],
        &at("resizePolicy"),
        never,
    );
    security::of_container(
        report,
        &container["securityContext"],
        &at("securityContext"),
        pod.spec["hostUsers"] != json!(false),
    );
}

/// When an image is pulled.
pub(super) fn pull_policy(report: &mut Report, policy: &Value, path: &str) {
    if text(policy).is_empty() {
        report.required(path);
    } else {
        report.one_of(path, policy, &["Always", "IfNotPresent", "Never"]);
    }
}

/// What a change of resources means for a container; blamed on the whole list.
fn resize_policy(report: &mut Report, policies: &Value, path: &str, never_restarts: bool) {
    let policies = list(policies);
    for (index, policy) in policies.iter().enumerate() {
        let name = &policy["resourceName"];
        let repeated = |other: &Value| other["resourceName"] == *name;
        if policies[..index].iter().any(repeated) {
            report.duplicate(format!("{path}[{index}]"), name);
        }
        let restart = &policy["restartPolicy"];
        for (value, known) in [
            (name, ["cpu", "memory"]),
            (restart, ["NotRequired", "RestartContainer"]),
        ] {
            if text(value).is_empty() {
                report.required(path);
            } else {
                report.one_of(path, value, &known);
            }
        }
        if never_restarts && restart != "NotRequired" {
            let why = "must be 'NotRequired' when pod `restartPolicy` is 'Never'";
            report.invalid(path, &json!(text(restart)), why);
        }
    }
}

/// A restart policy of a container's own.
fn restart_policy(report: &mut Report, container: &Value, path: &str) {
    let policy = &container["restartPolicy"];
    let rules = list(&container["restartPolicyRules"]);
    let at = format!("{path}.restartPolicy");
    if policy.is_string() {
        report.one_of(at, policy, &["Always", "Never", "OnFailure"]);
    } else if !rules.is_empty() {
        report.required_because(at, NO_RULES_ALONE);
    }
    let path = format!("{path}.restartPolicyRules");
    report.at_most(path.as_str(), rules, MOST_RULES);
    for (index, rule) in rules.iter().enumerate() {
        let path = format!("{path}[{index}]");
        let actions = ["Restart", "RestartAllContainers"];
        report.one_of(format!("{path}.action"), &rule["action"], &actions);
        let codes = &rule["exitCodes"];
        let path = format!("{path}.exitCodes");
        if !codes.is_object() {
            report.required_because(path, "must be specified");
            continue;
        }
        let operators = ["In", "NotIn"];
        report.one_of(format!("{path}.operator"), &codes["operator"], &operators);
        report.at_most(
            format!("{path}.values"),
            list(&codes["values"]),
            MOST_EXIT_CODES,
        );
    }
}

/// On the network of its node, a container has its ports there or not at all. A template may leave them out, since
/// pods get them.
pub(super) fn node_ports(report: &mut Report, spec: &Value, path: &str, is_pod: bool) {
    for (index, container) in list(&spec["containers"]).iter().enumerate() {
        for (number, port) in list(&container["ports"]).iter().enumerate() {
            let on_node = port["hostPort"].as_i64().unwrap_or_default();
            let inside = port["containerPort"].as_i64().unwrap_or_default();
            if (is_pod || on_node != 0) && on_node != inside {
                let why = "must match `containerPort` when `hostNetwork` is true";
                let at = format!("{path}.containers[{index}].ports[{number}].hostPort");
                report.invalid(at, &json!(on_node), why);
            }
        }
    }
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
