//! JSON merge patch (RFC 7386) as Kubernetes applies it.
//!
//! It differs from the RFC in one point: where a list replaces something, nulls inside the objects of that
//! list are dropped too.

use serde_json::{Map, Value};

use super::{Patched, drop_nulls, json_type};
use crate::{decode, status::Status};

/// Applies a merge patch. `checked` says whether fields given twice are looked for; a server then also words
/// decode errors differently.
pub fn apply(current: &Value, patch: &[u8], checked: bool) -> Result<Patched, Status> {
    let invalid = || Status::bad_request("Invalid JSON Patch");
    let decoded = decode::json(patch).map_err(|error| {
        if checked {
            Status::bad_request(format!("error decoding patch: {error}"))
        } else {
            invalid()
        }
    })?;
    let strict = if checked {
        decoded.duplicates
    } else {
        Vec::new()
    };
    let value = match decoded.value {
        Value::Object(patch) => {
            let mut value = match current {
                Value::Object(fields) => fields.clone(),
                _ => Map::new(),
            };
            merge_fields(&mut value, patch);
            Value::Object(value)
        }
        Value::Null => return Err(invalid()),
        other if checked => {
            return Err(Status::bad_request(format!(
                "error decoding patch: json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
                json_type(&other)
            )));
        }
        Value::Array(entries) => {
            let mut list = Value::Array(entries);
            drop_nulls(&mut list);
            list
        }
        _ => return Err(invalid()),
    };
    Ok(Patched { value, strict })
}

/// The merge patch that turns one value into another: what is no longer there is null.
pub fn between(old: &Value, new: &Value) -> Option<Value> {
    if old == new {
        return None;
    }
    let (Some(before), Some(after)) = (old.as_object(), new.as_object()) else {
        return Some(new.clone());
    };
    let mut patch = Map::new();
    for key in before.keys().filter(|key| !after.contains_key(*key)) {
        patch.insert(key.clone(), Value::Null);
    }
    for (key, value) in after {
        if let Some(change) = between(before.get(key).unwrap_or(&Value::Null), value) {
            patch.insert(key.clone(), change);
        }
    }
    Some(Value::Object(patch))
}

fn merge_fields(current: &mut Map<String, Value>, patch: Map<String, Value>) {
    for (name, change) in patch {
        match (current.get_mut(&name), change) {
            (_, Value::Null) => {
                current.remove(&name);
            }
            (Some(Value::Object(inner)), Value::Object(change)) => merge_fields(inner, change),
            (Some(object @ Value::Object(_)), change) => *object = change,
            (_, mut change) => {
                drop_nulls(&mut change);
                current.insert(name, change);
            }
        }
    }
}

#[cfg(test)]
mod tests;
