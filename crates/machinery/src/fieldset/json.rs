//! `FieldsV1`: how a set of fields is written in JSON.
//!
//! Every step is a key (`f:name`, `k:{"port":80}`, `v:"x"`, `i:3`) with an object of the steps below it; a
//! step that is a member and has steps below it says so with the key `.`.

use std::sync::Arc;

use serde::Deserialize as _;
use serde_json::{Map, Number, Value};

use super::scalar::{json, json_name};
use super::{PathElement, Set};

/// Why `FieldsV1` could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FieldsError {
    /// A key has no type letter with a colon.
    #[error("key must be 2 characters long:")]
    ShortKey,
    /// A key's second character is not a colon.
    #[error("missing colon: {0}")]
    NoColon(String),
    /// What follows the type letter is not JSON, or not a number for an index.
    #[error("invalid path element {0:?}: {1}")]
    BadContent(String, String),
    /// A step has something other than an object below it.
    #[error("expect {{ or n, but found {0}")]
    NotAnObject(String),
}

impl PathElement {
    /// The step as a key of `FieldsV1`; empty for what has no place there.
    pub fn to_key(&self) -> String {
        let mut out = String::new();
        match self {
            Self::Field(name) => {
                out.push_str("f:");
                out.push_str(name);
            }
            Self::Key(fields) => {
                out.push_str("k:{");
                for (at, (name, value)) in fields.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    json_name(&mut out, name);
                    out.push(':');
                    json(&mut out, value);
                }
                out.push('}');
            }
            Self::Value(value) => {
                out.push_str("v:");
                json(&mut out, value);
            }
            Self::Index(index) => {
                out.push_str("i:");
                out.push_str(&index.to_string());
            }
            Self::Nameless => {}
        }
        out
    }

    /// Reads a key of `FieldsV1`; `None` is a type of step that nobody knows yet, to be passed over.
    pub fn from_key(key: &str) -> Result<Option<Self>, FieldsError> {
        let bytes = key.as_bytes();
        if bytes.len() < 2 {
            return Err(FieldsError::ShortKey);
        }
        if bytes[1] != b':' {
            return Err(FieldsError::NoColon(key.to_owned()));
        }
        let content = &key[2..];
        let bad = |why: String| FieldsError::BadContent(key.to_owned(), why);
        Ok(match bytes[0] {
            b'f' => Some(Self::field(content)),
            b'v' => Some(Self::value(first_json(content).map_err(bad)?)),
            b'k' => match first_json(content).map_err(bad)? {
                Value::Object(fields) => {
                    let fields = fields.into_iter();
                    Some(Self::key(
                        fields
                            .map(|(name, value)| (Arc::from(name), value))
                            .collect(),
                    ))
                }
                Value::Null => Some(Self::key(Vec::new())),
                other => return Err(bad(format!("{other} is not an object"))),
            },
            b'i' => {
                let index = content.parse().map_err(|why| bad(format!("{why}")))?;
                Some(Self::Index(index))
            }
            _ => None,
        })
    }
}

/// The first JSON value in a text. Numbers become floats: that is what they are to everybody who compares
/// field sets.
fn first_json(text: &str) -> Result<Value, String> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = Value::deserialize(&mut reader).map_err(|why| why.to_string())?;
    Ok(with_floats(value))
}

fn with_floats(value: Value) -> Value {
    match value {
        // A whole number that a float holds exactly is the same number; the rest is rounded.
        Value::Number(number) => {
            let rounded = number.as_f64().and_then(Number::from_f64);
            let exact = number
                .as_i64()
                .is_some_and(|whole| whole.unsigned_abs() <= 1 << 53);
            Value::Number(if exact {
                number
            } else {
                rounded.unwrap_or(number)
            })
        }
        Value::Array(items) => items.into_iter().map(with_floats).collect(),
        Value::Object(fields) => fields
            .into_iter()
            .map(|(name, value)| (name, with_floats(value)))
            .collect(),
        other => other,
    }
}

impl Set {
    /// The set as a JSON value, as `fieldsV1` of an object holds it.
    pub fn to_value(&self) -> Value {
        Value::Object(self.to_map(false))
    }

    fn to_map(&self, with_self: bool) -> Map<String, Value> {
        let mut out = Map::new();
        if with_self && !(self.members.is_empty() && self.children.is_empty()) {
            out.insert(".".to_owned(), Value::Object(Map::new()));
        }
        for member in &self.members {
            out.insert(member.to_key(), Value::Object(Map::new()));
        }
        for (step, below) in &self.children {
            let both = self.has_member(step);
            out.insert(step.to_key(), Value::Object(below.to_map(both)));
        }
        out
    }

    /// The set as JSON text with the steps in their own order, which is the order of a real server.
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        self.write_json(&mut out, false);
        out
    }

    fn write_json(&self, out: &mut String, with_self: bool) {
        out.push('{');
        let mut first = true;
        let mut name = |out: &mut String, key: &str| {
            if !std::mem::take(&mut first) {
                out.push(',');
            }
            json_name(out, key);
            out.push(':');
        };
        if with_self && !(self.members.is_empty() && self.children.is_empty()) {
            name(out, ".");
            out.push_str("{}");
        }
        let mut members = self.members.iter().peekable();
        for (step, below) in &self.children {
            while let Some(member) = members.next_if(|member| *member < step) {
                name(out, &member.to_key());
                out.push_str("{}");
            }
            let both = members.next_if(|member| *member == step).is_some();
            name(out, &step.to_key());
            below.write_json(out, both);
        }
        for member in members {
            name(out, &member.to_key());
            out.push_str("{}");
        }
        out.push('}');
    }

    /// Reads `fieldsV1`.
    pub fn from_value(fields: &Value) -> Result<Self, FieldsError> {
        Ok(read(fields)?.0.unwrap_or_default())
    }

    /// Reads `FieldsV1` from JSON text.
    pub fn from_json(text: &str) -> Result<Self, FieldsError> {
        let value: Value = serde_json::from_str(text)
            .map_err(|why| FieldsError::BadContent(text.to_owned(), why.to_string()))?;
        Self::from_value(&value)
    }
}

/// What is below a step, and whether the step itself is a member.
fn read(fields: &Value) -> Result<(Option<Set>, bool), FieldsError> {
    let fields = match fields {
        Value::Object(fields) => fields,
        Value::Null => return Ok((None, true)),
        other => return Err(FieldsError::NotAnObject(other.to_string())),
    };
    let mut set: Option<Set> = None;
    let mut member = false;
    for (key, below) in fields {
        if key == "." {
            member = true;
            continue;
        }
        let Some(step) = PathElement::from_key(key)? else {
            continue;
        };
        let (below, is_member) = read(below)?;
        let set = set.get_or_insert_default();
        if is_member {
            set.insert_member(step.clone());
        }
        if let Some(below) = below {
            *set.descend(&step) = below;
        }
    }
    let member = member || set.is_none();
    Ok((set, member))
}
