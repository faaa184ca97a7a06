//! Small accessors for JSON objects, shared by the rules of built-in kinds.

use serde_json::{Map, Value};

/// Whether a field is missing, null or an empty string.
pub(super) fn unset(object: &Map<String, Value>, field: &str) -> bool {
    match object.get(field) {
        None | Some(Value::Null) => true,
        Some(Value::String(text)) => text.is_empty(),
        Some(_) => false,
    }
}

/// Sets a field that is unset.
pub(super) fn set_unset(object: &mut Map<String, Value>, field: &str, value: impl Into<Value>) {
    if unset(object, field) {
        object.insert(field.to_owned(), value.into());
    }
}

/// Sets a number that is missing or zero.
pub(super) fn set_zero(object: &mut Map<String, Value>, field: &str, value: i64) {
    if object.get(field).and_then(Value::as_i64).unwrap_or(0) == 0 {
        object.insert(field.to_owned(), value.into());
    }
}

/// The text of a field; empty if there is none.
pub(super) fn text<'a>(object: &'a Map<String, Value>, field: &str) -> &'a str {
    object
        .get(field)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// The number of entries of a list or map; zero if there is none.
pub(super) fn count(object: &Map<String, Value>, field: &str) -> usize {
    match object.get(field) {
        Some(Value::Array(entries)) => entries.len(),
        Some(Value::Object(entries)) => entries.len(),
        _ => 0,
    }
}

/// A nested object, if there is one.
pub(super) fn object<'a>(
    parent: &'a mut Map<String, Value>,
    field: &str,
) -> Option<&'a mut Map<String, Value>> {
    parent.get_mut(field).and_then(Value::as_object_mut)
}

/// A nested object, made if there is none.
pub(super) fn object_or_new<'a>(
    parent: &'a mut Map<String, Value>,
    field: &str,
) -> &'a mut Map<String, Value> {
    let entry = parent.entry(field.to_owned()).or_insert(Value::Null);
    if !entry.is_object() {
        *entry = Value::Object(Map::new());
    }
    entry.as_object_mut().expect("an object was put here")
}

/// The objects in a list.
pub(super) fn objects<'a>(
    parent: &'a mut Map<String, Value>,
    field: &str,
) -> impl Iterator<Item = &'a mut Map<String, Value>> {
    let list = parent.get_mut(field).and_then(Value::as_array_mut);
    list.into_iter().flatten().filter_map(Value::as_object_mut)
}
