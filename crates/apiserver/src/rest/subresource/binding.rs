//! `pods/binding`: a pod is given to a node.

use axum::response::Response;
use quadrille_machinery::{conditions, field_error::FieldError, status::Status};
use serde_json::{Value, json};

use super::{
    super::{
        Request,
        write::{self, Ownership, VersionRule},
    },
    spoken,
};
use crate::{
    clock,
    options::WriteOptions,
    path::Target,
    policies::{self, Operation},
    reply,
};

/// Binds the named pod to the node in the body.
pub(crate) async fn create(request: &Request) -> Result<Response, Status> {
    let options = WriteOptions::read(&request.query, "CreateOptions")?;
    let binding = spoken::read(request, &options, "", "Binding")?;
    let node = binding["target"]["name"].as_str().unwrap_or("").to_owned();
    if node.is_empty() {
        let error = FieldError::required("target.name", "");
        let name = binding["metadata"]["name"].as_str().unwrap_or_default();
        return Err(Status::invalid("", "Binding", name, &[error]));
    }
    let kind = binding["target"]["kind"].as_str().unwrap_or("");
    if !matches!(kind, "" | "Node") {
        let error = FieldError::not_supported("target.kind", kind.into(), &["Node", "<empty>"]);
        return Err(Status::failure(error.to_string()));
    }
    policies::admit(
        request,
        &options.change(Operation::Create, &binding, &Value::Null),
    )?;
    bind(&of_pod(request, &binding)?, &options, &binding, &node).await
}

/// The request as one for the pod that a binding names: bindings may also be sent without naming it in the path.
fn of_pod(request: &Request, binding: &Value) -> Result<Request, Status> {
    let name = binding["metadata"]["name"].as_str().unwrap_or_default();
    let pods = request.shared.resource("", "v1", "pods")?;
    Ok(Request {
        target: Target {
            plural: pods.plural.clone(),
            name: Some(name.to_owned()),
            subresource: Some("binding".to_owned()),
            ..request.target.clone()
        },
        resource: pods,
        ..request.clone()
    })
}

async fn bind(
    request: &Request,
    options: &WriteOptions,
    binding: &Value,
    node: &str,
) -> Result<Response, Status> {
    let now = clock::seconds(request.shared.clock.now());
    let rule = VersionRule::Retry;
    write::update(request, options, Ownership::Recorded, rule, |current| {
        let mut pod = current.object.clone();
        if !pod["metadata"]["deletionTimestamp"].is_null() {
            return Err(conflict(
                request,
                &format!(
                    "pod {} is being deleted, cannot be assigned to a host",
                    request.name()?
                ),
            ));
        }
        let assigned = pod["spec"]["nodeName"].as_str().unwrap_or("");
        if !assigned.is_empty() {
            return Err(conflict(
                request,
                &format!(
                    "pod {} is already assigned to node {assigned:?}",
                    request.name()?
                ),
            ));
        }
        pod["spec"]["nodeName"] = json!(node);
        for (name, value) in binding["metadata"]["annotations"]
            .as_object()
            .into_iter()
            .flatten()
        {
            pod["metadata"]["annotations"][name] = value.clone();
        }
        set_scheduled(&mut pod, &now);
        Ok(pod)
    })
    .await?;
    Ok(reply::value(
        201,
        &json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Success",
            "code": 201,
        }),
    ))
}

fn conflict(request: &Request, why: &str) -> Status {
    let name = request.target.name.as_deref().unwrap_or("");
    Status::conflict("", "pods/binding", name, why)
}

fn set_scheduled(pod: &mut Value, now: &str) {
    let condition = json!({
        "type": "PodScheduled",
        "status": "True",
        "lastProbeTime": null,
    });
    conditions::set(&mut pod["status"], condition, now);
}
