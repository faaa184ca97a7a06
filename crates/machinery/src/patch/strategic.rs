//! Strategic merge patch: a merge that knows which lists are sets of named things.
//!
//! What merges how is written on the schema: a list field has a merge key or is replaced as a whole. A patch
//! can further say `$patch: delete` or `replace`, `$retainKeys`, `$setElementOrder/<list>` and
//! `$deleteFromPrimitiveList/<list>`. Order, corner cases and error texts are those of real servers; where
//! those crash, we refuse.
//!
//! ```text
//!   merge_fields ──► retain keys ──► ordered lists ──► every other field
//!        ▲                               │                  │
//!        └──────── entries by key ◄── lists ◄───────────────┘
//! ```

mod directives;
mod error;
mod lists;
mod lookup;
mod order;
mod restore;

pub use restore::mistyped;
use serde_json::{Map, Value};

use self::{
    directives::{DELETE, DELETE_FROM_LIST, MARKER, REPLACE, clean, list_name, retain_keys},
    error::{Refusal, Result},
    lists::Merge,
    lookup::{list_field, struct_field},
};
use super::{Patched, drop_nulls, json_type};
use crate::{decode, go_text, schema::SchemaRef, status::Status};

/// Applies a strategic merge patch to an object of a built-in kind. `checked` says whether fields given twice
/// are looked for.
pub fn apply(
    current: &Value,
    patch: &[u8],
    schema: SchemaRef<'_>,
    checked: bool,
) -> std::result::Result<Patched, Status> {
    let decoded = decode::json(patch).map_err(|error| Status::bad_request(error.to_string()))?;
    let patch = match decoded.value {
        Value::Object(patch) => patch,
        Value::Null => Map::new(),
        other => {
            return Err(Status::bad_request(format!(
                "json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
                json_type(&other)
            )));
        }
    };
    let strict = if checked {
        decoded.duplicates
    } else {
        Vec::new()
    };
    let value = Value::Object(merge(current, patch, schema)?);
    Ok(Patched { value, strict })
}

/// Applies a patch that is already read.
pub fn merge(
    current: &Value,
    patch: Map<String, Value>,
    schema: SchemaRef<'_>,
) -> std::result::Result<Map<String, Value>, Status> {
    let current = match current {
        Value::Object(fields) => fields.clone(),
        _ => Map::new(),
    };
    merge_fields(current, patch, schema).map_err(Status::from)
}

/// 415: kinds without known merge keys take no strategic patch.
pub fn unsupported() -> Status {
    Status::unsupported_media_type(
        "the body of the request was in an unknown format - accepted media types include: \
         application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
    )
}

/// A patch as messages about it show it.
pub fn shown(patch: &Value) -> String {
    go_text::value(patch)
}

/// Merges a patch into an object.
fn merge_fields(
    mut current: Map<String, Value>,
    mut patch: Map<String, Value>,
    schema: SchemaRef<'_>,
) -> Result<Map<String, Value>> {
    if let Some(directive) = patch.get(MARKER) {
        return match directive.as_str() {
            Some(REPLACE) => {
                patch.remove(MARKER);
                Ok(patch)
            }
            Some(DELETE) => Ok(Map::new()),
            _ => Err(Refusal::unknown_directive(directive, &patch)),
        };
    }
    retain_keys(&mut current, &mut patch)?;
    lists::merge_ordered(&mut current, &mut patch, schema)?;
    for (name, change) in patch {
        merge_field(&mut current, &name, change, schema)?;
    }
    Ok(current)
}

fn merge_field(
    current: &mut Map<String, Value>,
    name: &str,
    change: Value,
    schema: SchemaRef<'_>,
) -> Result<()> {
    let is_deletion = name.starts_with(DELETE_FROM_LIST);
    let name = if is_deletion {
        list_name(name, DELETE_FROM_LIST).ok_or(Refusal::PRIMITIVE_LIST)?
    } else {
        name
    };
    if change.is_null() {
        current.remove(name);
        return Ok(());
    }
    let merged = match (current.remove(name), change) {
        (Some(Value::Object(fields)), Value::Object(change)) => {
            let (inner, strategy) = struct_field(schema, name)?;
            Some(Value::Object(if strategy.replace {
                change
            } else {
                merge_fields(fields, change, inner)?
            }))
        }
        (Some(Value::Array(entries)), Value::Array(change)) => {
            let (inner, strategy) = list_field(schema, name)?;
            Some(Value::Array(lists::merge(
                entries,
                change,
                inner,
                &strategy,
                Merge::deleting(is_deletion),
            )?))
        }
        (known, _) if is_deletion => known,
        (_, mut taken) => {
            drop_nulls(&mut taken);
            clean(taken)
        }
    };
    if let Some(merged) = merged {
        current.insert(name.to_owned(), merged);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
