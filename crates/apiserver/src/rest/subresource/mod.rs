//! Subresources: parts of an object, and verbs in disguise.

use axum::response::Response;
use quadrille_machinery::status::Status;
use serde_json::Value;

use super::{Request, get, object, patch, update};

pub(crate) mod binding;
mod eviction;
pub(crate) mod scale;
mod spoken;
mod token;

/// Does what a verb on a subresource says.
pub(crate) async fn handle(request: &Request, verb: &str) -> Result<Response, Status> {
    match (request.subresource(), verb) {
        ("scale", "get") => scale::get(request),
        ("scale", "update") => scale::update(request).await,
        ("scale", "patch") => scale::patch(request).await,
        ("eviction", "create") => eviction::create(request).await,
        ("binding", "create") => binding::create(request).await,
        ("token", "create") => token::create(request),
        (
            "status" | "approval" | "ephemeralcontainers" | "resize" | "finalize",
            "get" | "update" | "patch",
        ) => match verb {
            "get" => object::respond(request, 200, &get::current(request)?),
            "update" => update::update(request).await,
            _ => patch::patch(request).await,
        },
        ("log", "get") => {
            let pod = get::current(request)?.object(&request.resource)?;
            check_container(request, &pod)?;
            Err(needs_kubelet(request, "log"))
        }
        (other, _) => {
            get::current(request)?;
            Err(needs_kubelet(request, other))
        }
    }
}

/// The container that a log is asked of must be one of the pod's.
fn check_container(request: &Request, pod: &Value) -> Result<(), Status> {
    let Some(wanted) = request.query.text("container") else {
        return Ok(());
    };
    let known = ["containers", "initContainers", "ephemeralContainers"]
        .iter()
        .flat_map(|list| pod["spec"][*list].as_array().into_iter().flatten())
        .any(|container| container["name"] == wanted.as_str());
    if known {
        return Ok(());
    }
    let name = request.name()?;
    Err(Status::bad_request(format!(
        "container {wanted} is not valid for pod {name}"
    )))
}

/// What only a machine that runs containers can answer.
fn needs_kubelet(request: &Request, subresource: &str) -> Status {
    let name = request.target.name.as_deref().unwrap_or("");
    Status {
        code: 501,
        reason: "NotImplemented",
        message: format!(
            "{}/{subresource} of {name:?} needs containers, and this server runs none",
            request.resource.plural
        ),
        details: Value::Null,
        list_continue: None,
    }
}
