//! Which part of an old object a part of the new one was, and whether it has changed: on update, complaints
//! about what has not changed are forgiven.

use serde_json::Value;

use crate::schema::{Additional, ListType, SchemaRef};

/// The schema of a field, if the field is one that can be followed. What every embedded object has is in no
/// definition.
pub(super) fn field<'a>(schema: SchemaRef<'a>, name: &str) -> Option<SchemaRef<'a>> {
    if schema.node().embedded_resource && matches!(name, "apiVersion" | "kind" | "metadata") {
        return None;
    }
    schema
        .property(name)
        .or_else(|| match schema.node().additional {
            Additional::Of(id) => Some(schema.schemas().at(id)),
            Additional::None | Additional::Any => None,
        })
}

/// The entry of an old list that a new entry was: only lists that are maps know. An entry that lacks a key was
/// none.
pub(super) fn entry<'a>(
    list_type: &ListType,
    entry: &Value,
    old: Option<&'a Value>,
) -> Option<&'a Value> {
    let ListType::Map(keys) = list_type else {
        return None;
    };
    let is_key = |value: &Value| value.is_string() || value.is_number() || value.is_boolean();
    let same = |before: &&Value| {
        keys.iter().all(|key| {
            let key = &**key;
            entry.get(key).is_some_and(is_key) && before.get(key) == entry.get(key)
        })
    };
    old?.as_array()?.iter().find(same)
}

/// Whether a value is what it was. Fields that no schema describes count as changed, since nothing tells what
/// they are to each other.
pub(super) fn is_unchanged(schema: SchemaRef<'_>, new: &Value, old: &Value) -> bool {
    match (new, old) {
        (Value::Array(new), Value::Array(before)) => {
            if new.len() != before.len() {
                return false;
            }
            let list_type = &schema.node().list_type;
            if !matches!(list_type, ListType::Map(_)) {
                return new == before;
            }
            new.iter().all(
                |new| match (entry(list_type, new, Some(old)), schema.items()) {
                    (Some(old), Some(items)) => is_unchanged(items, new, old),
                    _ => false,
                },
            )
        }
        (Value::Object(new), Value::Object(old)) => {
            new.len() == old.len()
                && new
                    .iter()
                    .all(|(name, new)| match (old.get(name), field(schema, name)) {
                        (Some(old), Some(schema)) => is_unchanged(schema, new, old),
                        _ => false,
                    })
        }
        (new, old) => new == old,
    }
}
