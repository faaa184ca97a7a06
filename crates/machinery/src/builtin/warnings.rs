//! What servers accept with doubts, and say so in `Warning` headers.

mod pod;

use serde_json::Value;

use crate::{names, quantity::Quantity};

/// Doubts about a new object.
pub fn on_create(kind: &str, object: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    match kind {
        "Pod" => hostname(name, "the Pod's hostname", &mut found),
        "CronJob" | "Deployment" | "Job" | "ReplicaSet" | "ReplicationController" => {
            hostname(name, "Pod names and hostnames", &mut found);
        }
        _ => {}
    }
    found.extend(content(kind, object));
    found
}

/// Doubts about a changed object; of workloads only if what they run has changed.
pub fn on_update(kind: &str, new: &Value, old: &Value) -> Vec<String> {
    let template = matches!(
        kind,
        "CronJob"
            | "DaemonSet"
            | "Deployment"
            | "Job"
            | "PodTemplate"
            | "ReplicaSet"
            | "ReplicationController"
            | "StatefulSet"
    );
    if template && new["metadata"]["generation"] == old["metadata"]["generation"] {
        return Vec::new();
    }
    content(kind, new)
}

fn content(kind: &str, object: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let spec = &object["spec"];
    let annotation = |name: &str| object["metadata"]["annotations"][name].as_str();
    match kind {
        "Pod" => pod::spec(spec, "spec", &mut found),
        "DaemonSet" | "Deployment" | "ReplicaSet" | "ReplicationController" => {
            pod::spec(&spec["template"]["spec"], "spec.template.spec", &mut found);
        }
        "StatefulSet" => {
            if spec["revisionHistoryLimit"]
                .as_i64()
                .is_some_and(|limit| limit < 0)
            {
                found.push("spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended".to_owned());
            }
            pod::spec(&spec["template"]["spec"], "spec.template.spec", &mut found);
        }
        "Job" => {
            too_many_indexes(spec, "spec", &mut found);
            pod::spec(&spec["template"]["spec"], "spec.template.spec", &mut found);
        }
        "CronJob" => {
            let job = &spec["jobTemplate"]["spec"];
            too_many_indexes(job, "spec.jobTemplate.spec", &mut found);
            let path = "spec.jobTemplate.spec.template.spec";
            pod::spec(&job["template"]["spec"], path, &mut found);
        }
        "PodTemplate" => pod::spec(&object["template"]["spec"], "template.spec", &mut found),
        "Ingress" if annotation("kubernetes.io/ingress.class").is_some() => {
            found.push("annotation \"kubernetes.io/ingress.class\" is deprecated, please use 'spec.ingressClassName' instead".to_owned());
        }
        "Node" if spec["externalID"].is_string() => {
            found.push(
                "spec.externalID: this field is deprecated, and is unused by Kubernetes".to_owned(),
            );
        }
        "PersistentVolume" if spec["persistentVolumeReclaimPolicy"] == "Recycle" => {
            found.push("spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.".to_owned());
        }
        "PersistentVolumeClaim" => {
            const CLASS: &str = "volume.beta.kubernetes.io/storage-class";
            if annotation(CLASS).is_some() {
                found.push(format!("metadata.annotations[{CLASS}]: deprecated since v1.8; use \"storageClassName\" attribute instead"));
            }
            let path = "spec.resources.requests[storage]";
            fraction(&spec["resources"]["requests"]["storage"], path, &mut found);
        }
        "Service"
            if spec["externalIPs"]
                .as_array()
                .is_some_and(|ips| !ips.is_empty()) =>
        {
            found.push(
                "spec.externalIPs is deprecated and may no longer be implemented in some clusters"
                    .to_owned(),
            );
        }
        "ServiceAccount" => {
            const MOUNTABLE: &str = "kubernetes.io/enforce-mountable-secrets";
            if annotation(MOUNTABLE).is_some() {
                found.push(format!("metadata.annotations[{MOUNTABLE}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets"));
            }
        }
        _ => {}
    }
    found
}

fn hostname(name: &str, used: &str, found: &mut Vec<String>) {
    let complaints = names::dns_1123_label(name);
    if !complaints.is_empty() {
        found.push(format!(
            "metadata.name: this is used in {used}, which can result in surprising behavior; a DNS label is recommended: [{}]",
            complaints.join(" ")
        ));
    }
}

fn too_many_indexes(spec: &Value, path: &str, found: &mut Vec<String>) {
    let above = |field: &str, most: i64| spec[field].as_i64().is_some_and(|number| number > most);
    if spec["completionMode"] == "Indexed"
        && above("completions", 100_000)
        && above("parallelism", 10_000)
    {
        found.push(format!("{path}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail"));
    }
}

/// Bytes come whole.
fn fraction(amount: &Value, path: &str, found: &mut Vec<String>) {
    let Some(text) = amount.as_str() else {
        return;
    };
    if let Ok(Some(quantity)) = Quantity::parse(text)
        && quantity.nanos() % 1_000_000_000 != 0
    {
        found.push(format!(
            "{path}: fractional byte value {text:?} is invalid, must be an integer"
        ));
    }
}
