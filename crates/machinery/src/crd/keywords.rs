//! The rules for Kubernetes' own schema keywords.

use serde_json::{Value, json};

use super::{fields, list, text};
use crate::field_error::FieldError;

const REASONS: [&str; 4] = [
    "FieldValueDuplicate",
    "FieldValueForbidden",
    "FieldValueInvalid",
    "FieldValueRequired",
];

/// `x-kubernetes-list-type` and its relatives.
pub(super) fn merge_keywords(schema: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let ty = text(schema, "type");
    let at = |name: &str| format!("{path}.{name}");
    let given = |name: &str| schema.get(name).and_then(Value::as_str);
    if schema.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(false)) {
        errors.push(FieldError::invalid(
            at("x-kubernetes-preserve-unknown-fields"),
            json!(false),
            "must be true or undefined",
        ));
    }
    let demand = |wanted: &str, keyword: &str, errors: &mut Vec<FieldError>| {
        let detail = format!("must be {wanted} if {keyword} is specified");
        errors.push(match ty {
            "" => FieldError::required(at("type"), detail),
            other => FieldError::invalid(at("type"), json!(other), detail),
        });
    };
    if let Some(map_type) = given("x-kubernetes-map-type") {
        if ty != "object" {
            demand("object", "x-kubernetes-map-type", errors);
        }
        if !matches!(map_type, "atomic" | "granular") {
            let field = at("x-kubernetes-map-type");
            errors.push(FieldError::not_supported(
                field,
                json!(map_type),
                &["atomic", "granular"],
            ));
        }
    }
    let list_type = given("x-kubernetes-list-type");
    let items = &schema["items"];
    if let Some(list_type) = list_type {
        if ty != "array" {
            demand("array", "x-kubernetes-list-type", errors);
        } else if list_type == "set" {
            set_items(items, path, errors);
        }
        if !matches!(list_type, "atomic" | "set" | "map") {
            let field = at("x-kubernetes-list-type");
            errors.push(FieldError::not_supported(
                field,
                json!(list_type),
                &["atomic", "set", "map"],
            ));
        }
    }
    let keys = list(schema, "x-kubernetes-list-map-keys");
    if !keys.is_empty() && list_type != Some("map") {
        let detail = "must be map if x-kubernetes-list-map-keys is non-empty";
        errors.push(match list_type {
            None => FieldError::required(at("x-kubernetes-list-type"), detail),
            Some(other) => FieldError::invalid(at("x-kubernetes-list-type"), json!(other), detail),
        });
    }
    if list_type == Some("map") {
        map_items(items, keys, path, errors);
    }
    if matches!(list_type, Some("map" | "set")) && items["nullable"] == true {
        let detail = format!(
            "cannot be nullable when x-kubernetes-list-type is {}",
            list_type.unwrap_or_default()
        );
        errors.push(FieldError::forbidden(at("items.nullable"), detail));
    }
    if list_type == Some("map") {
        key_fields(items, keys, path, errors);
    }
}

fn set_items(items: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
    let list_type = items
        .get("x-kubernetes-list-type")
        .cloned()
        .unwrap_or_default();
    let field = match text(items, "type") {
        "array" if !list_type.is_null() && list_type != "atomic" => "x-kubernetes-list-type",
        "object" if items["x-kubernetes-map-type"] != "atomic" => "x-kubernetes-map-type",
        _ => return,
    };
    errors.push(FieldError::invalid(
        format!("{path}.items.{field}"),
        list_type,
        detail,
    ));
}

