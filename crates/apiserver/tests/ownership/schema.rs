//! Just enough of a reader for the schemas in the recorded cases.

use quadrille_machinery::schema::{Additional, ListType, MapType, Node, NodeId, Schemas, Type};
use serde_json::Value;

/// Adds a schema to an arena.
pub(crate) fn node_of(schema: &Value, schemas: &mut Schemas) -> NodeId {
    let is = |name: &str| schema.get(name) == Some(&Value::Bool(true));
    let text = |name: &str| schema.get(name).and_then(Value::as_str).unwrap_or_default();
    let mut properties: Vec<(Box<str>, NodeId)> = Vec::new();
    for (name, property) in schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        properties.push((name.as_str().into(), node_of(property, schemas)));
    }
    let additional = schema.get("additionalProperties");
    let items = schema.get("items");
    let keys = schema
        .get("x-kubernetes-list-map-keys")
        .and_then(Value::as_array);
    let keys = keys
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(Into::into);
    let node = Node {
        ty: match text("type") {
            "object" => Some(Type::Object),
            "array" => Some(Type::Array),
            "string" => Some(Type::String),
            "integer" => Some(Type::Integer),
            "boolean" => Some(Type::Boolean),
            _ => None,
        },
        int_or_string: is("x-kubernetes-int-or-string"),
        preserve_unknown: is("x-kubernetes-preserve-unknown-fields"),
        properties,
        additional: additional.map_or(Additional::None, |of| Additional::Of(node_of(of, schemas))),
        items: items.map(|items| node_of(items, schemas)),
        list_type: match text("x-kubernetes-list-type") {
            "map" => ListType::Map(keys.collect()),
            "set" => ListType::Set,
            _ => ListType::Atomic,
        },
        map_type: match text("x-kubernetes-map-type") {
            "atomic" => MapType::Atomic,
            _ => MapType::Granular,
        },
        default: schema.get("default").cloned().map(Box::new),
        ..Node::default()
    };
    schemas.push(node)
}
