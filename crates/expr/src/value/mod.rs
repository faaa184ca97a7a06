//! Values: what expressions are made of and what they give.
//!
//! A value may borrow from JSON that the caller holds; nothing is copied until it must be.

mod compare;
mod convert;
mod json;
mod list;
mod map;
pub(crate) mod moment;
pub(crate) mod number;
mod opaque;
mod span;
mod text;

use std::sync::Arc;

pub(crate) use compare::{COMPARISONS, same_keys};
pub(crate) use json::adopt;
pub use list::List;
pub use map::{Fields, Key, Map};
pub use moment::Moment;
pub use opaque::Opaque;
pub(crate) use span::{parse_duration, show_duration};
pub use text::Text;

use crate::ty::Type;

/// A value of the language.
#[derive(Clone, Debug)]
pub enum Value<'a> {
    /// `null`.
    Null,
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// An integer without a sign.
    Uint(u64),
    /// A floating point number.
    Double(f64),
    /// Text.
    String(Text<'a>),
    /// Bytes.
    Bytes(Arc<[u8]>),
    /// A moment, with the offset it was written with.
    Timestamp(Moment),
    /// A span of time in nanoseconds.
    Duration(i64),
    /// A list.
    List(List<'a>),
    /// A map or an object.
    Map(Map<'a>),
    /// A type.
    Type(Type),
    /// Something that may be absent.
    Optional(Option<Arc<Value<'a>>>),
    /// A value that only functions can look into.
    Opaque(Arc<dyn Opaque>),
}

impl<'a> Value<'a> {
    /// A text value.
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        Self::String(Text::Shared(text.into()))
    }

    /// Bytes.
    pub fn bytes(bytes: impl Into<Arc<[u8]>>) -> Self {
        Self::Bytes(bytes.into())
    }

    /// A list of values.
    pub fn list(items: Vec<Value<'a>>) -> Self {
        Self::List(List::new(items))
    }

    /// A present optional.
    pub fn some(value: Value<'a>) -> Self {
        Self::Optional(Some(Arc::new(value)))
    }

    /// An opaque value.
    pub fn opaque(value: impl Opaque + 'static) -> Self {
        Self::Opaque(Arc::new(value))
    }

    /// JSON seen as a value of a type. Borrowed; parts are looked at when they are needed.
    pub fn json(json: &'a serde_json::Value, ty: &Type) -> Self {
        adopt(json, ty)
    }

    /// The type of this value as `type()` gives it: without the types of its parts.
    pub fn type_of(&self) -> Type {
        match self {
            Self::Null => Type::Null,
            Self::Bool(_) => Type::Bool,
            Self::Int(_) => Type::Int,
            Self::Uint(_) => Type::Uint,
            Self::Double(_) => Type::Double,
            Self::String(_) => Type::String,
            Self::Bytes(_) => Type::Bytes,
            Self::Timestamp(_) => Type::Timestamp,
            Self::Duration(_) => Type::Duration,
            Self::List(_) => Type::list(Type::Dyn),
            Self::Map(_) => Type::map(Type::Dyn, Type::Dyn),
            Self::Type(_) => Type::Type(None),
            Self::Optional(_) => Type::optional(Type::Dyn),
            Self::Opaque(opaque) => opaque.type_of(),
        }
    }

    /// The name of the type of this value.
    pub fn type_name(&self) -> String {
        self.type_of().name().to_owned()
    }

    /// The name of the reference's type for such values, which some messages show.
    pub(crate) fn go_type(&self) -> &'static str {
        match self {
            Self::Null => "types.Null",
            Self::Bool(_) => "types.Bool",
            Self::Int(_) => "types.Int",
            Self::Uint(_) => "types.Uint",
            Self::Double(_) => "types.Double",
            Self::String(_) => "types.String",
            Self::Bytes(_) => "types.Bytes",
            Self::Timestamp(_) => "types.Timestamp",
            Self::Duration(_) => "types.Duration",
            Self::List(_) => "*types.baseList",
            Self::Map(_) => "*types.baseMap",
            Self::Type(_) => "*types.Type",
            Self::Optional(_) => "*types.Optional",
            Self::Opaque(_) => "ref.Val",
        }
    }

    /// The size that functions see and costs are counted by; 1 for what has none.
    pub(crate) fn size(&self) -> u64 {
        self.length().unwrap_or(match self {
            Self::Optional(Some(inner)) => inner.size(),
            Self::Opaque(opaque) => opaque.size(),
            _ => 1,
        })
    }

    /// The length of something that has one.
    pub(crate) fn length(&self) -> Option<u64> {
        let length = match self {
            Self::String(text) => text.chars().count(),
            Self::Bytes(bytes) => bytes.len(),
            Self::List(list) => list.len(),
            Self::Map(map) => map.len(),
            _ => return None,
        };
        Some(length as u64)
    }

    /// Whether this is the zero value of its type.
    pub(crate) fn is_zero(&self) -> bool {
        match self {
            Self::Null => true,
            Self::Bool(truth) => !truth,
            Self::Int(number) => *number == 0,
            Self::Uint(number) => *number == 0,
            Self::Double(number) => *number == 0.0,
            Self::String(text) => text.is_empty(),
            Self::Bytes(bytes) => bytes.is_empty(),
            Self::Timestamp(moment) => moment.is_zero(),
            Self::Duration(nanos) => *nanos == 0,
            Self::List(list) => list.is_empty(),
            Self::Map(map) => map.is_empty(),
            Self::Optional(inner) => inner.as_ref().is_none_or(|inner| inner.is_zero()),
            Self::Type(_) | Self::Opaque(_) => false,
        }
    }

    /// Whether the value may be passed where a type is declared; only first parts are looked at.
    pub(crate) fn is_a(&self, ty: &Type) -> bool {
        match (self, ty) {
            (_, Type::Dyn | Type::Param(_) | Type::Var(_) | Type::Error)
            | (Self::Null, Type::Null)
            | (Self::Bool(_), Type::Bool)
            | (Self::Int(_), Type::Int)
            | (Self::Uint(_), Type::Uint)
            | (Self::Double(_), Type::Double)
            | (Self::String(_), Type::String)
            | (Self::Bytes(_), Type::Bytes)
            | (Self::Timestamp(_), Type::Timestamp)
            | (Self::Duration(_), Type::Duration)
            | (Self::Map(_), Type::Object(_))
            | (Self::Type(_), Type::Type(_)) => true,
            (Self::List(list), Type::List(ty)) => {
                list.get(0).is_none_or(|first| first.is_a(&ty.element))
            }
            (Self::Map(map), Type::Map(ty)) => map
                .iter()
                .next()
                .is_none_or(|(key, value)| key.is_a(&ty.key) && value.is_a(&ty.value)),
            (Self::Optional(_), ty) => ty.unwrap_optional().is_some(),
            (Self::Opaque(opaque), ty) => opaque.type_of().name() == ty.name(),
            _ => false,
        }
    }

    /// The opaque value of a Rust type, if it is one.
    pub fn downcast<T: 'static>(&self) -> Option<&T> {
        match self {
            Self::Opaque(opaque) => opaque.as_any().downcast_ref(),
            _ => None,
        }
    }
}

impl From<bool> for Value<'_> {
    fn from(truth: bool) -> Self {
        Self::Bool(truth)
    }
}

impl From<i64> for Value<'_> {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::String(Text::Borrowed(text))
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}
