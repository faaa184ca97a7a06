//! Reading the operations of a JSON patch, with the words of the two readers that a server uses: a strict one
//! when field validation is on, and that of the patch library.

use serde_json::{Map, Value};

use super::DoesNotApply;
use crate::{
    decode::{self, StrictError},
    patch::json_type,
    status::Status,
};

/// One operation, as written.
pub(super) struct Operation {
    members: Map<String, Value>,
    /// The value with its numbers as written: for a test, `2.0` is not `2`.
    literal: Value,
}

impl Operation {
    pub(super) fn kind(&self) -> &str {
        self.text("op").unwrap_or("unknown")
    }

    pub(super) fn path(&self) -> Result<&str, DoesNotApply> {
        self.text("path").ok_or(DoesNotApply)
    }

    pub(super) fn from(&self) -> Result<&str, DoesNotApply> {
        self.text("from").ok_or(DoesNotApply)
    }

    /// The value; null where none is given.
    pub(super) fn value(&self) -> Value {
        self.members.get("value").cloned().unwrap_or(Value::Null)
    }

    /// The value to compare with; null where none is given.
    pub(super) fn literal(&self) -> &Value {
        &self.literal
    }

    fn text(&self, member: &str) -> Option<&str> {
        self.members.get(member).and_then(Value::as_str)
    }
}

/// The operations, and what a strict reader complains about.
pub(super) fn read(
    patch: &[u8],
    checked: bool,
) -> Result<(Vec<Operation>, Vec<StrictError>), Status> {
    let prefix = if checked {
        "error decoding patch: "
    } else {
        ""
    };
    let bad = |words: String| Status::bad_request(format!("{prefix}{words}"));
    let decoded = decode::json(patch).map_err(|error| bad(error.to_string()))?;
    let (list_type, entry_type) = if checked {
        ("[]handlers.jsonPatchOp", "handlers.jsonPatchOp")
    } else {
        ("jsonpatch.Patch", "jsonpatch.Operation")
    };
    let mistyped = |value: &Value, wanted: &str| {
        bad(format!(
            "json: cannot unmarshal {} into Go value of type {wanted}",
            json_type(value)
        ))
    };
    let entries = match decoded.value {
        Value::Null => Vec::new(),
        Value::Array(entries) => entries,
        other => return Err(mistyped(&other, list_type)),
    };
    let mut literals: Vec<Value> =
        serde_json::from_slice(patch).unwrap_or_else(|_| entries.clone());
    literals.resize(entries.len(), Value::Null);
    let mut operations = Vec::with_capacity(entries.len());
    let mut strict = if checked {
        decoded.duplicates
    } else {
        Vec::new()
    };
    for (at, (entry, mut literal)) in entries.into_iter().zip(literals).enumerate() {
        let members = match entry {
            Value::Null => Map::new(),
            Value::Object(members) => members,
            other => return Err(mistyped(&other, entry_type)),
        };
        if checked {
            if let Some((name, value)) = mistyped_member(&members) {
                return Err(bad(format!(
                    "json: cannot unmarshal {} into Go struct field jsonPatchOp.{name} of type string",
                    json_type(value)
                )));
            }
            strict.extend(unknown_members(at, &members));
        }
        let literal = literal
            .get_mut("value")
            .map(Value::take)
            .unwrap_or_default();
        operations.push(Operation { members, literal });
    }
    let strict = strict
        .into_iter()
        .map(|error| StrictError::JsonPatch(Box::new(error)))
        .collect();
    Ok((operations, strict))
}

fn mistyped_member(members: &Map<String, Value>) -> Option<(&String, &Value)> {
    members.iter().find(|(name, value)| {
        matches!(name.as_str(), "op" | "path" | "from") && !value.is_string() && !value.is_null()
    })
}

fn unknown_members(
    at: usize,
    members: &Map<String, Value>,
) -> impl Iterator<Item = StrictError> + use<'_> {
    members
        .keys()
        .filter(|name| !matches!(name.as_str(), "op" | "path" | "from" | "value"))
        .map(move |name| StrictError::Unknown(format!("[{at}].{name}")))
}
