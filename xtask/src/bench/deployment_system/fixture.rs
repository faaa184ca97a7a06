//! What is measured with: services as OpenChoreo 0.4 has them, with two endpoints each, some of which share a group of
//! settings.

use http::Method;
use serde_json::{Value, json};

use super::super::{
    load::Call,
    objects::{OURS, creation},
};

const OPENCHOREO: &str = "openchoreo.dev/v1alpha1";
/// The group that some of the Deployments use.
pub(super) const GROUP: &str = "shared";

/// The name of the n-th Deployment.
pub(super) fn name(index: usize) -> String {
    format!("cart-{index:04}-dev")
}

/// The name of its Release.
pub(super) fn release(index: usize) -> String {
    format!("deployment-{}", name(index))
}

fn component_name(index: usize) -> String {
    format!("cart-{index:04}")
}

fn project_name(index: usize) -> String {
    format!("orchard-{index:03}")
}

/// The path of a project.
pub(super) fn project_path(index: usize) -> String {
    format!("{OURS}/projects/{}", project_name(index))
}

/// An object with the labels that say whose it is.
fn labelled(kind: &str, name: &str, parents: &[(&str, &str)], spec: &Value) -> Value {
    let mut labels = json!({
        "openchoreo.dev/organization": "default", "openchoreo.dev/name": name,
    });
    for (parent, value) in parents {
        labels[format!("openchoreo.dev/{parent}")] = json!(value);
    }
    json!({
        "apiVersion": OPENCHOREO, "kind": kind,
        "metadata": { "name": name, "labels": labels }, "spec": spec,
    })
}

/// The creation of a project.
pub(super) fn project(index: usize) -> Call {
    let spec = json!({ "deploymentPipelineRef": "default" });
    let project = labelled("Project", &project_name(index), &[], &spec);
    creation(&format!("{OURS}/projects"), &project)
}

fn settings(value: &str) -> Value {
    json!({ "configurations": [
        { "key": "host", "values": [{ "environment": "development", "value": value }] },
        { "key": "port", "values": [{ "environment": "development", "value": "6379" }] },
    ]})
}

/// The creation of the group.
pub(super) fn group() -> Call {
    let group = labelled(
        "ConfigurationGroup",
        GROUP,
        &[],
        &settings("redis.internal"),
    );
    creation(&format!("{OURS}/configurationgroups"), &group)
}

/// Another value in the group.
pub(super) fn edit(value: &str) -> Call {
    let patch = json!({ "spec": settings(value) });
    Call {
        method: Method::PATCH,
        target: format!("{OURS}/configurationgroups/{GROUP}"),
        content_type: "application/merge-patch+json",
        body: patch.to_string().into(),
    }
}

fn template(name: &str, port: u16) -> Value {
    json!({ "metadata": { "name": name }, "spec": {
        "type": "REST",
        "backendRef": {
            "basePath": format!("/{name}"), "type": "componentRef", "componentRef": { "port": port },
        },
        "networkVisibilities": { "public": { "enable": true } },
    }})
}

/// The creation of a component, its track, an artifact with two endpoints, and the Deployment of it.
pub(super) fn deployment(index: usize, projects: usize, uses_group: bool) -> Vec<Call> {
    let (component, project) = (component_name(index), project_name(index % projects));
    let track = format!("{component}-main");
    let mut application = json!({ "env": [{ "key": "LOG_LEVEL", "value": "info" }] });
    if uses_group {
        application["envFrom"] = json!([{ "configurationGroupRef": { "name": GROUP } }]);
    }
    let artifact = json!({
        "targetArtifact": { "fromImageRef": { "tag": "registry.example.com/shop/cart:1.0.0" } },
        "configuration": {
            "endpointTemplates": [template("api", 8080), template("admin", 8081)],
            "application": application,
        },
    });
    let spec = json!({ "owner": { "projectName": project }, "type": "Service" });
    let of_project = [("project", project.as_str())];
    let of_component = [of_project[0], ("component", component.as_str())];
    let of_track = [
        of_component[0],
        of_component[1],
        ("deployment-track", &track),
    ];
    let placed = [
        of_track[0],
        of_track[1],
        of_track[2],
        ("environment", "development"),
    ];
    let reference = json!({ "deploymentArtifactRef": component });
    let all = [
        (
            "components",
            labelled("Component", &component, &of_project, &spec),
        ),
        (
            "deploymenttracks",
            labelled("DeploymentTrack", &track, &of_component, &json!({})),
        ),
        (
            "deployableartifacts",
            labelled("DeployableArtifact", &component, &of_track, &artifact),
        ),
        (
            "deployments",
            labelled("Deployment", &name(index), &placed, &reference),
        ),
    ];
    all.iter()
        .map(|(plural, object)| creation(&format!("{OURS}/{plural}"), object))
        .collect()
}

/// The deletion of a Deployment.
pub(super) fn deletion(index: usize) -> Call {
    Call {
        method: Method::DELETE,
        target: format!("{OURS}/deployments/{}", name(index)),
        content_type: "application/json",
        body: bytes::Bytes::new(),
    }
}
