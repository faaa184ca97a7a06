//! Types of expressions and values.

use std::{collections::BTreeMap, fmt, sync::Arc};

/// A type. Cheap to clone: what has parts is shared.
#[derive(Clone, Debug)]
pub enum Type {
    /// Anything; decided when the value is there.
    Dyn,
    /// Only `null`.
    Null,
    /// `true` or `false`.
    Bool,
    /// 64 bits with a sign.
    Int,
    /// 64 bits without a sign.
    Uint,
    /// A floating point number.
    Double,
    /// Text.
    String,
    /// Bytes.
    Bytes,
    /// A moment.
    Timestamp,
    /// A span of time.
    Duration,
    /// A list of one type.
    List(Arc<ListType>),
    /// A map from one type to another.
    Map(Arc<MapType>),
    /// Named fields.
    Object(Arc<ObjectType>),
    /// A named type that only functions can look into, with parameters.
    Opaque(Arc<OpaqueType>),
    /// The type of a type.
    Type(Option<Arc<Type>>),
    /// A parameter in the declaration of a function.
    Param(Arc<str>),
    /// A type still to be found while checking.
    #[doc(hidden)]
    Var(u32),
    /// The type of something already reported as wrong.
    #[doc(hidden)]
    Error,
}

/// How lists of one type compare and add up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ListKind {
    /// In order.
    #[default]
    Plain,
    /// Elements are unique and their order does not matter.
    Set,
    /// Elements are objects, unique by these fields (named as in expressions); order does not
    /// matter.
    Keyed(Vec<String>),
}

/// A list type.
#[derive(Clone, Debug)]
pub struct ListType {
    /// Type of the elements.
    pub element: Type,
    /// How such lists compare.
    pub kind: ListKind,
    weight: u32,
}

/// A map type.
#[derive(Clone, Debug)]
pub struct MapType {
    /// Type of the keys.
    pub key: Type,
    /// Type of the values.
    pub value: Type,
    weight: u32,
}

/// An opaque type.
#[derive(Clone, Debug)]
pub struct OpaqueType {
    /// Its name.
    pub name: Arc<str>,
    /// Its parameters.
    pub params: Vec<Type>,
    weight: u32,
}

/// An object type, known by its name.
#[derive(Clone, Debug, Default)]
pub struct ObjectType {
    /// Its name; two object types with one name are the same.
    pub name: String,
    /// Fields by the name that expressions use (see [`crate::escape`]).
    pub fields: BTreeMap<String, Field>,
}

/// A field of an object type.
#[derive(Clone, Debug)]
pub struct Field {
    /// The name in the data.
    pub name: String,
    /// The type of its value.
    pub ty: Type,
}

/// Types heavier than this are refused: they come from expressions that double a type again and
/// again, and walking over them would take for ever.
pub(crate) const MAX_WEIGHT: u32 = 20_000;

impl Type {
    /// `list(element)`.
    pub fn list(element: Self) -> Self {
        Self::list_of(element, ListKind::Plain)
    }

    /// A list with its own way of comparing.
    pub fn list_of(element: Self, kind: ListKind) -> Self {
        let weight = element.weight().saturating_add(1);
        Self::List(Arc::new(ListType {
            element,
            kind,
            weight,
        }))
    }

    /// `map(key, value)`.
    pub fn map(key: Self, value: Self) -> Self {
        let weight = key
            .weight()
            .saturating_add(value.weight())
            .saturating_add(1);
        Self::Map(Arc::new(MapType { key, value, weight }))
    }

    /// `optional_type(inner)`.
    pub fn optional(inner: Self) -> Self {
        Self::opaque("optional_type", vec![inner])
    }

    /// A named type without visible parts.
    pub fn opaque(name: &str, params: Vec<Self>) -> Self {
        let weight = params
            .iter()
            .fold(1_u32, |sum, param| sum.saturating_add(param.weight()));
        Self::Opaque(Arc::new(OpaqueType {
            name: name.into(),
            params,
            weight,
        }))
    }

    /// An object type.
    pub fn object(name: &str, fields: impl IntoIterator<Item = (String, Field)>) -> Self {
        let fields = fields.into_iter().collect();
        Self::Object(Arc::new(ObjectType {
            name: name.into(),
            fields,
        }))
    }

    /// The type of values of this type.
    #[must_use]
    pub fn type_of(self) -> Self {
        Self::Type(Some(Arc::new(self)))
    }

    pub(crate) fn weight(&self) -> u32 {
        match self {
            Self::List(list) => list.weight,
            Self::Map(map) => map.weight,
            Self::Opaque(opaque) => opaque.weight,
            Self::Type(Some(inner)) => inner.weight().saturating_add(1),
            _ => 1,
        }
    }

    /// What is inside, if this is an optional type.
    pub(crate) fn unwrap_optional(&self) -> Option<&Self> {
        match self {
            Self::Opaque(opaque) if &*opaque.name == "optional_type" => opaque.params.first(),
            _ => None,
        }
    }

    /// The name that `type(value)` shows.
    pub fn name(&self) -> &str {
        match self {
            Self::Dyn => "dyn",
            Self::Null => "null_type",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Uint => "uint",
            Self::Double => "double",
            Self::String => "string",
            Self::Bytes => "bytes",
            Self::Timestamp => "google.protobuf.Timestamp",
            Self::Duration => "google.protobuf.Duration",
            Self::List(_) => "list",
            Self::Map(_) => "map",
            Self::Object(object) => &object.name,
            Self::Opaque(opaque) => &opaque.name,
            Self::Type(_) => "type",
            Self::Param(name) => name,
            Self::Var(_) | Self::Error => "!error!",
        }
    }
}

impl PartialEq for Type {
    /// Same type, parameters included; objects and opaque types by name.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::List(a), Self::List(b)) => Arc::ptr_eq(a, b) || a.element == b.element,
            (Self::Map(a), Self::Map(b)) => {
                Arc::ptr_eq(a, b) || a.key == b.key && a.value == b.value
            }
            (Self::Object(a), Self::Object(b)) => a.name == b.name,
            (Self::Opaque(a), Self::Opaque(b)) => a.name == b.name && a.params == b.params,
            (Self::Type(a), Self::Type(b)) => a == b,
            (Self::Param(a), Self::Param(b)) => a == b,
            (Self::Var(a), Self::Var(b)) => a == b,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Timestamp => f.write_str("timestamp"),
            Self::Duration => f.write_str("duration"),
            Self::Var(number) => write!(f, "_var{number}"),
            Self::List(list) => write!(f, "list({})", list.element),
            Self::Map(map) => write!(f, "map({}, {})", map.key, map.value),
            Self::Type(Some(inner)) => write!(f, "type({inner})"),
            Self::Opaque(opaque) if !opaque.params.is_empty() => {
                write!(f, "{}(", opaque.name)?;
                for (place, param) in opaque.params.iter().enumerate() {
                    let comma = if place == 0 { "" } else { ", " };
                    write!(f, "{comma}{param}")?;
                }
                f.write_str(")")
            }
            _ => f.write_str(self.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_written_as_in_messages() {
        let ty = Type::map(Type::String, Type::list(Type::optional(Type::Timestamp)));
        assert_eq!(
            ty.to_string(),
            "map(string, list(optional_type(timestamp)))"
        );
    }

    #[test]
    fn objects_are_known_by_name() {
        assert_eq!(Type::object("a", []), Type::object("a", []));
        assert_ne!(Type::object("a", []), Type::object("b", []));
    }
}
