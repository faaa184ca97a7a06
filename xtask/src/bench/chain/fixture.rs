//! What is measured with: services like the sample's, spread over projects.

use http::Method;
use serde_json::{Value, json};

use super::super::{
    load::Call,
    objects::{OURS, creation},
};

const OPENCHOREO: &str = "openchoreo.dev/v1alpha1";
/// The type of all components.
pub(super) const TYPE: &str = "/apis/openchoreo.dev/v1alpha1/clustercomponenttypes/service";

/// The name of the n-th component.
pub(super) fn name(index: usize) -> String {
    format!("cart-{index:04}")
}

fn project_name(index: usize) -> String {
    format!("shop-{index:03}")
}

/// The path of a project.
pub(super) fn project_path(index: usize) -> String {
    format!("{OURS}/projects/{}", project_name(index))
}

/// The creation of a project.
pub(super) fn project(index: usize) -> Call {
    let project = json!({
        "apiVersion": OPENCHOREO, "kind": "Project", "metadata": { "name": project_name(index) },
        "spec": { "deploymentPipelineRef": "default" },
    });
    creation(&format!("{OURS}/projects"), &project)
}

/// The creation of a component and of its workload.
pub(super) fn component(index: usize, projects: usize) -> Vec<Call> {
    let project = project_name(index % projects);
    let name = name(index);
    let component = json!({
        "apiVersion": OPENCHOREO, "kind": "Component", "metadata": { "name": name },
        "spec": {
            "owner": { "projectName": project },
            "componentType": { "kind": "ClusterComponentType", "name": "deployment/service" },
            "autoDeploy": true,
        },
    });
    let workload = json!({
        "apiVersion": OPENCHOREO, "kind": "Workload", "metadata": { "name": name },
        "spec": {
            "owner": { "projectName": project, "componentName": name },
            "container": {
                "image": "registry.example.com/shop/cart:1.0.0",
                "env": [{ "key": "LOG_LEVEL", "value": "info" }],
            },
            "endpoints": { "http": { "type": "HTTP", "port": 9090, "visibility": ["external"] } },
        },
    });
    vec![
        creation(&format!("{OURS}/components"), &component),
        creation(&format!("{OURS}/workloads"), &workload),
    ]
}

/// Gives a workload another image.
pub(super) fn edit(name: &str, image: &str) -> Call {
    let patch = json!({ "spec": { "container": { "image": image } } });
    Call {
        method: Method::PATCH,
        target: format!("{OURS}/workloads/{name}"),
        content_type: "application/merge-patch+json",
        body: patch.to_string().into(),
    }
}

/// Gives the pods of a type another annotation.
pub(super) fn edited(mut definition: Value) -> Call {
    for resource in definition["spec"]["resources"]
        .as_array_mut()
        .into_iter()
        .flatten()
    {
        let template = &mut resource["template"];
        if template["kind"] == "Deployment" {
            let metadata = &mut template["spec"]["template"]["metadata"];
            metadata["annotations"] = json!({ "example.com/edited": "yes" });
        }
    }
    let patch = json!({ "spec": { "resources": definition["spec"]["resources"] } });
    Call {
        method: Method::PATCH,
        target: TYPE.to_owned(),
        content_type: "application/merge-patch+json",
        body: patch.to_string().into(),
    }
}

/// The deletion of a component.
pub(super) fn deletion(name: &str) -> Call {
    Call {
        method: Method::DELETE,
        target: format!("{OURS}/components/{name}"),
        content_type: "application/json",
        body: bytes::Bytes::new(),
    }
}
