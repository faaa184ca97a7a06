//! OpenAPI version 2: one document for everything, derived from the documents of version 3.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{document, minor_version};
use crate::{discovery, resource::Resource};

/// Keywords of a schema that version 2 does not know.
const UNKNOWN: [&str; 4] = ["nullable", "oneOf", "anyOf", "not"];
/// Set where an object takes fields that its schema does not name.
const PRESERVE: &str = "x-kubernetes-preserve-unknown-fields";

/// `GET /openapi/v2`.
pub fn swagger(resources: &[Arc<Resource>]) -> Value {
    let mut paths = Map::new();
    let mut definitions = Map::new();
    for group in discovery::groups(resources) {
        for version in &group.versions {
            let Some(document) = document(resources, group.name, version.name) else {
                continue;
            };
            for (path, item) in object(&document["paths"]) {
                paths.insert(path.clone(), path_item(item));
            }
            for (name, schema) in object(&document["components"]["schemas"]) {
                definitions.insert(name.clone(), definition(schema));
            }
        }
    }
    json!({
        "swagger": "2.0",
        "info": {"title": "Kubernetes", "version": format!("v{}", minor_version())},
        "paths": paths,
        "definitions": definitions,
        "securityDefinitions": {
            "BearerToken": {"type": "apiKey", "name": "authorization", "in": "header"},
        },
        "security": [{"BearerToken": []}],
    })
}

fn object(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn path_item(item: &Value) -> Value {
    let mut result = Map::new();
    for (key, value) in object(item) {
        let value = if key == "parameters" {
            parameters(value).into()
        } else {
            operation(value)
        };
        result.insert(key.clone(), value);
    }
    result.into()
}

fn parameters(list: &Value) -> Vec<Value> {
    let list = list.as_array().map_or(&[][..], Vec::as_slice);
    list.iter()
        .map(|parameter| {
            let mut flat = json!({
                "name": parameter["name"],
                "in": parameter["in"],
                "type": parameter["schema"]["type"],
                "uniqueItems": true,
            });
            if parameter["required"] == json!(true) {
                flat["required"] = json!(true);
            }
            flat
        })
        .collect()
}

fn operation(operation: &Value) -> Value {
    let mut result = Map::new();
    for key in [
        "operationId",
        "tags",
        "x-kubernetes-action",
        "x-kubernetes-group-version-kind",
    ] {
        result.insert(key.to_owned(), operation[key].clone());
    }
    result.insert("schemes".into(), json!(["https"]));
    result.insert(
        "produces".into(),
        json!(["application/json", "application/yaml"]),
    );
    let mut list = parameters(&operation["parameters"]);
    let content = &operation["requestBody"]["content"];
    let media_types: Vec<&String> = object(content).map(|(name, _)| name).collect();
    if let Some(first) = media_types.first() {
        let schema = downgrade(&content[first.as_str()]["schema"]);
        list.push(json!({"name": "body", "in": "body", "required": true, "schema": schema}));
        result.insert("consumes".into(), json!(media_types));
    }
    if !list.is_empty() {
        result.insert("parameters".into(), list.into());
    }
    let mut responses = Map::new();
    for (code, response) in object(&operation["responses"]) {
        let mut answer = json!({"description": response["description"]});
        if let Some((_, content)) = object(&response["content"]).next() {
            answer["schema"] = downgrade(&content["schema"]);
        }
        responses.insert(code.clone(), answer);
    }
    result.insert("responses".into(), responses.into());
    result.into()
}

/// A definition: one that takes any field says nothing more, since clients would refuse what it does not name.
fn definition(schema: &Value) -> Value {
    if schema[PRESERVE] != json!(true) {
        return downgrade(schema);
    }
    let mut open = json!({"type": "object"});
    for key in [
        "x-kubernetes-group-version-kind",
        "x-kubernetes-selectable-fields",
    ] {
        if let Some(value) = schema.get(key) {
            open[key] = value.clone();
        }
    }
    open
}

/// A schema in the words of version 2: other references, no choices, no `allOf` around a single reference.
fn downgrade(schema: &Value) -> Value {
    match schema {
        Value::Object(fields) => downgrade_object(fields),
        other => other.clone(),
    }
}

fn downgrade_object(fields: &Map<String, Value>) -> Value {
    let mut result = Map::new();
    for (key, value) in fields {
        match key.as_str() {
            "$ref" => {
                let name = value.as_str().unwrap_or_default();
                let name = name.trim_start_matches("#/components/schemas/");
                result.insert(key.clone(), json!(format!("#/definitions/{name}")));
            }
            "allOf" => {
                if let Some(Value::Object(reference)) = value.get(0)
                    && reference.contains_key("$ref")
                    && let Value::Object(reference) = downgrade_object(reference)
                {
                    result.extend(reference);
                }
            }
            // Built-in defaults are a matter of version 3; version 2 never showed empty ones.
            "default" if is_empty(value) => {}
            "properties" => {
                let each = object(value).map(|(name, schema)| (name.clone(), downgrade(schema)));
                result.insert(key.clone(), Value::Object(each.collect()));
            }
            "items" | "additionalProperties" => {
                result.insert(key.clone(), downgrade(value));
            }
            unknown if UNKNOWN.contains(&unknown) => {}
            _ => {
                result.insert(key.clone(), value.clone());
            }
        }
    }
    // A quantity and an int-or-string are strings there.
    if fields.contains_key("oneOf") && !fields.keys().any(|key| key == "type" || key == PRESERVE) {
        result.insert("type".into(), json!("string"));
    }
    loosen(fields, &mut result);
    result.into()
}

/// Takes away what clients of version 2 would read too strictly: they know neither nulls nor unknown fields.
fn loosen(fields: &Map<String, Value>, result: &mut Map<String, Value>) {
    let is_set = |fields: &Map<String, Value>, flag: &str| fields.get(flag) == Some(&json!(true));
    let (nullable, open) = (is_set(fields, "nullable"), is_set(fields, PRESERVE));
    if nullable || open {
        result.remove("items");
        result.remove("properties");
    }
    let ty = result.get("type").and_then(Value::as_str);
    let is_bare_array = ty == Some("array") && !result.contains_key("items");
    if nullable || is_bare_array || (open && ty == Some("object")) {
        result.remove("type");
    }
    let is_nullable = |schema: Option<&Value>| {
        let schema = schema.and_then(Value::as_object);
        schema.is_some_and(|schema| is_set(schema, "nullable"))
    };
    let property = |name: &Value| fields.get("properties")?.get(name.as_str()?);
    let is_embedded = open && is_set(fields, "x-kubernetes-embedded-resource");
    let is_optional = |name: &Value| {
        is_nullable(property(name)) || (is_embedded && (name == "kind" || name == "apiVersion"))
    };
    if let Some(Value::Array(required)) = result.get_mut("required") {
        required.retain(|name| !is_optional(name));
        if required.is_empty() || is_nullable(fields.get("additionalProperties")) {
            result.remove("required");
        }
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.is_empty(),
        Value::String(text) => text.is_empty(),
        Value::Number(number) => number.as_f64() == Some(0.0),
        _ => false,
    }
}
