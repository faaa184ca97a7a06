//! `Status`: how the server says no, worded and coded as Kubernetes does.

use serde_json::{Map, Value, json};

use crate::{
    field_error::{FieldError, join},
    go_text::quote,
};

/// A refusal: HTTP code, machine-readable reason, message and details.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Status {
    /// The HTTP status code.
    pub code: u16,
    /// The machine-readable reason (`NotFound` …); empty where Kubernetes gives none.
    pub reason: &'static str,
    /// Words for people.
    pub message: String,
    /// `details`, or null.
    pub details: Value,
    /// `metadata.continue`: where an expired list may go on.
    pub list_continue: Option<String>,
}

/// The name by which errors know a resource: `deployments.apps`.
pub fn qualified(group: &str, resource: &str) -> String {
    if group.is_empty() {
        resource.to_owned()
    } else {
        format!("{resource}.{group}")
    }
}

fn details(group: &str, kind: &str, name: &str) -> Map<String, Value> {
    let mut details = Map::new();
    for (key, text) in [("name", name), ("group", group), ("kind", kind)] {
        if !text.is_empty() {
            details.insert(key.to_owned(), json!(text));
        }
    }
    details
}

impl Status {
    fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            reason,
            message: message.into(),
            details: Value::Null,
            list_continue: None,
        }
    }

    fn of(
        code: u16,
        reason: &'static str,
        group: &str,
        resource: &str,
        name: &str,
        message: String,
    ) -> Self {
        let details = Value::Object(details(group, resource, name));
        Self {
            code,
            reason,
            message,
            details,
            list_continue: None,
        }
    }

    /// 404: no such object.
    pub fn not_found(group: &str, resource: &str, name: &str) -> Self {
        let message = format!("{} {} not found", qualified(group, resource), quote(name));
        Self::of(404, "NotFound", group, resource, name, message)
    }

    /// 404: no such path.
    pub fn no_such_path() -> Self {
        Self {
            details: json!({}),
            ..Self::new(
                404,
                "NotFound",
                "the server could not find the requested resource",
            )
        }
    }

    /// 409: the name is taken.
    pub fn already_exists(group: &str, resource: &str, name: &str) -> Self {
        let message = format!("{} {name:?} already exists", qualified(group, resource));
        Self::of(409, "AlreadyExists", group, resource, name, message)
    }

    /// 409: somebody was faster, or a precondition does not hold.
    pub fn conflict(group: &str, resource: &str, name: &str, why: &str) -> Self {
        let qualified = qualified(group, resource);
        let message = format!("Operation cannot be fulfilled on {qualified} {name:?}: {why}");
        Self::of(409, "Conflict", group, resource, name, message)
    }

    /// 422: the object breaks rules.
    pub fn invalid(group: &str, kind: &str, name: &str, errors: &[FieldError]) -> Self {
        let message = format!(
            "{} {name:?} is invalid: {}",
            qualified(group, kind),
            join(errors)
        );
        let mut details = details(group, kind, name);
        details.insert(
            "causes".to_owned(),
            errors.iter().map(FieldError::cause).collect::<Value>(),
        );
        Self {
            details: Value::Object(details),
            ..Self::new(422, "Invalid", message)
        }
    }

    /// 403: not allowed.
    pub fn forbidden(group: &str, resource: &str, name: &str, why: &str) -> Self {
        let qualified = qualified(group, resource);
        let message = if name.is_empty() {
            format!("{qualified} is forbidden: {why}")
        } else {
            format!("{qualified} {name:?} is forbidden: {why}")
        };
        Self::of(403, "Forbidden", group, resource, name, message)
    }

    /// 400.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    /// 401.
    pub fn unauthorized() -> Self {
        Self::new(401, "Unauthorized", "Unauthorized")
    }

    /// 405: the resource lacks the verb.
    pub fn method_not_supported(group: &str, resource: &str, verb: &str) -> Self {
        let qualified = qualified(group, resource);
        let message = format!("{verb} is not supported on resources of kind {qualified:?}");
        Self::of(405, "MethodNotAllowed", group, resource, "", message)
    }

    /// 410: the wanted history is compacted.
    pub fn expired(message: impl Into<String>) -> Self {
        Self::new(410, "Expired", message)
    }

    /// 410: a watch starts before the history does.
    pub fn gone(message: impl Into<String>) -> Self {
        Self::new(410, "Gone", message)
    }

    /// 413.
    pub fn too_large(message: impl Into<String>) -> Self {
        Self::new(413, "RequestEntityTooLarge", message)
    }

    /// 415: a content type that nobody reads.
    pub fn unsupported_media_type(message: impl Into<String>) -> Self {
        Self::new(415, "UnsupportedMediaType", message)
    }

    /// 406: a content type that nobody writes.
    pub fn not_acceptable(message: impl Into<String>) -> Self {
        Self::new(406, "NotAcceptable", message)
    }

    /// 504: the request ran out of time.
    pub fn timeout(message: impl Into<String>) -> Self {
        Self::new(504, "Timeout", message)
    }

    /// 503.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(503, "ServiceUnavailable", message)
    }

    /// 500: our own fault.
    pub fn internal(message: impl std::fmt::Display) -> Self {
        let text = message.to_string();
        Self {
            details: json!({ "causes": [{ "message": text }] }),
            ..Self::new(
                500,
                "InternalError",
                format!("Internal error occurred: {text}"),
            )
        }
    }

    /// 500 in words of our own, without a reason: how servers pass on errors that they have no name for.
    pub fn failure(message: impl Into<String>) -> Self {
        Self::new(500, "", message)
    }

    /// The object that goes over the wire.
    pub fn to_value(&self) -> Value {
        let mut status = json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "code": self.code,
        });
        if !self.reason.is_empty() {
            status["reason"] = json!(self.reason);
        }
        if let Some(token) = &self.list_continue {
            status["metadata"]["continue"] = json!(token);
        }
        if !self.details.is_null() {
            status["details"] = self.details.clone();
        }
        status
    }
}
