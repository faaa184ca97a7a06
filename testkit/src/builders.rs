//! Small objects by their names: enough to be valid, nothing more. Change what a test is about, leave the rest.

use std::collections::BTreeMap;

use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Namespace, Pod, Secret, Service},
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Any object from JSON.
pub fn mk<K: DeserializeOwned>(object: Value) -> K {
    serde_json::from_value(object).expect("the test's object has the shape of its kind")
}

/// A Namespace.
pub fn mk_namespace(name: &str) -> Namespace {
    mk(json!({ "metadata": { "name": name } }))
}

/// A ConfigMap with data.
pub fn mk_config_map(name: &str, data: &[(&str, &str)]) -> ConfigMap {
    let data: BTreeMap<_, _> = data.iter().copied().collect();
    mk(json!({ "metadata": { "name": name }, "data": data }))
}

/// An opaque Secret.
pub fn mk_secret(name: &str, data: &[(&str, &str)]) -> Secret {
    let data: BTreeMap<_, _> = data.iter().copied().collect();
    mk(json!({ "metadata": { "name": name }, "stringData": data }))
}

/// A Pod with one container.
pub fn mk_pod(name: &str) -> Pod {
    mk(json!({ "metadata": { "name": name }, "spec": pod_spec() }))
}

/// A Deployment that selects its pods by `app: NAME`.
pub fn mk_deployment(name: &str, replicas: i32) -> Deployment {
    mk(json!({
        "metadata": { "name": name },
        "spec": {
            "replicas": replicas,
            "selector": { "matchLabels": { "app": name } },
            "template": { "metadata": { "labels": { "app": name } }, "spec": pod_spec() },
        },
    }))
}

/// A Service in front of the pods of [`mk_deployment`].
pub fn mk_service(name: &str, port: i32) -> Service {
    mk(json!({
        "metadata": { "name": name },
        "spec": { "selector": { "app": name }, "ports": [{ "port": port }] },
    }))
}

fn pod_spec() -> Value {
    json!({ "containers": [{ "name": "main", "image": "example.com/app:1" }] })
}
