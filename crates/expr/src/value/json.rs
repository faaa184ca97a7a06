//! JSON seen as values of a type, and values written as JSON.

use std::sync::{Arc, LazyLock};

use base64::Engine as _;
use serde_json::Value as Json;

use super::{List, Map, Moment, Text, Value, parse_duration};
use crate::ty::{ListType, Type};

pub(super) static LIST_OF_ANYTHING: LazyLock<Arc<ListType>> =
    LazyLock::new(|| match Type::list(Type::Dyn) {
        Type::List(ty) => ty,
        _ => unreachable!("a list type is a list type"),
    });

/// JSON as a value of a type. What does not fit its type is taken as it is.
pub(crate) fn adopt<'a>(json: &'a Json, ty: &Type) -> Value<'a> {
    match (json, ty) {
        (Json::Null, _) => Value::Null,
        (Json::Bool(truth), _) => Value::Bool(*truth),
        (Json::Number(number), Type::Double) => Value::Double(number.as_f64().unwrap_or(f64::NAN)),
        (Json::Number(number), Type::Uint) if number.is_u64() => {
            Value::Uint(number.as_u64().unwrap_or_default())
        }
        (Json::Number(number), _) => match number.as_i64() {
            Some(number) => Value::Int(number),
            None => Value::Double(number.as_f64().unwrap_or(f64::NAN)),
        },
        (Json::String(text), ty) => adopt_text(text, ty),
        (Json::Array(items), Type::List(ty)) => Value::List(List::Json(items, ty.clone())),
        (Json::Array(items), _) => Value::List(List::Json(items, LIST_OF_ANYTHING.clone())),
        (Json::Object(map), Type::Map(ty)) => Value::Map(Map::Json(map, ty.value.clone())),
        (Json::Object(map), Type::Object(ty)) => Value::Map(Map::Object(map, ty.clone())),
        (Json::Object(map), _) => Value::Map(Map::Untyped(map)),
    }
}

fn adopt_text<'a>(text: &'a str, ty: &Type) -> Value<'a> {
    let read = match ty {
        Type::Bytes => base64::engine::general_purpose::STANDARD
            .decode(text)
            .ok()
            .map(|bytes| Value::Bytes(bytes.into())),
        Type::Timestamp => Moment::parse(text)
            .or_else(|| Moment::parse_date(text))
            .map(Value::Timestamp),
        Type::Duration => parse_duration(text).map(Value::Duration),
        _ => None,
    };
    read.unwrap_or(Value::String(Text::Borrowed(text)))
}

impl Value<'_> {
    /// The value as JSON, if it has a form there: types and opaque values do not, and neither do
    /// numbers that are not finite.
    pub fn to_json(&self) -> Option<Json> {
        Some(match self {
            Self::Null | Self::Optional(None) => Json::Null,
            Self::Bool(truth) => Json::Bool(*truth),
            Self::Int(number) => Json::from(*number),
            Self::Uint(number) => Json::from(*number),
            Self::Double(number) => Json::Number(serde_json::Number::from_f64(*number)?),
            Self::String(text) => Json::from(&**text),
            Self::Bytes(bytes) => {
                Json::from(base64::engine::general_purpose::STANDARD.encode(bytes))
            }
            Self::Timestamp(moment) => Json::from(moment.to_string()),
            Self::Duration(nanos) => Json::from(super::show_duration(*nanos)),
            Self::List(list) => list
                .iter()
                .map(|item| item.to_json())
                .collect::<Option<_>>()?,
            Self::Map(map) => Json::Object(
                map.iter()
                    .map(|(key, value)| Some((key.show(), value.to_json()?)))
                    .collect::<Option<_>>()?,
            ),
            Self::Optional(Some(inner)) => inner.to_json()?,
            Self::Type(_) | Self::Opaque(_) => return None,
        })
    }
}
