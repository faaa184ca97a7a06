//! The fields of a custom resource that its scale subresource shows.

use serde_json::Value;

use crate::field_error::FieldError;

/// Checks the fields that the scale subresource shows: replica counts are whole and not negative, the
/// label selector is a string. `paths` are those that apply, with a leading dot.
pub fn validate_scale(
    object: &Value,
    replica_paths: &[&str],
    selector_path: Option<&str>,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for path in replica_paths {
        let replicas = match nested(object, path, "int64", Value::is_i64) {
            Ok(found) => found.and_then(Value::as_i64).unwrap_or(0),
            Err(problem) => {
                errors.push(FieldError::invalid(*path, Value::from(0), problem));
                continue;
            }
        };
        let most = i64::from(i32::MAX);
        let detail = match replicas {
            ..0 => "should be a non-negative integer".to_owned(),
            _ if replicas > most => format!("should be less than or equal to {most}"),
            _ => continue,
        };
        errors.push(FieldError::invalid(*path, Value::from(replicas), detail));
    }
    let selector =
        selector_path.map(|path| (path, nested(object, path, "string", Value::is_string)));
    if let Some((path, Err(problem))) = selector {
        errors.push(FieldError::invalid(path, Value::from(""), problem));
    }
    errors
}

/// The value at a dotted path, or why it is not of the wanted type.
fn nested<'a>(
    object: &'a Value,
    path: &str,
    wanted: &str,
    fits: fn(&Value) -> bool,
) -> Result<Option<&'a Value>, String> {
    let path = path.strip_prefix('.').unwrap_or(path);
    let mut value = object;
    for (at, name) in path.split('.').enumerate() {
        let Value::Object(fields) = value else {
            let upto = path.split('.').take(at).collect::<Vec<_>>().join(".");
            return Err(format!(
                ".{upto} accessor error: {value} is of the type {}, expected map[string]interface{{}}",
                go_type(value)
            ));
        };
        match fields.get(name) {
            None => return Ok(None),
            Some(next) => value = next,
        }
    }
    if fits(value) {
        return Ok(Some(value));
    }
    let shown = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    Err(format!(
        ".{path} accessor error: {shown} is of the type {}, expected {wanted}",
        go_type(value)
    ))
}

fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
    }
}
