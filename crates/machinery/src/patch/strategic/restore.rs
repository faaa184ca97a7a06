//! Whether a patched object still fits its kind, in the words of the converter that real servers use after a
//! strategic patch. It is not the JSON decoder, so its words are others.

use serde_json::Value;

use crate::schema::{Additional, SchemaRef, Type};

/// What is wrong with the types of a value, if anything. Types that read themselves (times, quantities, ports)
/// are left to the decoder.
pub fn mistyped(value: &Value, schema: SchemaRef<'_>) -> Option<String> {
    let node = schema.node();
    if value.is_null() || node.int_or_string {
        return None;
    }
    match (node.ty?, value) {
        (Type::Object, Value::Object(fields)) => {
            let inner = |(name, field): (&String, &Value)| mistyped(field, schema.field(name)?);
            fields.iter().find_map(inner)
        }
        (Type::Array, Value::Array(entries)) => {
            let items = schema.items()?;
            entries.iter().find_map(|entry| mistyped(entry, items))
        }
        (Type::Object, other) if matches!(node.additional, Additional::Of(_)) => {
            Some(format!("cannot restore map from {}", kind(other)))
        }
        (Type::Object, _) if node.properties.is_empty() => None,
        (Type::Object, other) => Some(format!("cannot restore struct from: {}", kind(other))),
        (Type::Array, other) => Some(format!("cannot restore slice from {}", kind(other))),
        (Type::String, _) if node.type_name.is_some() || format(schema).is_some() => None,
        (wanted, other) => mistyped_scalar(wanted, other, schema),
    }
}

fn mistyped_scalar(wanted: Type, value: &Value, schema: SchemaRef<'_>) -> Option<String> {
    let wanted_kind = match wanted {
        Type::String => "string",
        Type::Boolean => "bool",
        Type::Number => "float64",
        Type::Integer => match format(schema) {
            Some("int32") => "int32",
            _ => "int64",
        },
        Type::Object | Type::Array => return None,
    };
    let convertible = match (wanted, value) {
        (Type::String, Value::String(_))
        | (Type::Boolean, Value::Bool(_))
        | (Type::Number, Value::Number(_)) => return None,
        (Type::Integer, Value::Number(number)) => {
            if number.as_f64().is_some_and(|number| number.fract() == 0.0) {
                return None;
            }
            true
        }
        // Go can turn an integer into a string of one letter, and only then finds that it should not.
        (Type::String, Value::Number(number)) => !number.is_f64(),
        _ => false,
    };
    Some(if convertible {
        format!("cannot convert {} to {wanted_kind}", kind(value))
    } else {
        format!("unrecognized type: {wanted_kind}")
    })
}

fn format(schema: SchemaRef<'_>) -> Option<&str> {
    schema.node().constraints.as_ref()?.format.as_deref()
}

/// A value's kind as Go names it.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "invalid",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "slice",
        Value::Object(_) => "map",
    }
}
