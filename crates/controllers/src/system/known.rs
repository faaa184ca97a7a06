//! What is known, for tests: an organization with a project, two environments on a plane and the way between them.

use kube::Resource;
use quadrille_planes::feed::{News, Told};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::{releases::Inner, shelf::Shelf};

/// An object of ours, made at a second of a minute.
pub(super) fn object(kind: &str, name: &str, second: u8, spec: &Value) -> Value {
    json!({
        "apiVersion": "openchoreo.dev/v1alpha1", "kind": kind,
        "metadata": {
            "name": name, "namespace": "acme", "uid": format!("uid-of-{name}"),
            "resourceVersion": "1", "generation": 1,
            "creationTimestamp": format!("2026-01-01T00:00:{second:02}Z"),
        },
        "spec": spec,
    })
}

/// Puts an object onto its shelf.
pub(super) fn put<K>(shelf: &mut Shelf<K>, object: &Value)
where
    K: Resource<DynamicType = ()> + DeserializeOwned,
{
    let heard = shelf.hear(News::Changed(Told::from(object.clone())));
    assert_eq!(heard.changed.len(), 1, "{object}");
}

/// What is there before anything is deployed.
pub(super) fn world() -> Inner {
    let mut world = Inner::default();
    let shelves = &mut world.shelves;
    let along = json!({ "deploymentPipelineRef": "default" });
    put(&mut shelves.projects, &object("Project", "shop", 0, &along));
    let on = json!({ "dataPlaneRef": "default" });
    for name in ["development", "staging"] {
        put(
            &mut shelves.environments,
            &object("Environment", name, 0, &on),
        );
    }
    let plane = json!({
        "kubernetesCluster": { "inCluster": true },
        "gateway": { "publicVirtualHost": "apis.test", "organizationVirtualHost": "internal.test" },
    });
    put(
        &mut shelves.planes,
        &object("DataPlane", "default", 0, &plane),
    );
    let path = json!({ "promotionPaths": [
        { "sourceEnvironmentRef": "development", "targetEnvironmentRefs": [{ "name": "staging" }] },
    ] });
    put(
        &mut shelves.pipelines,
        &object("DeploymentPipeline", "default", 0, &path),
    );
    let none = json!({});
    let system = &mut world.system;
    put(
        &mut system.service_classes,
        &object("ServiceClass", "default", 0, &none),
    );
    put(
        &mut system.api_classes,
        &object("APIClass", "default", 0, &none),
    );
    world
}

/// What a binding of a service asks for.
pub(super) fn service_binding(component: &str, environment: &str) -> Value {
    json!({
        "owner": { "projectName": "shop", "componentName": component },
        "environment": environment, "className": "default", "releaseState": "Active",
        "workloadSpec": {
            "containers": { "main": { "image": "cart:1" } },
            "endpoints": { "api": { "type": "REST", "port": 8080 } },
        },
    })
}

/// An API of REST at a path, for the world.
pub(super) fn rest(path: &str) -> Value {
    json!({
        "className": "default", "type": "REST",
        "rest": { "backend": { "port": 8080, "basePath": path }, "exposeLevels": ["Public"] },
    })
}
