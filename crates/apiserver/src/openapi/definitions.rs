//! The schemas that a document holds: those its paths name, and all that they refer to.

use std::collections::BTreeMap;

use quadrille_machinery::kinds::data::Shape;
use serde_json::{Map, Value, json};

use super::prose;
use crate::kinds;

const PREFIX: &str = "#/components/schemas/";

/// Collects schemas while paths are written.
pub(super) struct Definitions {
    schemas: Map<String, Value>,
    numbers: BTreeMap<&'static str, usize>,
}

impl Definitions {
    /// None yet.
    pub(super) fn new() -> Self {
        let all = &kinds::load().data().definitions;
        Self {
            schemas: Map::new(),
            numbers: all.iter().map(|shape| &*shape.name).zip(0..).collect(),
        }
    }

    /// A reference to a built-in definition by name, which is added with all that it needs.
    pub(super) fn built_in(&mut self, name: &str) -> Value {
        if let Some(number) = self.numbers.get(name) {
            self.add(*number);
        }
        reference(name)
    }

    /// A reference to the definition of a built-in kind.
    pub(super) fn kind(&mut self, group: &str, version: &str, kind: &str) -> Option<Value> {
        let all = &kinds::load().data().definitions;
        let found = all.iter().find(|shape| {
            shape
                .kind
                .as_ref()
                .is_some_and(|[g, v, k]| **g == *group && **v == *version && **k == *kind)
        })?;
        Some(self.built_in(&found.name))
    }

    /// Adds a schema of our own making under a name, and refers to it.
    pub(super) fn custom(&mut self, name: &str, schema: Value) -> Value {
        self.schemas.insert(name.to_owned(), schema);
        reference(name)
    }

    /// All schemas so far.
    pub(super) fn schemas(self) -> Map<String, Value> {
        self.schemas
    }

    fn add(&mut self, number: usize) {
        let shape = &kinds::load().data().definitions[number];
        if self.schemas.contains_key(&*shape.name) {
            return;
        }
        // Entered before its fields are looked at: a type may hold itself.
        self.schemas.insert(shape.name.to_string(), Value::Null);
        let mut schema = self.schema(shape);
        if let Some([group, version, kind]) = &shape.kind {
            schema["x-kubernetes-group-version-kind"] =
                json!([{"group": group, "version": version, "kind": kind}]);
        }
        if shape.name.ends_with(".meta.v1.ObjectMeta") {
            explain_metadata(&mut schema);
        }
        self.schemas.insert(shape.name.to_string(), schema);
    }

    fn schema(&mut self, shape: &Shape) -> Value {
        let mut schema = Map::new();
        if let Some(number) = shape.reference {
            self.add(number);
            let target = reference(&kinds::load().data().definitions[number].name);
            if shape.default.is_none() && shape.patch_strategy.is_none() {
                return target;
            }
            schema.insert("allOf".into(), json!([target]));
        }
        if let Some(ty) = shape.ty {
            schema.insert("type".into(), json!(type_name(ty)));
        }
        if !shape.properties.is_empty() {
            let mut properties = Map::new();
            for (name, field) in &shape.properties {
                properties.insert(name.to_string(), self.schema(field));
            }
            schema.insert("properties".into(), properties.into());
        }
        if let Some(items) = &shape.items {
            schema.insert("items".into(), self.schema(items));
        }
        if let Some(values) = &shape.additional {
            schema.insert("additionalProperties".into(), self.schema(values));
        }
        if !shape.one_of.is_empty() {
            let choices: Vec<Value> = shape.one_of.iter().map(|one| self.schema(one)).collect();
            schema.insert("oneOf".into(), choices.into());
        }
        plain_keywords(shape, &mut schema);
        schema.into()
    }
}

/// Adds what `kubectl explain` shows of the metadata of a custom resource.
fn explain_metadata(schema: &mut Value) {
    schema["description"] = json!(prose::OBJECT_META);
    for (name, words) in prose::OBJECT_META_FIELDS {
        if let Some(field) = schema["properties"].get_mut(name) {
            // Nothing may stand beside a reference.
            if field.get("$ref").is_some() {
                *field = json!({"allOf": [field.take()]});
            }
            field["description"] = json!(words);
        }
    }
}

fn plain_keywords(shape: &Shape, schema: &mut Map<String, Value>) {
    let mut insert = |key: &str, value: Value| {
        schema.insert(key.to_owned(), value);
    };
    if let Some(format) = &shape.format {
        insert("format", json!(format));
    }
    if let Some(default) = &shape.default {
        insert("default", default.clone());
    }
    if !shape.required.is_empty() {
        insert("required", json!(shape.required));
    }
    if !shape.enum_values.is_empty() {
        insert("enum", json!(shape.enum_values));
    }
    if let Some(list_type) = shape.list_type {
        let name = match list_type {
            'm' => "map",
            's' => "set",
            _ => "atomic",
        };
        insert("x-kubernetes-list-type", json!(name));
    }
    if !shape.list_map_keys.is_empty() {
        insert("x-kubernetes-list-map-keys", json!(shape.list_map_keys));
    }
    if let Some(atomic) = shape.atomic_map {
        let name = if atomic { "atomic" } else { "granular" };
        insert("x-kubernetes-map-type", json!(name));
    }
    if let Some(strategy) = &shape.patch_strategy {
        insert("x-kubernetes-patch-strategy", json!(strategy));
    }
    if let Some(key) = &shape.merge_key {
        insert("x-kubernetes-patch-merge-key", json!(key));
    }
    if let Some(unions) = &shape.unions {
        insert("x-kubernetes-unions", unions.clone());
    }
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("{PREFIX}{name}")})
}

fn type_name(initial: char) -> &'static str {
    match initial {
        'a' => "array",
        's' => "string",
        'i' => "integer",
        'n' => "number",
        'b' => "boolean",
        _ => "object",
    }
}
