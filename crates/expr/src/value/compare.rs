//! Equality and order across types, as the reference has them.

use std::{cell::Cell, cmp::Ordering};

use super::{List, Map, Value, number};
use crate::{error::EvalError, ty::ListKind};

/// Characters of lists and maps that messages show.
const LONGEST_SHOWN: usize = 64 << 10;
/// Comparisons of parts before giving up.
pub(crate) const COMPARISONS: u64 = 5_000_000;

impl<'a> Value<'a> {
    /// Whether two values are equal; numbers of different types may be, other types never are.
    ///
    /// Values with more parts than any real data has are equal to nothing.
    pub fn equals(&self, other: &Value<'a>) -> bool {
        self.equals_within(other, &Cell::new(COMPARISONS))
    }

    /// Like [`Value::equals`], with so many comparisons at most: lists that hold one another twice
    /// over and over have few parts but endless ways through them.
    pub(crate) fn equals_within(&self, other: &Value<'a>, fuel: &Cell<u64>) -> bool {
        let Some(rest) = fuel.get().checked_sub(1) else {
            return false;
        };
        fuel.set(rest);
        match (self, other) {
            (Self::Null, Self::Null) | (Self::Optional(None), Self::Optional(None)) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::String(a), Self::String(b)) => a == b,
            (Self::Bytes(a), Self::Bytes(b)) => a == b,
            (Self::Timestamp(a), Self::Timestamp(b)) => a == b,
            (Self::Duration(a), Self::Duration(b)) => a == b,
            (Self::List(a), Self::List(b)) => lists_equal(a, b, fuel),
            (Self::Map(a), Self::Map(b)) => maps_equal(a, b, fuel),
            (Self::Type(a), Self::Type(b)) => a.name() == b.name(),
            (Self::Optional(Some(a)), Self::Optional(Some(b))) => a.equals_within(b, fuel),
            (Self::Opaque(a), Self::Opaque(b)) => a.equals(&**b),
            _ => numbers(self, other) == Some(Ordering::Equal),
        }
    }

    /// Whether comparing with the other is a mistake rather than unequal: lists and maps that have a schema are
    /// asked only about their like. `null` may always be asked about.
    pub(crate) fn is_no_match_for(&self, other: &Value<'a>) -> bool {
        match (self, other) {
            (_, Self::Null) => false,
            (Self::List(list), other) => list.has_schema() && !matches!(other, Self::List(_)),
            (Self::Map(map), other) => map.has_schema() && !matches!(other, Self::Map(_)),
            _ => false,
        }
    }

    /// Order of two values.
    pub(crate) fn compare(&self, other: &Value<'a>) -> Result<Ordering, EvalError> {
        let nan = |value: &Value<'_>| matches!(value, Value::Double(number) if number.is_nan());
        match (self, other) {
            (Self::Bool(a), Self::Bool(b)) => Ok(a.cmp(b)),
            (Self::String(a), Self::String(b)) => Ok(a.cmp(b)),
            (Self::Bytes(a), Self::Bytes(b)) => Ok(a.cmp(b)),
            (Self::Timestamp(a), Self::Timestamp(b)) => Ok(a.cmp(b)),
            (Self::Duration(a), Self::Duration(b)) => Ok(a.cmp(b)),
            _ if is_number(self) && is_number(other) && (nan(self) || nan(other)) => {
                Err(EvalError::new("NaN values cannot be ordered"))
            }
            _ => numbers(self, other).ok_or_else(EvalError::no_overload),
        }
    }

    /// The value as Go prints it in messages, cut off where it gets too long for one.
    pub(crate) fn show(&self) -> String {
        let mut out = String::new();
        self.show_into(&mut out);
        out
    }

    fn show_into(&self, out: &mut String) {
        if out.len() > LONGEST_SHOWN {
            return;
        }
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
            Self::Int(number) => out.push_str(&number.to_string()),
            Self::Uint(number) => out.push_str(&number.to_string()),
            Self::Double(number) => out.push_str(&number::general(*number)),
            Self::String(text) => out.push_str(text),
            Self::Bytes(bytes) => out.push_str(&String::from_utf8_lossy(bytes)),
            Self::Timestamp(moment) => out.push_str(&moment.to_string()),
            Self::Duration(nanos) => out.push_str(&super::show_duration(*nanos)),
            Self::List(list) => {
                out.push('[');
                for (place, item) in list.iter().enumerate() {
                    if out.len() > LONGEST_SHOWN {
                        break;
                    }
                    out.push_str(if place == 0 { "" } else { ", " });
                    item.show_into(out);
                }
                out.push(']');
            }
            Self::Map(map) => {
                out.push('{');
                for (place, (key, value)) in map.iter().enumerate() {
                    if out.len() > LONGEST_SHOWN {
                        break;
                    }
                    out.push_str(if place == 0 { "" } else { ", " });
                    key.show_into(out);
                    out.push_str(": ");
                    value.show_into(out);
                }
                out.push('}');
            }
            Self::Type(ty) => out.push_str(ty.name()),
            Self::Optional(None) => out.push_str("optional.none()"),
            Self::Optional(Some(inner)) => {
                out.push_str("optional(");
                inner.show_into(out);
                out.push(')');
            }
            Self::Opaque(opaque) => out.push_str(opaque.type_of().name()),
        }
    }
}

