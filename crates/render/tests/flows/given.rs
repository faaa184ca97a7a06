//! Documents to render from.

use quadrille_render::library;
use serde_json::{Value, json};

use crate::world::ENVIRONMENT;

pub(crate) fn document(kind: &str, name: &str, annotations: &Value, spec: &Value) -> Value {
    json!({
        "apiVersion": "openchoreo.dev/v1alpha1", "kind": kind,
        "metadata": { "name": name, "namespace": "acme", "uid": format!("{name}-uid"), "annotations": annotations },
        "spec": spec,
    })
}

/// Types, traits, the environment and its plane.
pub(crate) fn platform(is_cilium: bool) -> Vec<Value> {
    let listener = json!({ "host": "apps.example.test", "port": 443 });
    let gateway = json!({ "name": "g", "namespace": "gateways", "https": listener });
    let provider = if is_cilium { "cilium" } else { "standard" };
    let mut documents = library::documents();
    documents.push(document("Environment", ENVIRONMENT, &json!({}), &json!({})));
    documents.push(document(
        "DataPlane",
        "default",
        &json!({ "openchoreo.dev/networkpolicyprovider": provider }),
        &json!({ "gateway": { "ingress": { "external": gateway, "internal": gateway } } }),
    ));
    documents
}

/// A component with its workload; one without endpoints is a worker.
pub(crate) fn component(
    project: &str,
    name: &str,
    endpoints: &Value,
    dependencies: &Value,
) -> [Value; 2] {
    let kind = match endpoints.as_object().unwrap().len() {
        0 => "deployment/worker",
        _ => "deployment/service",
    };
    let component = json!({
        "owner": { "projectName": project },
        "componentType": { "kind": "ClusterComponentType", "name": kind },
    });
    let workload = json!({
        "owner": { "projectName": project, "componentName": name },
        "container": { "image": "registry.example.test/shop:1" },
        "endpoints": endpoints, "dependencies": dependencies,
    });
    [
        document("Component", name, &json!({}), &component),
        document("Workload", name, &json!({}), &workload),
    ]
}
