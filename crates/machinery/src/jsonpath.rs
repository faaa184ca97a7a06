//! The `JSONPath` dialect of printer columns and of kubectl: `.status.conditions[?(@.type=='Ready')].status`.
//!
//! Fields, escaped dots, quoted keys, indices, slices, wildcards, unions, filters and recursive descent.

mod evaluate;
mod parse;

use std::borrow::Cow;

use serde_json::Value;

/// A path that cannot be read or cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PathError(pub String);

/// One step of a path.
#[derive(Clone, Debug, PartialEq)]
enum Step {
    Field(String),
    Wildcard,
    Recursive,
    Slice(Slice),
    Filter(Box<Filter>),
    Union(Vec<Vec<Step>>),
    /// A constant, as filters compare with.
    Constant(Value),
}

/// `[start:end:step]`; a lone index is a slice of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slice {
    start: Option<i64>,
    end: Option<i64>,
    /// The end follows from a lone index.
    index: bool,
    step: Option<i64>,
}

/// `[?(left op right)]`
#[derive(Clone, Debug, PartialEq)]
struct Filter {
    left: Vec<Step>,
    /// `None` asks whether the left side exists.
    comparison: Option<(String, Vec<Step>)>,
}

/// A parsed path.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonPath {
    steps: Vec<Step>,
}

impl JsonPath {
    /// Reads a path, with or without surrounding braces.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        let inner = text
            .strip_prefix('{')
            .and_then(|rest| rest.strip_suffix('}'))
            .unwrap_or(text);
        parse::steps(inner).map(|steps| Self { steps })
    }

    /// Everything that the path leads to. Missing fields lead nowhere; an index out of range is an error.
    pub fn find<'a>(&self, value: &'a Value) -> Result<Vec<Cow<'a, Value>>, PathError> {
        evaluate::follow(&self.steps, vec![Cow::Borrowed(value)])
    }
}

/// A found value as text: strings plain, objects and lists as JSON.
pub fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "<no value>".to_owned(),
        Value::Number(number) if number.is_f64() => {
            crate::go_text::float(number.as_f64().unwrap_or_default())
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests;
