//! What is measured with: releases of five small objects.

use bytes::Bytes;
use http::Method;
use quadrille_types::{annotations, labels::tracking};
use serde_json::{Value, json};

use super::super::load::Call;

/// Where everything of the bench is.
pub(in crate::bench) const NAMESPACE: &str = "bench";
/// Where the bare client writes, out of the controller's sight.
pub(in crate::bench) const LIMIT: &str = "bench-limit";
/// Who manages what the bare client writes: not the controllers, who would keep all of it in mind.
const BARE_CLIENT: &str = "bench-bare-client";
/// Objects of a release.
pub(in crate::bench) const OBJECTS: usize = 5;

const MERGE: &str = "application/merge-patch+json";
const JSON: &str = "application/json";
const APPLY: &str = "application/apply-patch+yaml";

fn call(method: Method, target: String, content_type: &'static str, body: &Value) -> Call {
    Call {
        method,
        target,
        content_type,
        body: body.to_string().into(),
    }
}

/// The path of releases.
pub(in crate::bench) fn releases(namespace: &str) -> String {
    format!("/apis/openchoreo.dev/v1alpha1/namespaces/{namespace}/releases")
}

/// The path of an object of a release.
pub(in crate::bench) fn path(namespace: &str, kind: &str, name: &str) -> String {
    let collection = match kind {
        "Deployment" => format!("/apis/apps/v1/namespaces/{namespace}/deployments"),
        "Service" => format!("/api/v1/namespaces/{namespace}/services"),
        "ServiceAccount" => format!("/api/v1/namespaces/{namespace}/serviceaccounts"),
        _ => format!("/api/v1/namespaces/{namespace}/configmaps"),
    };
    format!("{collection}/{name}")
}

/// The objects of a release: two config maps, a service account, a service, a deployment.
pub(in crate::bench) fn objects(namespace: &str, name: &str, value: usize) -> Vec<Value> {
    let metadata =
        |name: &str| json!({ "name": name, "namespace": namespace, "labels": { "app": name } });
    let config = |name: &str| {
        json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata(name),
            "data": { "LOG_LEVEL": "info", "value": value.to_string(), "url": "http://pay.shop.svc:8080/v1" },
        })
    };
    vec![
        config(&format!("{name}-env")),
        config(&format!("{name}-files")),
        json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata(name) }),
        json!({
            "apiVersion": "v1", "kind": "Service", "metadata": metadata(name),
            "spec": { "selector": { "app": name }, "ports": [{ "name": "http", "port": 80, "targetPort": 8080 }] },
        }),
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata(name),
            "spec": {
                "replicas": 2,
                "selector": { "matchLabels": { "app": name } },
                "template": {
                    "metadata": { "labels": { "app": name } },
                    "spec": {
                        "serviceAccountName": name,
                        "containers": [{
                            "name": "main", "image": "registry.example.com/shop/cart:1.2.3",
                            "ports": [{ "name": "http", "containerPort": 8080 }],
                            "envFrom": [{ "configMapRef": { "name": format!("{name}-env") } }],
                            "resources": { "requests": { "cpu": "100m", "memory": "128Mi" } },
                        }],
                    },
                },
            },
        }),
    ]
}

/// A release.
pub(in crate::bench) fn release(namespace: &str, name: &str) -> Value {
    let resources: Vec<Value> = objects(namespace, name, 1)
        .into_iter()
        .enumerate()
        .map(|(index, object)| json!({ "id": format!("object-{index}"), "object": object }))
        .collect();
    json!({
        "apiVersion": "openchoreo.dev/v1alpha1", "kind": "Release",
        "metadata": { "name": name, "namespace": namespace },
        "spec": {
            "owner": { "projectName": "shop", "componentName": name },
            "environmentName": "development",
            "resources": resources,
        },
    })
}

/// Creates a release.
pub(in crate::bench) fn create(namespace: &str, name: &str) -> Call {
    call(
        Method::POST,
        releases(namespace),
        JSON,
        &release(namespace, name),
    )
}

/// Changes the first ConfigMap of a release.
pub(in crate::bench) fn change(name: &str, value: usize) -> Call {
    let patch = json!([{
        "op": "replace", "path": "/spec/resources/0/object/data/value", "value": value.to_string(),
    }]);
    let target = format!("{}/{name}", releases(NAMESPACE));
    call(Method::PATCH, target, "application/json-patch+json", &patch)
}

/// Deletes a release.
pub(in crate::bench) fn delete(name: &str) -> Call {
    let target = format!("{}/{name}", releases(NAMESPACE));
    Call {
        method: Method::DELETE,
        target,
        content_type: JSON,
        body: Bytes::new(),
    }
}

