//! The rules for the schema inside a definition, beyond being structural.

use serde_json::{Value, json};

use super::{
    expressions,
    go_dump::as_go,
    keywords::{merge_keywords, rule_keywords},
    list, text,
};
use crate::{
    field_error::{FieldError, Kind},
    structural::{structural_errors, validate_default},
};

const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];
/// What may stand at the root next to a status subresource, in Go's spelling.
const AT_ROOT: &str = "[Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations]";

/// Checks the schema of a version.
pub(super) fn check(schema: &Value, path: &str, status: bool, errors: &mut Vec<FieldError>) {
    let before = errors.len();
    if status {
        root_with_status(schema, path, errors);
    }
    if schema["nullable"] == true {
        let at = format!("{path}.nullable");
        errors.push(FieldError::forbidden(
            at,
            "nullable cannot be true at the root",
        ));
    }
    let unsupported = unsupported(schema);
    if unsupported.is_none() {
        let found = structural_errors(schema, path);
        if found.is_empty() {
            defaults(schema, path, errors);
        }
        errors.extend(found);
    }
    let place = Place {
        defaults: Ok(()),
        root: true,
        in_meta: false,
    };
    keywords(schema, path, &place, errors);
    if let (Some(why), true) = (unsupported, errors.len() == before) {
        errors.push(FieldError::invalid(path, json!(""), why));
    }
    // Expressions are understood only where the schema is.
    if errors.len() == before {
        expressions::check(schema, path, errors);
    }
}

fn root_with_status(schema: &Value, path: &str, errors: &mut Vec<FieldError>) {
    for (keyword, value) in schema.as_object().into_iter().flatten() {
        let set = !matches!(value, Value::Null | Value::Bool(false)) && *value != json!([]);
        let mut go_name: String = keyword.replace("x-kubernetes-", "x");
        go_name = match go_name.as_str() {
            "xpreserve-unknown-fields" => "XPreserveUnknownFields".to_owned(),
            "xvalidations" => "XValidations".to_owned(),
            other => {
                let (head, tail) = other.split_at(other.len().min(1));
                format!("{}{tail}", head.to_uppercase())
            }
        };
        let listed = AT_ROOT
            .trim_matches(['[', ']'])
            .split(' ')
            .any(|known| known == go_name);
        if set && keyword == "type" && *value != "object" {
            let detail = "only \"object\" is allowed as the type at the root of the schema if the status subresource is enabled";
            errors.push(FieldError::invalid(
                format!("{path}.type"),
                value.clone(),
                detail,
            ));
            return;
        }
        if set && !listed {
            let dump = as_go(schema);
            let detail = format!(
                "only {AT_ROOT} fields are allowed at the root of the schema if the status subresource is enabled"
            );
            errors.push(FieldError {
                kind: Kind::Invalid,
                field: path.to_owned(),
                value: None,
                detail: format!("{dump}: {detail}"),
            });
            return;
        }
    }
}

/// Why a schema cannot be read as a structural one at all.
fn unsupported(schema: &Value) -> Option<String> {
    let words = |name: &str| format!("OpenAPIV3Schema '{name}' is not supported");
    for name in ["id", "$schema", "$ref"] {
        if !text(schema, name).is_empty() {
            return Some(words(
                name.trim_start_matches("$s").trim_start_matches("chema"),
            ));
        }
    }
    for name in [
        "patternProperties",
        "dependencies",
        "additionalItems",
        "definitions",
    ] {
        if schema.get(name).is_some_and(|value| !value.is_null()) {
            return Some(words(name));
        }
    }
    if schema.get("items").is_some_and(Value::is_array) {
        return Some("OpenAPIV3Schema 'items' must be a schema, but is an array".to_owned());
    }
    if schema.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(false)) {
        return Some(
            "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined"
                .to_owned(),
        );
    }
    children(schema)
        .into_iter()
        .find_map(|(_, child)| unsupported(child))
}

