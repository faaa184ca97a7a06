//! What controllers may report: counts that can be true.

use serde_json::{Value, json};

use super::{
    job_status, pod_status,
    report::{Report, amount, list, text},
};
use crate::names;

const NANOS: i128 = 1_000_000_000;
const RESIZES: [&str; 5] = [
    "ControllerResizeInProgress",
    "ControllerResizeInfeasible",
    "NodeResizeInProgress",
    "NodeResizeInfeasible",
    "NodeResizePending",
];

/// The counts of a kind's status, in the order in which they are checked.
fn counts(kind: &str) -> &'static [&'static str] {
    match kind {
        "Deployment" => &[
            "observedGeneration",
            "replicas",
            "updatedReplicas",
            "readyReplicas",
            "availableReplicas",
            "unavailableReplicas",
            "terminatingReplicas",
            "collisionCount",
        ],
        "ReplicaSet" | "ReplicationController" => &[
            "replicas",
            "fullyLabeledReplicas",
            "readyReplicas",
            "availableReplicas",
            "observedGeneration",
            "terminatingReplicas",
        ],
        "StatefulSet" => &[
            "replicas",
            "readyReplicas",
            "currentReplicas",
            "updatedReplicas",
            "availableReplicas",
            "observedGeneration",
            "collisionCount",
        ],
        "DaemonSet" => &[
            "currentNumberScheduled",
            "numberMisscheduled",
            "desiredNumberScheduled",
            "numberReady",
            "observedGeneration",
            "updatedNumberScheduled",
            "numberAvailable",
            "numberUnavailable",
            "collisionCount",
        ],
        "PodDisruptionBudget" => &[
            "disruptionsAllowed",
            "currentHealthy",
            "desiredHealthy",
            "expectedPods",
        ],
        "HorizontalPodAutoscaler" => &["currentReplicas", "desiredReplicas"],
        _ => &[],
    }
}

/// Counts that are a part of all replicas.
fn parts(kind: &str) -> &'static [&'static str] {
    match kind {
        "Deployment" => &["updatedReplicas", "readyReplicas", "availableReplicas"],
        "ReplicaSet" | "ReplicationController" => {
            &["fullyLabeledReplicas", "readyReplicas", "availableReplicas"]
        }
        "StatefulSet" => &[
            "readyReplicas",
            "currentReplicas",
            "updatedReplicas",
            "availableReplicas",
        ],
        _ => &[],
    }
}

/// Checks a status against itself and against what it was.
pub(super) fn check(report: &mut Report, kind: &str, new: &Value, old: &Value) {
    match kind {
        "Ingress" => balancer(report, new, old),
        "Job" => job_status::check(report, new, old),
        "PersistentVolumeClaim" => claim(report, &new["status"]),
        "Pod" => pod_status::check(report, new, old),
        "Service" => service(report, new, old),
        _ => replicas(report, kind, new, old),
    }
}

fn replicas(report: &mut Report, kind: &str, new: &Value, old: &Value) {
    let number = |status: &Value, field: &str| status[field].as_i64().unwrap_or(0);
    let status = &new["status"];
    for field in counts(kind) {
        report.not_negative(format!("status.{field}"), &status[*field]);
    }
    let mut too_many = |field: &str, most: &str, words: &str| {
        if number(status, field) > number(status, most) {
            let why = format!("cannot be greater than {words}");
            let path = format!("status.{field}");
            report.invalid(path, &json!(number(status, field)), &why);
        }
    };
    for field in parts(kind) {
        too_many(field, "replicas", "status.replicas");
    }
    if !parts(kind).is_empty() {
        let words = match kind {
            "StatefulSet" => "status.readyReplicas",
            _ => "readyReplicas",
        };
        too_many("availableReplicas", "readyReplicas", words);
    }
    let collisions = |object: &Value| object["status"]["collisionCount"].as_i64();
    let decremented = match (collisions(new), collisions(old)) {
        (now, Some(before)) => now.is_none_or(|now| now < before),
        (_, None) => false,
    };
    if counts(kind).contains(&"collisionCount") && decremented {
        let collisions = collisions(new).unwrap_or(0);
        let why = "cannot be decremented";
        report.invalid("status.collisionCount", &json!(collisions), why);
    }
}

