//! Which fields an encoded object shows: Go leaves out some empty fields and always writes others.

use serde_json::{Map, Value, json};

use crate::schema::{Additional, Presence, SchemaRef, Type};

/// What has become of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It was read from a request: a list without entries is still told from none.
    Read,
    /// It was stored, where they are the same.
    Stored,
}

/// Makes a value of a built-in kind look as real servers write it: empty optional fields go, fields that are
/// always written come. Custom resources, whose schemas say nothing about this, stay as they are.
pub fn encode(schema: SchemaRef<'_>, value: &mut Value) {
    State::Stored.encode(schema, value);
}

/// The same for a value that was just read. Whoever writes an empty list owns it.
pub fn encode_read(schema: SchemaRef<'_>, value: &mut Value) {
    State::Read.encode(schema, value);
}

impl State {
    fn encode(self, schema: SchemaRef<'_>, value: &mut Value) {
        match value {
            Value::Object(fields) => {
                self.encode_map_values(schema, fields);
                self.encode_fields(schema, fields);
            }
            Value::Array(entries) => {
                if let Some(items) = schema.items() {
                    for entry in entries {
                        self.encode(items, entry);
                    }
                }
            }
            _ => {}
        }
    }

    fn encode_map_values(self, schema: SchemaRef<'_>, fields: &mut Map<String, Value>) {
        let node = schema.node();
        if let (Additional::Of(values), true) = (node.additional, node.properties.is_empty()) {
            let values = schema.schemas().at(values);
            for value in fields.values_mut() {
                self.encode(values, value);
            }
        }
    }

    fn encode_fields(self, schema: SchemaRef<'_>, fields: &mut Map<String, Value>) {
        let node = schema.node();
        for ((name, id), presence) in node.properties.iter().zip(&node.presence) {
            let field = schema.schemas().at(*id);
            if let Some(value) = fields.get_mut(&**name) {
                self.encode(field, value);
            }
            let empty = fields.get(&**name).is_none_or(is_empty);
            let missing = matches!(fields.get(&**name), None | Some(Value::Null));
            match presence {
                Presence::OmitZero if empty && (missing || !node.keeps_empty(name)) => {
                    fields.remove(&**name);
                }
                Presence::Keep if missing => {
                    fields.remove(&**name);
                }
                Presence::Null
                    if missing
                        || self == Self::Stored && is_empty_collection(field, &fields[&**name]) =>
                {
                    fields.insert(name.to_string(), Value::Null);
                }
                Presence::Zero if missing => {
                    fields.insert(name.to_string(), zero(field));
                }
                Presence::Struct if missing => {
                    let mut value = json!({});
                    self.encode(field, &mut value);
                    fields.insert(name.to_string(), value);
                }
                _ => {}
            }
        }
    }
}

/// The zero of a scalar type.
fn zero(schema: SchemaRef<'_>) -> Value {
    let node = schema.node();
    if node.int_or_string {
        return json!(0);
    }
    match node.ty {
        Some(Type::Integer | Type::Number) => json!(0),
        Some(Type::Boolean) => json!(false),
        // Only quantities are scalars without a type of their own.
        None => json!("0"),
        _ => json!(""),
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(_) | Value::Object(_) => is_without_entries(value),
    }
}

/// Whether a list or map has no entries; an empty struct behind a pointer is something else.
fn is_empty_collection(schema: SchemaRef<'_>, value: &Value) -> bool {
    let is_map = matches!(schema.node().additional, Additional::Of(_));
    (value.is_array() || is_map) && is_without_entries(value)
}

/// Lists and maps without entries come back from storage as nothing at all.
fn is_without_entries(value: &Value) -> bool {
    match value {
        Value::Array(entries) => entries.is_empty(),
        Value::Object(entries) => entries.is_empty(),
        _ => false,
    }
}