/// All schemas directly inside a schema, with their paths.
pub(super) fn children(schema: &Value) -> Vec<(String, &Value)> {
    let mut found = Vec::new();
    let values = schema
        .get("additionalProperties")
        .filter(|values| values.is_object());
    found.extend(values.map(|values| ("additionalProperties".to_owned(), values)));
    let fields = schema.get("properties").and_then(Value::as_object);
    for (name, field) in fields.into_iter().flatten() {
        found.push((format!("properties[{name}]"), field));
    }
    let not = schema.get("not").filter(|not| not.is_object());
    found.extend(not.map(|not| ("not".to_owned(), not)));
    for keyword in ["allOf", "oneOf", "anyOf"] {
        for (at, choice) in list(schema, keyword).iter().enumerate() {
            found.push((format!("{keyword}[{at}]"), choice));
        }
    }
    let items = schema.get("items").filter(|items| items.is_object());
    found.extend(items.map(|items| ("items".to_owned(), items)));
    found
}

/// Checks every default against its own schema.
fn defaults(schema: &Value, path: &str, errors: &mut Vec<FieldError>) {
    if let Some(default) = schema.get("default").filter(|default| !default.is_null()) {
        errors.extend(validate_default(
            schema,
            default,
            &format!("{path}.default"),
        ));
    }
    for (name, child) in children(schema) {
        let structural = !["not", "allOf", "oneOf", "anyOf"]
            .iter()
            .any(|keyword| name.starts_with(keyword));
        if structural {
            defaults(child, &format!("{path}.{name}"), errors);
        }
    }
}

/// Where a schema stands.
struct Place {
    /// Whether defaults are allowed, or why not.
    defaults: Result<(), String>,
    root: bool,
    /// Inside `apiVersion`, `kind` or `metadata` of an object.
    in_meta: bool,
}

fn keywords(schema: &Value, path: &str, place: &Place, errors: &mut Vec<FieldError>) {
    one(schema, path, place, errors);
    let begins_object = place.root || schema["x-kubernetes-embedded-resource"] == true;
    for (name, child) in children(schema) {
        let mut inner = Place {
            defaults: place.defaults.clone(),
            root: false,
            in_meta: place.in_meta,
        };
        if name == "additionalProperties" && place.in_meta {
            inner.defaults =
                Err("inside additionalProperties applying to object metadata".to_owned());
        }
        for field in ["metadata", "kind", "apiVersion"] {
            if begins_object && name == format!("properties[{field}]") {
                inner.in_meta = true;
                if place.root {
                    inner.defaults = Err(format!("in top-level {field}"));
                }
            }
        }
        keywords(child, &format!("{path}.{name}"), &inner, errors);
    }
    merge_keywords(schema, path, errors);
    rule_keywords(schema, path, errors);
}

fn one(schema: &Value, path: &str, place: &Place, errors: &mut Vec<FieldError>) {
    let ty = text(schema, "type");
    let at = |name: &str| format!("{path}.{name}");
    let set = |name: &str| schema.get(name).is_some_and(|value| !value.is_null());
    if !ty.is_empty() && !TYPES.contains(&ty) {
        errors.push(FieldError::not_supported(at("type"), json!(ty), &TYPES));
    }
    if let (true, Err(why)) = (set("default"), &place.defaults) {
        errors.push(FieldError::forbidden(
            at("default"),
            format!("must not be set {why}"),
        ));
    }
    for name in [
        "id",
        "additionalItems",
        "patternProperties",
        "definitions",
        "dependencies",
        "$ref",
    ] {
        if set(name) && schema[name] != "" && schema[name] != json!({}) {
            errors.push(FieldError::forbidden(
                at(name),
                format!("{name} is not supported"),
            ));
        }
    }
    if ty == "null" {
        let detail = "type cannot be set to null, use nullable as an alternative";
        errors.push(FieldError::forbidden(at("type"), detail));
    }
    if schema.get("items").is_some_and(Value::is_array) {
        let detail = "items must be a schema object and not an array";
        errors.push(FieldError::forbidden(at("items"), detail));
    }
    if place.in_meta && schema["x-kubernetes-embedded-resource"] == true {
        let detail = "must not be used inside of resource meta";
        errors.push(FieldError::forbidden(
            at("x-kubernetes-embedded-resource"),
            detail,
        ));
    }
    if schema["uniqueItems"] == true {
        let detail =
            "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
        errors.push(FieldError::forbidden(at("uniqueItems"), detail));
    }
    let has_fields = schema
        .get("properties")
        .and_then(Value::as_object)
        .is_some_and(|fields| !fields.is_empty());
    if has_fields && set("additionalProperties") && schema["additionalProperties"] != true {
        let detail = "additionalProperties and properties are mutual exclusive";
        errors.push(FieldError::forbidden(at("additionalProperties"), detail));
    }
}
