//! What an object is before anybody has written to it: the fields in which a created object differs from this
//! belong to its creator.

use serde_json::{Map, Value, json};

use crate::schema::{Presence, SchemaRef, Type};

/// A custom resource that nobody has written to.
pub fn blank_custom(api_version: &str, kind: &str) -> Value {
    json!({ "apiVersion": api_version, "kind": kind })
}

/// An object of a built-in kind that nobody has written to: it has the parts that are never left out.
pub fn blank_builtin(schema: SchemaRef<'_>, api_version: &str, kind: &str) -> Value {
    let mut blank = zero(schema);
    if let Value::Object(fields) = &mut blank {
        fields.insert("apiVersion".to_owned(), Value::from(api_version));
        fields.insert("kind".to_owned(), Value::from(kind));
    }
    blank
}

/// The zero value of a type, as it is encoded.
fn zero(schema: SchemaRef<'_>) -> Value {
    let node = schema.node();
    match node.ty {
        Some(Type::String) => Value::from(""),
        Some(Type::Integer | Type::Number) => Value::from(0),
        Some(Type::Boolean) => Value::from(false),
        Some(Type::Array) => Value::Null,
        None if node.int_or_string => Value::from(0),
        // A quantity, which is the one other type without a JSON type that can be a plain field.
        None => Value::from("0"),
        Some(Type::Object) => {
            let mut fields = Map::new();
            for ((name, id), presence) in node.properties.iter().zip(&node.presence) {
                let value = match presence {
                    Presence::OmitZero | Presence::Keep => continue,
                    Presence::Null => Value::Null,
                    Presence::Struct | Presence::Zero => zero(schema.schemas().at(*id)),
                };
                fields.insert(name.to_string(), value);
            }
            Value::Object(fields)
        }
    }
}
