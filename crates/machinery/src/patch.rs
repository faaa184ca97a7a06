//! Patches: a change to an object, in one of three languages.
//!
//! ```text
//!   current object + patch bytes ──json──────► Patched: the changed value, untyped,
//!                                ──merge─────►          and fields that the patch itself
//!                                ──strategic─►          gives twice or that nobody knows
//! ```
//!
//! The changed value is not yet an object of its kind: whoever asked decodes it by its schema and, where that
//! fails, answers with [`refused`].

pub mod json;
pub mod merge;
pub mod strategic;

pub use self::{json::apply as json, merge::apply as merge, strategic::apply as strategic};
use serde_json::{Map, Value};

use crate::{decode::StrictError, field_error::FieldError, status::Status};

/// The outcome of a patch.
#[derive(Clone, Debug, PartialEq)]
pub struct Patched {
    /// The changed value.
    pub value: Value,
    /// What strict decoding complains about in the patch itself; only looked for when asked to.
    pub strict: Vec<StrictError>,
}

/// 422: what came out of a patch is no object of its kind. `shown` is what the message shows: for JSON and
/// merge patches the JSON of the outcome, for strategic ones the patch as [`strategic::shown`] prints it.
pub fn refused(shown: &str, error: &str) -> Status {
    let shown = Value::String(shown.to_owned());
    Status::invalid("", "", "", &[FieldError::invalid("patch", shown, error)])
}

/// The JSON of an object of a built-in kind as a real server's messages about a patch show it: what the patch
/// touched has its fields sorted, the rest has them in the order in which Kubernetes declares them. That
/// order is known here for metadata alone.
pub fn shown(object: &Value, touches_metadata: bool) -> String {
    let Some(fields) = object.as_object() else {
        return object.to_string();
    };
    let parts = fields.iter().map(|(name, value)| {
        let value = match value {
            Value::Object(metadata) if name == "metadata" => {
                let order: &[&str] = if touches_metadata { &[] } else { &METADATA };
                ordered(metadata, order)
            }
            other => other.to_string(),
        };
        format!("{}:{value}", Value::from(name.as_str()))
    });
    format!("{{{}}}", parts.collect::<Vec<_>>().join(","))
}

const METADATA: [&str; 15] = [
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "managedFields",
];
const MANAGED_FIELDS: [&str; 7] = [
    "manager",
    "operation",
    "apiVersion",
    "time",
    "fieldsType",
    "fieldsV1",
    "subresource",
];

fn ordered(fields: &Map<String, Value>, order: &[&str]) -> String {
    let mut fields: Vec<_> = fields.iter().collect();
    fields.sort_by_key(|(name, _)| order.iter().position(|known| known == name));
    let parts = fields.into_iter().map(|(name, value)| {
        let value = match value {
            Value::Array(entries) if name == "managedFields" => {
                let entries = entries.iter().map(|entry| match entry.as_object() {
                    Some(entry) => ordered(entry, &MANAGED_FIELDS),
                    None => entry.to_string(),
                });
                format!("[{}]", entries.collect::<Vec<_>>().join(","))
            }
            other => other.to_string(),
        };
        format!("{}:{value}", Value::from(name.as_str()))
    });
    format!("{{{}}}", parts.collect::<Vec<_>>().join(","))
}

/// 422 without any words of its own: what a server answers when a patch does not apply. It keeps the reason
/// to itself, and so do we, since clients compare the message.
fn does_not_apply() -> Status {
    Status {
        code: 422,
        reason: "Invalid",
        message: "the server rejected our request due to an error in our request".to_owned(),
        details: serde_json::json!({}),
        list_continue: None,
    }
}

/// The name of a value's JSON type in Go's decode errors.
fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Takes null fields out of an object and of all objects below it, also those in lists; null entries of lists
/// stay.
fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, field| !field.is_null());
            fields.values_mut().for_each(drop_nulls);
        }
        Value::Array(entries) => entries.iter_mut().for_each(drop_nulls),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
