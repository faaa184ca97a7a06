//! Schemas for tests, written as short JSON.

use std::sync::Arc;

use serde_json::Value;

use crate::schema::{Additional, ListType, MapType, Node, NodeId, Schema, Schemas, Type};

/// A schema: a type's initial (`s`, `i`, `b`), `any`, or an object with one of
///
/// - `fields`: an object with these fields (`unit`: one unit, `keep`: unknown fields stay)
/// - `map`: a map of values (`unit`)
/// - `list`, `set`: entries; with `keys` a keyed list
///
/// and perhaps a `default`.
pub(crate) fn schema_of(text: &Value) -> Schema {
    let mut schemas = Schemas::default();
    let root = node(text, &mut schemas);
    Schema::new(Arc::new(schemas), root)
}

fn node(text: &Value, schemas: &mut Schemas) -> NodeId {
    let mut out = Node::default();
    match text.as_str() {
        Some("s") => out.ty = Some(Type::String),
        Some("i") => out.ty = Some(Type::Integer),
        Some("b") => out.ty = Some(Type::Boolean),
        Some(_) => out.preserve_unknown = true,
        None => {}
    }
    let is = |name: &str| text.get(name) == Some(&Value::Bool(true));
    if is("unit") {
        out.map_type = MapType::Atomic;
    }
    out.preserve_unknown |= is("keep");
    if let Some(ty) = text.get("type") {
        let inner = node(ty, schemas);
        out = schemas.node(inner).clone();
    }
    if let Some(fields) = text.get("fields").and_then(Value::as_object) {
        out.ty = Some(Type::Object);
        for (name, field) in fields {
            out.properties
                .push((name.as_str().into(), node(field, schemas)));
        }
    }
    if let Some(values) = text.get("map") {
        out.ty = Some(Type::Object);
        out.additional = Additional::Of(node(values, schemas));
    }
    for name in ["list", "set"] {
        if let Some(items) = text.get(name) {
            out.ty = Some(Type::Array);
            out.items = Some(node(items, schemas));
        }
    }
    if text.get("set").is_some() {
        out.list_type = ListType::Set;
    }
    if let Some(keys) = text.get("keys").and_then(Value::as_array) {
        let keys = keys.iter().filter_map(Value::as_str);
        out.list_type = ListType::Map(keys.map(Into::into).collect());
    }
    out.default = text.get("default").cloned().map(Box::new);
    schemas.push(out)
}

/// The schema of a custom resource with a bit of everything.
pub(crate) fn thing() -> Schema {
    schema_of(&serde_json::json!({ "fields": {
        "apiVersion": "s",
        "kind": "s",
        "metadata": { "fields": {} },
        "spec": { "fields": {
            "size": "i",
            "any": "any",
            "keyed": { "keys": ["name", "port"], "list": { "fields": {
                "name": "s",
                "note": "s",
                "port": { "type": "i", "default": 80 },
            } } },
            "labels": { "map": "s" },
            "plain": { "list": "s" },
            "tags": { "set": "s" },
            "unit": { "unit": true, "fields": { "a": "s", "b": "s" } },
        } },
        "status": { "fields": { "phase": "s" } },
    } }))
}