fn service(report: &mut Report, new: &Value, old: &Value) {
    let entries = list(&new["status"]["loadBalancer"]["ingress"]);
    if new["spec"]["type"] != "LoadBalancer" && !entries.is_empty() {
        let why = "may only be used when `spec.type` is 'LoadBalancer'";
        report.forbidden("status.loadBalancer.ingress", why);
        return;
    }
    balancer(report, new, old);
}

/// Where a load balancer is reached. An address that was there before may stay, whatever it is.
fn balancer(report: &mut Report, new: &Value, old: &Value) {
    let entries = |object: &'_ Value| object["status"]["loadBalancer"]["ingress"].clone();
    let (now, before) = (entries(new), entries(old));
    let of_service = new["kind"] == "Service";
    for (index, entry) in list(&now).iter().enumerate() {
        let path = format!("status.loadBalancer.ingress[{index}]");
        let ip = &entry["ip"];
        let addressed = !text(ip).is_empty();
        if addressed && !list(&before).iter().any(|known| known["ip"] == *ip) {
            report.ip(format!("{path}.ip"), ip);
        }
        let mode = &entry["ipMode"];
        let at = format!("{path}.ipMode");
        match (addressed, mode.is_string()) {
            _ if !of_service => {}
            (true, false) => report.required_because(at, "must be specified when `ip` is set"),
            (false, true) => report.forbidden(at, "may not be specified when `ip` is not set"),
            (true, true) => report.one_of(at, mode, &["Proxy", "VIP"]),
            (false, false) => {}
        }
        let host = text(&entry["hostname"]);
        if host.is_empty() {
            continue;
        }
        let at = format!("{path}.hostname");
        report.names(&at, host, names::dns_1123_subdomain(host));
        if host.parse::<std::net::IpAddr>().is_ok() {
            let why = "must be a DNS name, not an IP address";
            report.invalid(at, &entry["hostname"], why);
        }
    }
}

fn claim(report: &mut Report, status: &Value) {
    for (name, value) in status["capacity"].as_object().into_iter().flatten() {
        storable(report, value, format!("status.capacity[{name}]"));
    }
    let path = "status.allocatedResourceStatuses";
    let statuses = status["allocatedResourceStatuses"].as_object();
    for (name, value) in statuses.into_iter().flatten() {
        claimed_resource(report, name, path);
        if !RESIZES.contains(&text(value)) {
            report.one_of(path, &json!(name), &RESIZES);
        }
    }
    let path = "status.allocatedResources";
    let allocated = status["allocatedResources"].as_object();
    for (name, value) in allocated.into_iter().flatten() {
        if claimed_resource(report, name, path) {
            storable(report, value, format!("{path}[{name}]"));
        }
    }
}

/// Of what Kubernetes itself knows, a claim has only storage.
fn claimed_resource(report: &mut Report, name: &str, path: &str) -> bool {
    let before = report.errors.len();
    report.names(path, name, names::qualified_name(name));
    if report.errors.len() == before && (!name.contains('/') || name.contains("kubernetes.io/")) {
        report.one_of(path, &json!(name), &["storage"]);
    }
    report.errors.len() == before
}

/// An amount of whole bytes, rounded up as everywhere.
pub(super) fn storable(report: &mut Report, value: &Value, path: String) {
    let nanos = amount(value);
    let whole = nanos.div_euclid(NANOS) + i128::from(nanos.rem_euclid(NANOS) != 0);
    if whole < 0 {
        let shown = i64::try_from(whole).unwrap_or(i64::MIN);
        report.invalid(path, &json!(shown), "must be a valid resource quantity");
    }
}
