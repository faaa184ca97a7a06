//! Maps: made by an expression, or JSON seen as a map or an object.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Map as JsonMap, Value as Json};

use super::{Moment, Text, Value, adopt, number};
use crate::{
    error::EvalError,
    ty::{ObjectType, Type},
};

/// A key of a map.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key<'a> {
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// An integer without a sign.
    Uint(u64),
    /// A number; its bits, because numbers have no total order.
    Double(u64),
    /// Text.
    String(Text<'a>),
    /// `null`.
    Null,
    /// A moment.
    Timestamp(Moment),
    /// A span of time in nanoseconds.
    Duration(i64),
}

impl<'a> Key<'a> {
    /// A value as a key, if values of its type may be one.
    pub fn of(value: &Value<'a>) -> Option<Self> {
        Some(match value {
            Value::Bool(truth) => Self::Bool(*truth),
            Value::Int(number) => Self::Int(*number),
            Value::Uint(number) => Self::Uint(*number),
            Value::Double(number) => Self::Double(number.to_bits()),
            Value::String(text) => Self::String(text.clone()),
            Value::Null => Self::Null,
            Value::Timestamp(moment) => Self::Timestamp(*moment),
            Value::Duration(nanos) => Self::Duration(*nanos),
            _ => return None,
        })
    }

    /// The key as a value.
    pub fn value(&self) -> Value<'a> {
        match self {
            Self::Bool(truth) => Value::Bool(*truth),
            Self::Int(number) => Value::Int(*number),
            Self::Uint(number) => Value::Uint(*number),
            Self::Double(bits) => Value::Double(f64::from_bits(*bits)),
            Self::String(text) => Value::String(text.clone()),
            Self::Null => Value::Null,
            Self::Timestamp(moment) => Value::Timestamp(*moment),
            Self::Duration(nanos) => Value::Duration(*nanos),
        }
    }
}

/// Fields that are looked up one by one and cannot be listed.
pub trait Fields: std::fmt::Debug + Sync {
    /// A field; `None` when there is none of that name.
    fn field<'a>(&'a self, name: &str) -> Option<Result<Value<'a>, EvalError>>;
}

/// A map.
#[derive(Clone, Debug)]
pub enum Map<'a> {
    /// Keys and values.
    Entries(Arc<BTreeMap<Key<'a>, Value<'a>>>),
    /// A JSON object as a map to values of one type.
    Json(&'a JsonMap<String, Json>, Type),
    /// A JSON object that no schema describes.
    Untyped(&'a JsonMap<String, Json>),
    /// Fields that somebody else looks up, such as variables that are computed when needed.
    Lazy(&'a dyn Fields),
    /// A JSON object with named fields; others are not seen, and `null` counts as absent.
    Object(&'a JsonMap<String, Json>, Arc<ObjectType>),
}

impl<'a> Map<'a> {
    pub(crate) fn new(entries: BTreeMap<Key<'a>, Value<'a>>) -> Self {
        Self::Entries(Arc::new(entries))
    }

    /// Whether it is data that a schema describes.
    pub(crate) fn has_schema(&self) -> bool {
        match self {
            Self::Json(..) | Self::Object(..) => true,
            Self::Entries(_) | Self::Lazy(_) | Self::Untyped(_) => false,
        }
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Entries(entries) => entries.len(),
            // Fields that no expression can see count as well, as on a real server.
            Self::Json(map, _) | Self::Object(map, _) | Self::Untyped(map) => map.len(),
            Self::Lazy(_) => 0,
        }
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a key; numbers are the same key whatever their type.
    pub fn get(&self, key: &Value<'a>) -> Option<Value<'a>> {
        match (self, key) {
            (Self::Entries(entries), key) => {
                if let Some(found) = Key::of(key).and_then(|key| entries.get(&key)) {
                    return Some(found.clone());
                }
                let twins: [Option<Key<'a>>; 2] = match key {
                    Value::Int(number) => [u64::try_from(*number).ok().map(Key::Uint), None],
                    Value::Uint(number) => [i64::try_from(*number).ok().map(Key::Int), None],
                    Value::Double(number) => [
                        number::exact_int(*number).map(Key::Int),
                        number::exact_uint(*number).map(Key::Uint),
                    ],
                    _ => [None, None],
                };
                twins
                    .iter()
                    .flatten()
                    .find_map(|key| entries.get(key).cloned())
            }
            (_, Value::String(name)) => self.field(name),
            _ => None,
        }
    }

    /// The value of a text key.
    pub fn field(&self, name: &str) -> Option<Value<'a>> {
        match self {
            Self::Entries(entries) => {
                // Looked up by a key that borrows no longer than the call.
                entries
                    .iter()
                    .find(|(key, _)| matches!(key, Key::String(text) if &**text == name))
                    .map(|(_, value)| value.clone())
            }
            Self::Json(map, ty) => map.get(name).map(|value| adopt(value, ty)),
            Self::Untyped(map) => map.get(name).map(|value| adopt(value, &Type::Dyn)),
            Self::Lazy(fields) => fields.field(name)?.ok(),
            Self::Object(map, ty) => {
                let field = ty.fields.get(name)?;
                let value = map.get(&field.name).filter(|value| !value.is_null())?;
                Some(adopt(value, &field.ty))
            }
        }
    }

    /// All keys.
    pub fn keys(&self) -> Vec<Value<'a>> {
        match self {
            Self::Entries(entries) => entries.keys().map(Key::value).collect(),
            Self::Lazy(_) => Vec::new(),
            Self::Json(map, _) | Self::Untyped(map) => {
                map.keys().map(|key| Value::from(key.as_str())).collect()
            }
            Self::Object(map, ty) => {
                let present = ty
                    .fields
                    .iter()
                    .filter(|(_, field)| map.contains_key(&field.name));
                present
                    .map(|(name, _)| Value::text(name.as_str()))
                    .collect()
            }
        }
    }

    /// All keys with their values.
    pub fn iter(&self) -> impl Iterator<Item = (Value<'a>, Value<'a>)> + '_ {
        self.keys()
            .into_iter()
            .filter_map(|key| self.get(&key).map(|value| (key, value)))
    }
}
