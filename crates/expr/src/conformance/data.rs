//! Values and types as the vectors write them.

use std::collections::BTreeMap;

use base64::Engine as _;
use serde_json::Value as Json;

use crate::{Key, Map, Moment, Type, Value, value::parse_duration};

/// A value; whole numbers come as text because JSON has no 64-bit integers.
pub(super) fn value(json: &Json) -> Option<Value<'static>> {
    let (kind, inner) = json.as_object()?.iter().next()?;
    let text = || inner.as_str();
    Some(match kind.as_str() {
        "nullValue" => Value::Null,
        "boolValue" => Value::Bool(inner.as_bool()?),
        "int64Value" => Value::Int(text()?.parse().ok()?),
        "uint64Value" => Value::Uint(text()?.parse().ok()?),
        "doubleValue" => Value::Double(match text() {
            Some("NaN") => f64::NAN,
            Some("Infinity") => f64::INFINITY,
            Some("-Infinity") => f64::NEG_INFINITY,
            _ => inner.as_f64()?,
        }),
        "stringValue" => Value::from(text()?.to_owned()),
        "bytesValue" => Value::bytes(
            base64::engine::general_purpose::STANDARD
                .decode(text()?)
                .ok()?,
        ),
        "typeValue" => Value::Type(type_value(text()?)),
        "listValue" => {
            let items = inner["values"].as_array().into_iter().flatten();
            Value::list(items.map(value).collect::<Option<_>>()?)
        }
        "mapValue" => {
            let mut entries = BTreeMap::new();
            for entry in inner["entries"].as_array().into_iter().flatten() {
                entries.insert(Key::of(&value(&entry["key"])?)?, value(&entry["value"])?);
            }
            Value::Map(Map::new(entries))
        }
        "objectValue" => object(inner)?,
        _ => return None,
    })
}

/// The well-known messages that are values of the language.
fn object(json: &Json) -> Option<Value<'static>> {
    let name = json["@type"].as_str()?.rsplit('/').next()?;
    let inner = &json["value"];
    Some(match name {
        "google.protobuf.Duration" => Value::Duration(parse_duration(inner.as_str()?)?),
        "google.protobuf.Timestamp" => Value::Timestamp(Moment::parse(inner.as_str()?)?),
        _ => return None,
    })
}

fn type_value(name: &str) -> Type {
    match name {
        "list" => Type::list(Type::Dyn),
        "map" => Type::map(Type::Dyn, Type::Dyn),
        "null_type" => Type::Null,
        "google.protobuf.Timestamp" => Type::Timestamp,
        "google.protobuf.Duration" => Type::Duration,
        "optional_type" => Type::optional(Type::Dyn),
        name => Type::parse(name),
    }
}

/// A type.
pub(super) fn ty(json: &Json) -> Type {
    let Some((kind, inner)) = json.as_object().and_then(|fields| fields.iter().next()) else {
        return Type::Dyn;
    };
    match (kind.as_str(), inner.as_str()) {
        ("primitive", Some(name)) => match name {
            "BOOL" => Type::Bool,
            "INT64" => Type::Int,
            "UINT64" => Type::Uint,
            "DOUBLE" => Type::Double,
            "STRING" => Type::String,
            "BYTES" => Type::Bytes,
            _ => Type::Dyn,
        },
        ("wellKnown", Some("TIMESTAMP")) => Type::Timestamp,
        ("wellKnown", Some("DURATION")) => Type::Duration,
        ("null", _) => Type::Null,
        ("listType", _) => Type::list(ty(&inner["elemType"])),
        ("mapType", _) => Type::map(ty(&inner["keyType"]), ty(&inner["valueType"])),
        ("type", _) if inner.as_object().is_none_or(serde_json::Map::is_empty) => Type::Type(None),
        ("type", _) => ty(inner).type_of(),
        ("typeParam", Some(name)) => Type::Param(name.into()),
        ("abstractType", _) => {
            let params = inner["parameterTypes"].as_array().into_iter().flatten();
            Type::opaque(
                inner["name"].as_str().unwrap_or_default(),
                params.map(ty).collect(),
            )
        }
        _ => Type::Dyn,
    }
}

/// Overloads of a declared function.
pub(super) fn signatures(function: &Json) -> Vec<String> {
    let overloads = function["overloads"].as_array().into_iter().flatten();
    overloads
        .map(|overload| {
            let mut args: Vec<String> = overload["params"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|param| ty(param).to_string())
                .collect();
            let member = overload["isInstanceFunction"] == true && !args.is_empty();
            let target = if member {
                format!("{}.", args.remove(0))
            } else {
                String::new()
            };
            let id = overload["overloadId"].as_str().unwrap_or_default();
            format!(
                "{id}: {target}({}) -> {}",
                args.join(", "),
                ty(&overload["resultType"])
            )
        })
        .collect()
}

/// Whether a result is exactly what is wanted: of the same types, and no number equals no number.
pub(super) fn same(found: &Value<'_>, wanted: &Value<'_>) -> bool {
    match (found, wanted) {
        (Value::Double(one), Value::Double(two)) => {
            one.is_nan() && two.is_nan() || found.equals(wanted)
        }
        (Value::List(one), Value::List(two)) => {
            one.len() == two.len()
                && one
                    .iter()
                    .zip(two.iter())
                    .all(|(one, two)| same(&one, &two))
        }
        (Value::Map(one), Value::Map(two)) => {
            one.len() == two.len()
                && one.iter().all(|(key, value)| {
                    let other = two.iter().find(|(other, _)| same(&key, other));
                    other.is_some_and(|(_, other)| same(&value, &other))
                })
        }
        _ => found.type_name() == wanted.type_name() && found.equals(wanted),
    }
}
