//! One step of a path, and paths.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::scalar::{compare, equal, shown};

/// One step from a value to a part of it.
#[derive(Clone, Debug)]
pub enum PathElement {
    /// A field of an object.
    Field(Arc<str>),
    /// The entry of a list whose key fields have these values; sorted by name.
    Key(Arc<[(Arc<str>, Value)]>),
    /// The entry of a set with this value.
    Value(Arc<Value>),
    /// The entry of a list at this place.
    Index(i64),
    /// An entry that nothing identifies, such as a null in a keyed list. It has no place in `FieldsV1`, but
    /// that it is there counts while fields are compared.
    Nameless,
}

impl PathElement {
    /// A field of an object.
    pub fn field(name: &str) -> Self {
        Self::Field(Arc::from(name))
    }

    /// A list entry by its key fields, in any order.
    pub fn key(mut fields: Vec<(Arc<str>, Value)>) -> Self {
        fields.sort_by(|left, right| left.0.cmp(&right.0));
        Self::Key(Arc::from(fields))
    }

    /// An entry of a set.
    pub fn value(value: Value) -> Self {
        Self::Value(Arc::new(value))
    }

    /// The order of this step and a field: fields come before everything else.
    pub(super) fn cmp_field(&self, name: &str) -> Ordering {
        match self {
            Self::Field(own) => own.as_ref().cmp(name),
            _ => Ordering::Greater,
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Field(_) => 0,
            Self::Key(_) => 1,
            Self::Value(_) => 2,
            Self::Index(_) => 3,
            Self::Nameless => 4,
        }
    }
}

fn compare_keys(left: &[(Arc<str>, Value)], right: &[(Arc<str>, Value)]) -> Ordering {
    left.iter()
        .zip(right)
        .map(|(l, r)| l.0.cmp(&r.0).then_with(|| compare(&l.1, &r.1)))
        .find(|order| order.is_ne())
        .unwrap_or_else(|| left.len().cmp(&right.len()))
}

impl Ord for PathElement {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Field(left), Self::Field(right)) => left.cmp(right),
            (Self::Key(left), Self::Key(right)) => compare_keys(left, right),
            (Self::Value(left), Self::Value(right)) => compare(left, right),
            (Self::Index(left), Self::Index(right)) => left.cmp(right),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for PathElement {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for PathElement {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Field(left), Self::Field(right)) => left == right,
            (Self::Key(left), Self::Key(right)) => compare_keys(left, right).is_eq(),
            (Self::Value(left), Self::Value(right)) => equal(left, right),
            (Self::Index(left), Self::Index(right)) => left == right,
            (Self::Nameless, Self::Nameless) => true,
            _ => false,
        }
    }
}

impl Eq for PathElement {}

impl fmt::Display for PathElement {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) => write!(out, ".{name}"),
            Self::Key(fields) => {
                out.write_str("[")?;
                for (at, (name, value)) in fields.iter().enumerate() {
                    let comma = if at > 0 { "," } else { "" };
                    write!(out, "{comma}{name}={}", shown(value))?;
                }
                out.write_str("]")
            }
            Self::Value(value) => write!(out, "[={}]", shown(value)),
            Self::Index(index) => write!(out, "[{index}]"),
            Self::Nameless => out.write_str("{{invalid path element}}"),
        }
    }
}

/// Steps from the root of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path(pub Vec<PathElement>);

impl Path {
    /// A path of field names.
    pub fn of_fields<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        Self(names.into_iter().map(PathElement::field).collect())
    }
}

impl fmt::Display for Path {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|step| step.fmt(out))
    }
}
