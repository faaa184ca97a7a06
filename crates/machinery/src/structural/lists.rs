//! Lists that are sets or maps: no two entries may be the same.

use serde_json::{Map, Value};

use crate::{
    field_error::FieldError,
    schema::{Additional, ListType, SchemaRef},
};

/// The duplicates in all lists of a value.
pub(super) fn duplicates(
    schema: SchemaRef<'_>,
    value: &Value,
    path: &str,
    errors: &mut Vec<FieldError>,
) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                if let Additional::Of(id) = schema.node().additional {
                    let inner = schema.schemas().at(id);
                    duplicates(inner, value, &format!("{path}[{name}]"), errors);
                }
                if let Some(inner) = schema.property(name) {
                    let at = match path {
                        "" => name.clone(),
                        path => format!("{path}.{name}"),
                    };
                    duplicates(inner, value, &at, errors);
                }
            }
        }
        Value::Array(entries) => {
            match &schema.node().list_type {
                ListType::Atomic => {}
                ListType::Set => {
                    for at in repeated(entries) {
                        let field = format!("{path}[{at}]");
                        errors.push(FieldError::duplicate(field, entries[at].clone()));
                    }
                }
                ListType::Map(keys) => keyed(keys, entries, path, errors),
            }
            if let Some(items) = schema.items() {
                for (at, entry) in entries.iter().enumerate() {
                    duplicates(items, entry, &format!("{path}[{at}]"), errors);
                }
            }
        }
        _ => {}
    }
}

/// Where a value occurs for the second time.
fn repeated(entries: &[Value]) -> Vec<usize> {
    let mut seen: std::collections::HashMap<String, usize> = std::collections::HashMap::new();
    let mut found = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let times = seen.entry(entry.to_string()).or_default();
        *times += 1;
        if *times == 2 {
            found.push(at);
        }
    }
    found
}

fn keyed(keys: &[Box<str>], entries: &[Value], path: &str, errors: &mut Vec<FieldError>) {
    let stranger = entries
        .iter()
        .position(|entry| !entry.is_object() && !entry.is_null());
    if let Some(at) = stranger {
        errors.push(FieldError::invalid(
            format!("{path}[{at}]"),
            entries[at].clone(),
            "must be an object for an array of list-type map",
        ));
        return;
    }
    let identities: Vec<Value> = entries
        .iter()
        .map(|entry| {
            let mut identity = Map::new();
            for key in keys {
                if let Some(value) = entry.get(&**key) {
                    identity.insert(key.to_string(), value.clone());
                }
            }
            Value::Object(identity)
        })
        .collect();
    for at in repeated(&identities) {
        let field = format!("{path}[{at}]");
        errors.push(FieldError::duplicate(field, identities[at].clone()));
    }
}
