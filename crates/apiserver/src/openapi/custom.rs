//! How the schema of a custom resource is published.

use serde_json::{Map, Value, json};

use super::{definitions::Definitions, prose};
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
    let selectable = selectable_fields(resource);
    if let Some(fields) = &selectable {
        schema["x-kubernetes-selectable-fields"] = fields.clone();
    }
    let object = definitions.custom(&format!("{prefix}.{}", resource.kind), schema);

    let description = format!("{} is a list of {}", resource.list_kind, resource.kind);
    let of_items = format!("List of {}. {}", resource.plural, prose::LIST_ITEMS);
    let mut list = json!({
        "description": description,
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": {"type": "string", "description": prose::API_VERSION},
            "items": {"type": "array", "items": object, "description": of_items},
            "kind": {"type": "string", "description": prose::KIND},
            "metadata": {"allOf": [list_metadata], "description": prose::LIST_METADATA},
        },
        "x-kubernetes-group-version-kind": kinds_of(resource, &resource.list_kind),
    });
    if let Some(fields) = selectable {
        list["x-kubernetes-selectable-fields"] = fields;
    }
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

/// What the definition of this version says.
fn version_of(resource: &Resource) -> &Value {
    match &resource.origin {
        Origin::Custom {
            definition,
            version_index,
            ..
        } => &definition["spec"]["versions"][version_index],
        Origin::BuiltIn => &Value::Null,
    }
}

/// The schema of this version as its definition has it.
fn written_schema(resource: &Resource) -> Option<Value> {
    match &resource.origin {
        Origin::Custom {
            definition,
            version_index,
            ..
        } => definition.open_api(*version_index),
        Origin::BuiltIn => None,
    }
}

/// The fields by which objects can be selected, if there are any.
fn selectable_fields(resource: &Resource) -> Option<Value> {
    let fields = version_of(resource)["selectableFields"].as_array()?;
    let shown = |field: &Value| {
        let path = field["jsonPath"].as_str().unwrap_or_default();
        json!({"fieldPath": path.strip_prefix('.').unwrap_or(path)})
    };
    (!fields.is_empty()).then(|| fields.iter().map(shown).collect())
}

fn own_schema(resource: &Resource, metadata: &Value) -> Value {
    // Without a schema nothing is told, not even what every object has: clients would take it for all.
    let Some(Value::Object(written)) = written_schema(resource) else {
        return json!({"type": "object"});
    };
    let mut schema = publish(&written, metadata);
    insert_type_and_metadata(&mut schema, metadata, prose::API_VERSION, prose::KIND);
    schema.into()
}

fn insert_type_and_metadata(
    schema: &mut Map<String, Value>,
    metadata: &Value,
    of_api_version: &str,
    of_kind: &str,
) {
    let properties = schema
        .entry("properties")
        .or_insert_with(|| Value::Object(Map::new()));
    properties["apiVersion"] = json!({"type": "string", "description": of_api_version});
    properties["kind"] = json!({"type": "string", "description": of_kind});
    properties["metadata"] = json!({"allOf": [metadata], "description": prose::METADATA});
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
        insert_type_and_metadata(
            &mut schema,
            metadata,
            prose::EMBEDDED_API_VERSION,
            prose::EMBEDDED_KIND,
        );
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
