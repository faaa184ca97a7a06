//! How the schema of a custom resource is published.

use serde_json::{Map, Value, json};

use super::definitions::Definitions;
use crate::resource::{Origin, Resource};

const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1";

/// Keywords of a custom schema that documents repeat as they are.
const KEYWORDS: [&str; 25] = [
    "default",
    "description",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "nullable",
    "pattern",
    "required",
    "title",
    "type",
    "uniqueItems",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type",
    "x-kubernetes-map-type",
    "x-kubernetes-validations",
];

/// Flags that are shown only where they are set.
const FLAGS: [&str; 3] = [
    "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string",
    "x-kubernetes-preserve-unknown-fields",
];

/// Adds the kind and its list; gives references to both.
pub(super) fn add(resource: &Resource, definitions: &mut Definitions) -> (Value, Value) {
    let prefix = definition_prefix(&resource.group, &resource.version);
    let metadata = definitions.built_in(&format!("{META}.ObjectMeta"));
    let list_metadata = definitions.built_in(&format!("{META}.ListMeta"));

    let mut schema = own_schema(resource, &metadata);
    schema["x-kubernetes-group-version-kind"] = kinds_of(resource, &resource.kind);
    let object = definitions.custom(&format!("{prefix}.{}", resource.kind), schema);

    let description = format!("{} is a list of {}", resource.list_kind, resource.kind);
    let list = json!({
        "description": description,
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": {"type": "string"},
            "items": {"type": "array", "items": object},
            "kind": {"type": "string"},
            "metadata": {"allOf": [list_metadata]},
        },
        "x-kubernetes-group-version-kind": kinds_of(resource, &resource.list_kind),
    });
    let list = definitions.custom(&format!("{prefix}.{}", resource.list_kind), list);
    (object, list)
}

fn kinds_of(resource: &Resource, kind: &str) -> Value {
    json!([{"group": resource.group, "version": resource.version, "kind": kind}])
}

/// `zeta.example.com` and `v1` become `com.example.zeta.v1`.
fn definition_prefix(group: &str, version: &str) -> String {
    let mut parts: Vec<&str> = group.split('.').collect();
    parts.reverse();
    parts.push(version);
    parts.join(".")
}

fn own_schema(resource: &Resource, metadata: &Value) -> Value {
    let written = match &resource.origin {
        Origin::Custom {
            definition,
            version_index,
            ..
        } if definition["spec"]["preserveUnknownFields"] != json!(true) => {
            &definition["spec"]["versions"][version_index]["schema"]["openAPIV3Schema"]
        }
        _ => &Value::Null,
    };
    let mut schema = if let Value::Object(written) = written {
        publish(written, metadata)
    } else {
        let mut anything = Map::new();
        anything.insert("type".into(), json!("object"));
        anything.insert("x-kubernetes-preserve-unknown-fields".into(), json!(true));
        anything
    };
    insert_type_and_metadata(&mut schema, metadata);
    schema.into()
}

fn insert_type_and_metadata(schema: &mut Map<String, Value>, metadata: &Value) {
    let properties = schema
        .entry("properties")
        .or_insert_with(|| Value::Object(Map::new()));
    properties["apiVersion"] = json!({"type": "string"});
    properties["kind"] = json!({"type": "string"});
    properties["metadata"] = json!({"allOf": [metadata]});
}

fn publish(written: &Map<String, Value>, metadata: &Value) -> Map<String, Value> {
    let mut schema = Map::new();
    for keyword in KEYWORDS {
        if let Some(value) = written.get(keyword) {
            schema.insert(keyword.to_owned(), value.clone());
        }
    }
    let is_set = |flag: &str| written.get(flag) == Some(&json!(true));
    for flag in FLAGS {
        if is_set(flag) {
            schema.insert(flag.to_owned(), json!(true));
        }
    }
    let nested = |value: &Value| match value {
        Value::Object(nested) => Value::Object(publish(nested, metadata)),
        other => other.clone(),
    };
    for keyword in ["items", "additionalProperties", "not"] {
        if let Some(value) = written.get(keyword) {
            schema.insert(keyword.to_owned(), nested(value));
        }
    }
    for keyword in ["allOf", "anyOf", "oneOf"] {
        if let Some(Value::Array(choices)) = written.get(keyword) {
            schema.insert(keyword.to_owned(), choices.iter().map(nested).collect());
        }
    }
    if let Some(Value::Object(properties)) = written.get("properties") {
        let published = properties
            .iter()
            .map(|(name, property)| (name.clone(), nested(property)));
        schema.insert("properties".into(), Value::Object(published.collect()));
    }
    if is_set("x-kubernetes-int-or-string") && !schema.contains_key("anyOf") {
        let either = json!([{"type": "integer"}, {"type": "string"}]);
        schema.insert("anyOf".into(), either);
    }
    if is_set("x-kubernetes-embedded-resource") {
        insert_type_and_metadata(&mut schema, metadata);
        let required = schema.entry("required").or_insert_with(|| json!([]));
        if let Value::Array(required) = required {
            for name in ["kind", "apiVersion"] {
                if !required.contains(&json!(name)) {
                    required.push(json!(name));
                }
            }
        }
    }
    schema
}
