//! The verbs: one file each.
//!
//! A handler gets a [`Request`] that already names an existing resource and an authorized user, and gives a
//! response or a [`Status`].

use std::sync::Arc;

use axum::response::Response;
use bytes::Bytes;
use http::{HeaderMap, Method};
use parking_lot::Mutex;
use quadrille_machinery::status::Status;

use crate::{
    accept::Form, auth::User, options::Query, path::Target, policies::AuditNotes, reply,
    resource::Resource, server::Shared,
};

mod create;
mod delete;
mod delete_collection;
mod get;
mod list;
mod object;
mod patch;
mod reviews;
mod shown;
mod subresource;
mod table;
mod update;
mod watch;
pub(crate) mod write;

pub(crate) use delete::{FOREGROUND, ORPHAN, Propagation, remove_all, remove_one};
pub(crate) use object::Saved;
pub(crate) use reviews::is_review;

/// One authorized request for a resource.
#[derive(Clone)]
pub(crate) struct Request {
    pub(crate) shared: Arc<Shared>,
    pub(crate) user: User,
    pub(crate) resource: Arc<Resource>,
    pub(crate) target: Target,
    pub(crate) query: Query,
    pub(crate) headers: HeaderMap,
    /// How the client wants to read the answer.
    pub(crate) form: Form,
    pub(crate) body: Bytes,
    /// What the client should be warned about.
    pub(crate) warnings: Arc<Mutex<Vec<String>>>,
    /// What policies note about it.
    pub(crate) notes: Arc<Mutex<AuditNotes>>,
    /// Whether this is a part of a request for many objects.
    pub(crate) one_of_many: bool,
    /// Whether the server asks itself: what a cluster does by itself is not judged by policies.
    pub(crate) own: bool,
}

impl Request {
    /// The object's name; list-like paths have none.
    pub(crate) fn name(&self) -> Result<&str, Status> {
        self.target
            .name
            .as_deref()
            .ok_or_else(|| Status::bad_request("name must be provided"))
    }

    /// The namespace of the path.
    pub(crate) fn namespace(&self) -> Option<&str> {
        self.target.namespace.as_deref()
    }

    /// The subresource; empty for the object itself.
    pub(crate) fn subresource(&self) -> &str {
        self.target.subresource.as_deref().unwrap_or("")
    }

    /// A part of the request: one object of the many that it is for.
    pub(crate) fn for_object(&self, namespace: Option<&str>, name: &str) -> Self {
        Self {
            target: Target {
                namespace: namespace.map(str::to_owned),
                name: Some(name.to_owned()),
                ..self.target.clone()
            },
            one_of_many: true,
            ..self.clone()
        }
    }

    /// Remembers a note for the request log.
    pub(crate) fn note(&self, key: String, value: String) {
        // The first note under a key stays.
        self.notes.lock().0.entry(key).or_insert(value);
    }

    /// Remembers a warning for the client.
    pub(crate) fn warn(&self, warning: impl Into<String>) {
        self.warnings.lock().push(warning.into());
    }

    /// 404 for the named object.
    pub(crate) fn not_found(&self) -> Status {
        let name = self.target.name.as_deref().unwrap_or("");
        Status::not_found(&self.resource.group, &self.resource.plural, name)
    }

    /// 409 for the named object.
    pub(crate) fn conflict(&self, why: &str) -> Status {
        let name = self.target.name.as_deref().unwrap_or("");
        Status::conflict(&self.resource.group, &self.resource.plural, name, why)
    }

    /// The manager that owns what this request writes.
    pub(crate) fn manager(&self, given: Option<&str>) -> String {
        if let Some(manager) = given {
            return manager.to_owned();
        }
        let agent = self
            .headers
            .get(http::header::USER_AGENT)
            .and_then(|text| text.to_str().ok());
        let agent = agent.unwrap_or("").split('/').next().unwrap_or("");
        if agent.is_empty() {
            "unknown".to_owned()
        } else {
            truncated(agent)
        }
    }
}

/// A field manager's name is bounded; one guessed from the user agent is cut.
fn truncated(agent: &str) -> String {
    let agent: String = agent.chars().filter(|char| !char.is_control()).collect();
    let mut end = agent.len().min(128);
    while !agent.is_char_boundary(end) {
        end -= 1;
    }
    agent[..end].to_owned()
}

/// The verb that a method means for a path, if the path has such a method. `asks_to_watch` is what the query says; it means
/// nothing where one object is named. The old paths for watching are there for that alone: whoever asks there was asked
/// for the permission to watch, whatever the method.
pub(crate) fn verb(method: &Method, target: &Target, asks_to_watch: bool) -> Option<&'static str> {
    if target.watch {
        let watches = method == Method::GET && target.subresource.is_none();
        return watches.then_some("watch");
    }
    Some(match (method.as_str(), target.name.is_some()) {
        ("GET", true) => "get",
        ("GET", false) if asks_to_watch => "watch",
        ("GET", false) => "list",
        ("POST", _) => "create",
        ("PUT", true) => "update",
        ("PATCH", true) => "patch",
        ("DELETE", true) => "delete",
        ("DELETE", false) => "deletecollection",
        _ => return None,
    })
}

/// Whether a resource is the old way to bind pods, which stores nothing.
fn is_binding(resource: &Resource) -> bool {
    resource.is_built_in() && resource.group.is_empty() && resource.plural == "bindings"
}

/// Does what the verb says.
pub(crate) async fn handle(request: &Request, verb: &str) -> Response {
    if let Some(warning) = request.resource.deprecation() {
        request.warn(warning);
    }
    let result = match (verb, request.target.subresource.is_some()) {
        (_, true) => subresource::handle(request, verb).await,
        ("get", _) => get::get(request),
        ("list", _) => list::list(request),
        ("watch", _) => watch::watch(request),
        ("create", _) if reviews::is_review(&request.resource) => reviews::create(request).await,
        ("create", _) if is_binding(&request.resource) => {
            subresource::binding::create(request).await
        }
        ("create", _) => create::create(request).await,
        ("update", _) => update::update(request).await,
        ("patch", _) => patch::patch(request).await,
        ("delete", _) => delete::delete(request).await,
        ("deletecollection", _) => delete_collection::delete_collection(request).await,
        _ => Err(Status::method_not_supported(
            &request.resource.group,
            &request.resource.plural,
            verb,
        )),
    };
    let mut response = result.unwrap_or_else(|status| reply::status(&status));
    reply::warn(&mut response, &request.warnings.lock());
    let notes = std::mem::take(&mut *request.notes.lock());
    if !notes.0.is_empty() {
        response.extensions_mut().insert(notes);
    }
    response
}
