//! Subresources: parts of an object, and verbs in disguise.

use axum::response::Response;
use quadrille_machinery::status::Status;

use super::{Request, get, object, patch, update};

mod binding;
mod eviction;
pub(crate) mod scale;
mod token;

/// Does what a verb on a subresource says.
pub(crate) async fn handle(request: &Request, verb: &str) -> Result<Response, Status> {
    match (request.subresource(), verb) {
        ("scale", "get") => scale::get(request),
        ("scale", "update") => scale::update(request).await,
        ("scale", "patch") => scale::patch(request).await,
        ("eviction", "create") => eviction::create(request).await,
        ("binding", "create") => binding::create(request).await,
        ("token", "create") => token::create(request).await,
        (
            "status" | "approval" | "ephemeralcontainers" | "resize" | "finalize",
            "get" | "update" | "patch",
        ) => match verb {
            "get" => object::respond(request, 200, &get::current(request)?),
            "update" => update::update(request).await,
            _ => patch::patch(request).await,
        },
        (other, _) => Err(needs_kubelet(request, other)),
    }
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
        details: serde_json::Value::Null,
        list_continue: None,
    }
}
