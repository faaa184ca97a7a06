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
use serde_json::Value;

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
