//! `metadata` of custom resources: typed like that of built-in kinds, wherever an object begins.

use serde_json::Value;

use crate::{
    decode::{DecodeError, StrictError, conform},
    field_error::FieldError,
    names::{dns_1035_label, name_is_path_segment, validate_object_meta},
    schema::{Additional, SchemaRef},
};

/// Makes the metadata of an object fit its type. Gives the paths of unknown fields, which are dropped.
pub fn coerce_metadata(
    schema: SchemaRef<'_>,
    object: &mut Value,
) -> Result<Vec<StrictError>, DecodeError> {
    let (Some(typed), Some(meta)) = (schema.property("metadata"), object.get_mut("metadata"))
    else {
        return Ok(Vec::new());
    };
    let found = conform(typed, meta)?;
    Ok(unknown_below("metadata", found)
        .map(StrictError::Unknown)
        .collect())
}

fn unknown_below(path: &str, found: Vec<StrictError>) -> impl Iterator<Item = String> {
    found.into_iter().filter_map(move |error| match error {
        StrictError::Unknown(field) => Some(format!("{path}.{field}")),
        StrictError::Duplicate(_) | StrictError::JsonPatch(_) | StrictError::Yaml(_) => None,
    })
}

/// Makes `apiVersion`, `kind` and `metadata` of embedded objects fit their types. Gives the paths of
/// unknown metadata fields, which are dropped, sorted.
pub fn coerce_embedded(
    schema: SchemaRef<'_>,
    object: &mut Value,
) -> Result<Vec<StrictError>, DecodeError> {
    let mut unknown = Vec::new();
    walk(schema, object, "", true, &mut unknown).map_err(|error| DecodeError(error.to_string()))?;
    unknown.sort_unstable();
    unknown.dedup();
    Ok(unknown.into_iter().map(StrictError::Unknown).collect())
}

fn child(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

fn walk(
    schema: SchemaRef<'_>,
    value: &mut Value,
    path: &str,
    root: bool,
    unknown: &mut Vec<String>,
) -> Result<(), FieldError> {
    match value {
        Value::Object(fields) => {
            let embedded = schema.node().embedded_resource;
            for (name, value) in fields.iter_mut() {
                if matches!(name.as_str(), "apiVersion" | "kind" | "metadata") && (root || embedded)
                {
                    if !root {
                        typed(schema, name, value, path, unknown)?;
                    }
                    continue;
                }
                if let Some(inner) = schema.property(name) {
                    walk(inner, value, &child(path, name), false, unknown)?;
                } else if let Additional::Of(id) = schema.node().additional {
                    let inner = schema.schemas().at(id);
                    walk(inner, value, &format!("{path}[{name}]"), false, unknown)?;
                }
            }
        }
        Value::Array(entries) => {
            if let Some(items) = schema.items() {
                for (at, entry) in entries.iter_mut().enumerate() {
                    walk(items, entry, &format!("{path}[{at}]"), false, unknown)?;
                }
            }
        }
        _ => {}
    }
    Ok(())
}

fn typed(
    schema: SchemaRef<'_>,
    name: &str,
    value: &mut Value,
    path: &str,
    unknown: &mut Vec<String>,
) -> Result<(), FieldError> {
    let at = child(path, name);
    if name != "metadata" {
        return if value.is_string() {
            Ok(())
        } else {
            Err(FieldError::invalid(at, value.clone(), "must be a string"))
        };
    }
    let Some(meta) = schema.property("metadata") else {
        return Ok(());
    };
    let given = value.clone();
    let found = conform(meta, value).map_err(|error| FieldError::invalid(&at, given, error.0))?;
    unknown.extend(unknown_below(&at, found));
    Ok(())
}

/// Checks `apiVersion`, `kind` and `metadata` of objects embedded in an object.
pub(super) fn embedded_errors(
    schema: SchemaRef<'_>,
    value: &Value,
    path: &str,
    root: bool,
    errors: &mut Vec<FieldError>,
) {
    match value {
        Value::Object(fields) => {
            if !root && schema.node().embedded_resource {
                one_embedded(value, path, errors);
            }
            for (name, value) in fields {
                if let Some(inner) = schema.property(name) {
                    embedded_errors(inner, value, &child(path, name), false, errors);
                } else if let Additional::Of(id) = schema.node().additional {
                    let inner = schema.schemas().at(id);
                    embedded_errors(inner, value, &format!("{path}[{name}]"), false, errors);
                }
            }
        }
        Value::Array(entries) => {
            if let Some(items) = schema.items() {
                for (at, entry) in entries.iter().enumerate() {
                    embedded_errors(items, entry, &format!("{path}[{at}]"), false, errors);
                }
            }
        }
        _ => {}
    }
}

fn one_embedded(object: &Value, path: &str, errors: &mut Vec<FieldError>) {
    for name in ["apiVersion", "kind"] {
        if object.get(name).is_none() {
            errors.push(FieldError::required(child(path, name), ""));
        }
    }
    if let Some(given) = object.get("apiVersion") {
        let problem = match given.as_str() {
            None => Some("must be a string".to_owned()),
            Some("") => Some("must not be empty".to_owned()),
            Some(text) if text.matches('/').count() > 1 => {
                Some(format!("unexpected GroupVersion string: {text}"))
            }
            Some(_) => None,
        };
        errors.extend(
            problem.map(|text| FieldError::invalid(child(path, "apiVersion"), given.clone(), text)),
        );
    }
    if let Some(given) = object.get("kind") {
        let problem = match given.as_str() {
            None => Some("must be a string".to_owned()),
            Some("") => Some("must not be empty".to_owned()),
            Some(text) => {
                let found = dns_1035_label(&text.to_lowercase());
                (!found.is_empty()).then(|| {
                    format!(
                        "may have mixed case, but should otherwise match: {}",
                        found.join(",")
                    )
                })
            }
        };
        errors.extend(
            problem.map(|text| FieldError::invalid(child(path, "kind"), given.clone(), text)),
        );
    }
    if let Some(meta) = object.get("metadata").filter(|meta| meta.is_object()) {
        let mut meta = meta.clone();
        if meta.get("name").is_none_or(|name| name == "") {
            // Embedded objects need no name.
            meta["name"] = Value::from("fakename");
        }
        let namespaced = meta.get("namespace").is_some_and(|name| name != "");
        errors.extend(validate_object_meta(
            &meta,
            namespaced,
            name_is_path_segment,
            &child(path, "metadata"),
        ));
    }
}
