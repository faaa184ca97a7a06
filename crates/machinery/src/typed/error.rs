//! What is wrong with a value of a type, worded as the real server words it.

use std::fmt;

use serde_json::Value;

use crate::fieldset::{go_float, is_float};

/// One thing that is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeError {
    /// The path from the root of the value, such as `.spec.ports[port=80]`.
    pub path: String,
    /// What is wrong.
    pub message: String,
}

/// Everything that is wrong with a value; never empty.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct TypeErrors(pub Vec<TypeError>);

impl fmt::Display for TypeError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            out.write_str(&self.message)
        } else {
            write!(out, "{}: {}", self.path, self.message)
        }
    }
}

impl fmt::Display for TypeErrors {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [only] = self.0.as_slice() {
            return only.fmt(out);
        }
        out.write_str("errors:")?;
        self.0
            .iter()
            .try_for_each(|error| write!(out, "\n  {error}"))
    }
}

/// Errors on their way up from a part of a value.
#[derive(Default)]
pub(super) struct Errors(pub(super) Vec<TypeError>);

impl Errors {
    /// Adds an error at the place itself.
    pub(super) fn push(&mut self, message: impl Into<String>) {
        self.0.push(TypeError {
            path: String::new(),
            message: message.into(),
        });
    }

    /// Takes over the errors of a part, which is reached by `step`.
    pub(super) fn below(&mut self, step: &impl fmt::Display, errors: Self) {
        if errors.0.is_empty() {
            return;
        }
        let step = step.to_string();
        for mut error in errors.0 {
            error.path.insert_str(0, &step);
            self.0.push(error);
        }
    }

    /// The result that the errors leave.
    pub(super) fn finish<Out>(self, out: Out) -> Result<Out, TypeErrors> {
        if self.0.is_empty() {
            Ok(out)
        } else {
            Err(TypeErrors(self.0))
        }
    }
}

/// A value as the real server prints it in errors: Go's plain notation.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) if is_float(number) => {
            number.as_f64().map_or_else(String::new, go_float)
        }
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(plain).collect();
            format!("[{}]", items.join(" "))
        }
        Value::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(name, value)| format!("{name}:{}", plain(value)));
            format!("map[{}]", fields.collect::<Vec<_>>().join(" "))
        }
    }
}