fn map_items(items: &Value, keys: &[Value], path: &str, errors: &mut Vec<FieldError>) {
    let keys_path = format!("{path}.x-kubernetes-list-map-keys");
    if keys.is_empty() {
        let detail = "must not be empty if x-kubernetes-list-type is map";
        errors.push(FieldError::required(&keys_path, detail));
    }
    if items.is_null() {
        let detail = "must have a schema if x-kubernetes-list-type is map";
        errors.push(FieldError::required(format!("{path}.items"), detail));
        return;
    }
    let ty = text(items, "type");
    if ty != "object" {
        errors.push(FieldError::invalid(
            format!("{path}.items.type"),
            json!(ty),
            "must be object if parent array's x-kubernetes-list-type is map",
        ));
        return;
    }
    for (at, key) in keys.iter().enumerate() {
        let name = key.as_str().unwrap_or_default();
        match items["properties"].get(name) {
            Some(field) if matches!(text(field, "type"), "array" | "object") => {
                errors.push(FieldError::invalid(
                    format!("{path}.items.properties[{name}].type"),
                    json!(ty),
                    "must be a scalar type if parent array's x-kubernetes-list-type is map",
                ));
            }
            Some(_) => {}
            None => errors.push(FieldError::invalid(
                &keys_path,
                json!(keys),
                "entries must all be names of item properties",
            )),
        }
        if keys[..at].contains(key) {
            let detail = "must not contain duplicate entries";
            errors.push(FieldError::invalid(&keys_path, json!(keys), detail));
        }
    }
}

fn key_fields(items: &Value, keys: &[Value], path: &str, errors: &mut Vec<FieldError>) {
    for key in keys {
        let name = key.as_str().unwrap_or_default();
        let Some(field) = items["properties"].get(name) else {
            continue;
        };
        let at = format!("{path}.items.properties[{name}]");
        let required = list(items, "required").contains(key);
        if !required && field.get("default").is_none_or(Value::is_null) {
            let detail = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
            errors.push(FieldError::required(format!("{at}.default"), detail));
        }
        if field["nullable"] == true {
            let detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
            errors.push(FieldError::forbidden(format!("{at}.nullable"), detail));
        }
    }
}

/// `x-kubernetes-validations`, as far as no expression must be understood.
pub(super) fn rule_keywords(schema: &Value, path: &str, errors: &mut Vec<FieldError>) {
    for (at, rule) in list(schema, "x-kubernetes-validations").iter().enumerate() {
        let field = |name: &str| format!("{path}.x-kubernetes-validations[{at}].{name}");
        let blank = |name: &str| !text(rule, name).is_empty() && text(rule, name).trim().is_empty();
        let breaks = |text: &str| text.contains(['\n', '\r']);
        let given = |name: &str| json!(text(rule, name));
        let expression = text(rule, "rule").trim();
        let message = text(rule, "message").trim();
        if expression.is_empty() {
            errors.push(FieldError::required(field("rule"), "rule is not specified"));
        } else if blank("message") {
            let detail = "must be non-empty if specified";
            errors.push(FieldError::invalid(
                field("message"),
                given("message"),
                detail,
            ));
        } else if breaks(message) {
            let detail = "must not contain line breaks";
            errors.push(FieldError::invalid(
                field("message"),
                given("message"),
                detail,
            ));
        } else if breaks(expression) && message.is_empty() {
            let detail = "message must be specified if rule contains line breaks";
            errors.push(FieldError::required(field("message"), detail));
        }
        if blank("messageExpression") {
            let detail = "messageExpression must be non-empty if specified";
            errors.push(FieldError::required(field("messageExpression"), detail));
        }
        let reason = text(rule, "reason");
        if !reason.is_empty() && !REASONS.contains(&reason) {
            errors.push(FieldError::not_supported(
                field("reason"),
                json!(reason),
                &REASONS,
            ));
        }
        if blank("fieldPath") {
            let detail = "must be non-empty if specified";
            errors.push(FieldError::invalid(
                field("fieldPath"),
                given("fieldPath"),
                detail,
            ));
        }
        let place = text(rule, "fieldPath");
        if breaks(place) {
            let detail = "must not contain line breaks";
            errors.push(FieldError::invalid(
                field("fieldPath"),
                json!(place),
                detail,
            ));
        }
        if !place.is_empty() && fields::follow(place, schema, true).is_err() {
            let detail = "must be a valid path";
            errors.push(FieldError::invalid(
                field("fieldPath"),
                json!(place),
                detail,
            ));
        }
    }
}
