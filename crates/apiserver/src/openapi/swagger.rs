//! OpenAPI version 2: one document for everything, derived from the documents of version 3.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{document, minor_version};
use crate::{discovery, resource::Resource};

/// Keywords of a schema that version 2 does not know.
const UNKNOWN: [&str; 4] = ["nullable", "oneOf", "anyOf", "not"];

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
                definitions.insert(name.clone(), downgrade(schema));
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
    if fields.contains_key("oneOf") && !fields.contains_key("type") {
        result.insert("type".into(), json!("string"));
    }
    result.into()
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.is_empty(),
        Value::String(text) => text.is_empty(),
        Value::Number(number) => number.as_f64() == Some(0.0),
        _ => false,
    }
}