impl std::fmt::Display for Value<'_> {
    /// As Go prints it: for messages, not for reading back.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.show())
    }
}

fn is_number(value: &Value<'_>) -> bool {
    matches!(value, Value::Int(_) | Value::Uint(_) | Value::Double(_))
}

/// Order of two numbers; none when one is no number.
fn numbers(one: &Value<'_>, two: &Value<'_>) -> Option<Ordering> {
    match (one, two) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Uint(a), Value::Uint(b)) => Some(a.cmp(b)),
        (Value::Double(a), Value::Double(b)) => a.partial_cmp(b),
        (Value::Int(a), Value::Uint(b)) => Some(i128::from(*a).cmp(&i128::from(*b))),
        (Value::Uint(a), Value::Int(b)) => Some(i128::from(*a).cmp(&i128::from(*b))),
        (Value::Double(a), Value::Int(b)) => double_int(*a, *b),
        (Value::Int(a), Value::Double(b)) => double_int(*b, *a).map(Ordering::reverse),
        (Value::Double(a), Value::Uint(b)) => double_uint(*a, *b),
        (Value::Uint(a), Value::Double(b)) => double_uint(*b, *a).map(Ordering::reverse),
        _ => None,
    }
}

#[allow(clippy::cast_precision_loss)] // the reference compares as doubles inside the range
fn double_int(double: f64, int: i64) -> Option<Ordering> {
    if double < i64::MIN as f64 {
        return Some(Ordering::Less);
    }
    if double > i64::MAX as f64 {
        return Some(Ordering::Greater);
    }
    double.partial_cmp(&(int as f64))
}

#[allow(clippy::cast_precision_loss)]
fn double_uint(double: f64, uint: u64) -> Option<Ordering> {
    if double < 0.0 {
        return Some(Ordering::Less);
    }
    if double > u64::MAX as f64 {
        return Some(Ordering::Greater);
    }
    double.partial_cmp(&(uint as f64))
}

fn lists_equal<'a>(one: &List<'a>, two: &List<'a>, fuel: &Cell<u64>) -> bool {
    if one.len() != two.len() {
        return false;
    }
    match one.kind() {
        ListKind::Plain => one
            .iter()
            .zip(two.iter())
            .all(|(one, two)| one.equals_within(&two, fuel)),
        ListKind::Set => {
            let others: Vec<Value<'a>> = two.iter().collect();
            one.iter()
                .all(|item| others.iter().any(|other| item.equals_within(other, fuel)))
        }
        ListKind::Keyed(keys) => {
            let others: Vec<Value<'a>> = two.iter().collect();
            one.iter().all(|item| {
                others
                    .iter()
                    .any(|other| same_keys(&item, other, keys) && item.equals_within(other, fuel))
            })
        }
    }
}

/// Whether two elements of a keyed list have the same keys.
pub(crate) fn same_keys(one: &Value<'_>, two: &Value<'_>, keys: &[String]) -> bool {
    let (Value::Map(one), Value::Map(two)) = (one, two) else {
        return false;
    };
    keys.iter()
        .all(|key| match (one.field(key), two.field(key)) {
            (Some(one), Some(two)) => one.show() == two.show(),
            (None, None) => true,
            _ => false,
        })
}

fn maps_equal<'a>(one: &Map<'a>, two: &Map<'a>, fuel: &Cell<u64>) -> bool {
    if one.len() != two.len() {
        return false;
    }
    if let (Map::Object(data, ty), Map::Object(other, _)) = (one, two) {
        let known = |name: &String| ty.fields.values().any(|field| field.name == *name);
        let hidden = |name: &String, value| other.get(name).is_none_or(|other| other == value);
        if !data
            .iter()
            .all(|(name, value)| known(name) || hidden(name, value))
        {
            return false;
        }
    }
    one.keys()
        .iter()
        .all(|key| match (one.get(key), two.get(key)) {
            (Some(one), Some(two)) => one.equals_within(&two, fuel),
            (None, None) => true,
            _ => false,
        })
}
