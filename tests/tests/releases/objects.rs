//! Objects that releases are made of: enough to be valid, nothing more.

use serde_json::{Value, json};

fn pod_spec() -> Value {
    json!({ "containers": [{ "name": "main", "image": "example.com/app:1" }] })
}

/// A Deployment that selects its pods by `app: NAME`.
pub(crate) fn deployment(name: &str, replicas: Option<i64>) -> Value {
    let mut object = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": { "name": name },
        "spec": {
            "selector": { "matchLabels": { "app": name } },
            "template": { "metadata": { "labels": { "app": name } }, "spec": pod_spec() },
        },
    });
    if let Some(replicas) = replicas {
        object["spec"]["replicas"] = replicas.into();
    }
    object
}

/// A `StatefulSet` without volumes.
pub(crate) fn stateful_set(name: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "StatefulSet",
        "metadata": { "name": name },
        "spec": {
            "replicas": 0,
            "serviceName": name,
            "selector": { "matchLabels": { "app": name } },
            "template": { "metadata": { "labels": { "app": name } }, "spec": pod_spec() },
        },
    })
}

/// A Job that runs an image.
pub(crate) fn job(name: &str, image: &str) -> Value {
    json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": { "name": name },
        "spec": { "template": { "spec": {
            "restartPolicy": "Never",
            "containers": [{ "name": "main", "image": image }],
        }}},
    })
}

/// An autoscaler for the Deployment of the same name.
pub(crate) fn autoscaler(name: &str) -> Value {
    json!({
        "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
        "metadata": { "name": name },
        "spec": {
            "scaleTargetRef": { "apiVersion": "apps/v1", "kind": "Deployment", "name": name },
            "minReplicas": 1,
            "maxReplicas": 10,
            "metrics": [{ "type": "Resource", "resource": {
                "name": "cpu", "target": { "type": "Utilization", "averageUtilization": 50 },
            }}],
        },
    })
}

/// A claim for a volume.
pub(crate) fn claim(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": { "name": name },
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "none",
            "resources": { "requests": { "storage": "1Gi" } },
        },
    })
}

/// A policy that lets nothing in.
pub(crate) fn network_policy(name: &str) -> Value {
    json!({
        "apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy",
        "metadata": { "name": name },
        "spec": { "podSelector": {}, "policyTypes": ["Ingress"] },
    })
}

/// A Secret with one value, written as a person writes it.
pub(crate) fn secret(name: &str, value: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": { "name": name }, "stringData": { "password": value },
    })
}

/// An object with another namespace than the test's own; nothing for none at all.
pub(crate) fn in_namespace(mut object: Value, namespace: Option<&str>) -> Value {
    object["metadata"]["namespace"] = namespace.map_or(Value::Null, Value::from);
    object
}