/// Everything that must be there before the first release.
pub(in crate::bench) fn ground(namespace: &str) -> Vec<Call> {
    let of_ours = |plural: &str, object: Value| {
        let target = format!("/apis/openchoreo.dev/v1alpha1/namespaces/{namespace}/{plural}");
        call(Method::POST, target, JSON, &object)
    };
    vec![
        super::super::load::create_namespace(namespace),
        of_ours(
            "dataplanes",
            json!({
                "apiVersion": "openchoreo.dev/v1alpha1", "kind": "DataPlane",
                "metadata": { "name": "local" },
                "spec": { "kubernetesCluster": { "inCluster": true } },
            }),
        ),
        of_ours(
            "environments",
            json!({
                "apiVersion": "openchoreo.dev/v1alpha1", "kind": "Environment",
                "metadata": { "name": "development" }, "spec": { "dataPlaneRef": "local" },
            }),
        ),
    ]
}

/// The writes that a release costs, as a bare client sends them: what the user and the engine write together.
/// `status` is what the engine writes in the end.
pub(in crate::bench) fn bare_writes(name: &str, status: &Value) -> Vec<Call> {
    let of_release = |subresource: &str, body: &Value| {
        let target = format!("{}/{name}{subresource}", releases(LIMIT));
        call(Method::PATCH, target, MERGE, body)
    };
    let finalizers = json!({ "metadata": { "finalizers": ["example.com/bench"] } });
    let mut writes = vec![
        create(LIMIT, name),
        of_release("", &finalizers),
        of_release("/status", &json!({ "status": planned(status) })),
    ];
    let objects = objects(LIMIT, name, 1).into_iter().enumerate();
    writes.extend(objects.map(|(index, mut object)| {
        stamp(&mut object, name, index);
        let kind = object["kind"].as_str().unwrap_or_default();
        let of = object["metadata"]["name"].as_str().unwrap_or_default();
        let target = format!(
            "{}?fieldManager={}&force=true&fieldValidation=Strict",
            path(LIMIT, kind, of),
            tracking::RELEASE_CONTROLLER,
        );
        call(Method::PATCH, target, APPLY, &object)
    }));
    writes.push(of_release("/status", &json!({ "status": status })));
    writes
}

/// What the engine writes down before it applies anything: the same without what only the plane can tell.
fn planned(status: &Value) -> Value {
    let mut status = status.clone();
    for entry in status["resources"].as_array_mut().into_iter().flatten() {
        for told in ["uid", "digest", "ownedFieldsDigest", "status"] {
            entry.as_object_mut().map(|entry| entry.remove(told));
        }
    }
    status
}

/// What the engine puts onto every object.
fn stamp(object: &mut Value, release: &str, index: usize) {
    let uid = "01234567-89ab-cdef-0123-456789abcdef";
    let labels = [
        (tracking::MANAGED_BY, BARE_CLIENT),
        (tracking::RELEASE_UID, uid),
        (tracking::RELEASE_NAME, release),
        (tracking::RELEASE_NAMESPACE, LIMIT),
    ];
    let metadata = &mut object["metadata"];
    for (key, value) in labels {
        metadata["labels"][key] = value.into();
    }
    metadata["labels"][tracking::RESOURCE_ID] = format!("object-{index}").into();
    metadata["annotations"] =
        json!({ (annotations::APPLIED_DIGEST): "0123456789abcdef0123456789abcdef" });
    // Whatever is there stays: as the engine makes objects.
    metadata["resourceVersion"] = "1".into();
}

/// The watches that the controllers have open, and whether each is of metadata alone.
pub(in crate::bench) fn watches() -> Vec<(String, bool)> {
    let ours = quadrille_types::crds().into_iter().map(|definition| {
        let plural = definition.spec.names.plural;
        let space = match definition.spec.scope.as_str() {
            "Namespaced" => format!("namespaces/{LIMIT}/"),
            _ => String::new(),
        };
        (
            format!("/apis/openchoreo.dev/v1alpha1/{space}{plural}?watch=true"),
            false,
        )
    });
    let managed = |path: &str, metadata_only: bool| {
        let selector = format!("{}%3D{}", tracking::MANAGED_BY, BARE_CLIENT);
        (
            format!("{path}?watch=true&labelSelector={selector}"),
            metadata_only,
        )
    };
    let of_the_plane = [
        managed("/api/v1/configmaps", true),
        managed("/api/v1/services", false),
        managed("/api/v1/serviceaccounts", true),
        managed("/apis/apps/v1/deployments", false),
    ];
    ours.chain(of_the_plane).collect()
}

/// Says of a Deployment that it is available.
pub(in crate::bench) fn available(name: &str) -> Call {
    let status = json!({ "status": {
        "observedGeneration": 1, "replicas": 2, "updatedReplicas": 2, "readyReplicas": 2, "availableReplicas": 2,
        "conditions": [
            { "type": "Available", "status": "True", "reason": "MinimumReplicasAvailable" },
            { "type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable" },
        ],
    }});
    let target = format!("{}/status", path(NAMESPACE, "Deployment", name));
    call(Method::PATCH, target, MERGE, &status)
}
