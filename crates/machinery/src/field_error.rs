//! Errors about one field of an object, worded as Kubernetes words them.

use std::fmt;

use serde_json::{Value, json};

use crate::go_text;

/// What is wrong with a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A referenced thing does not exist.
    NotFound,
    /// A required value is missing.
    Required,
    /// Two entries are equal that must differ.
    Duplicate,
    /// The value breaks a rule.
    Invalid,
    /// The value is not among the allowed ones.
    NotSupported,
    /// The value may not be set here.
    Forbidden,
    /// The value is too long.
    TooLong,
    /// There are too many entries.
    TooMany,
    /// The server failed to check.
    Internal,
    /// The value has the wrong type.
    TypeInvalid,
}

impl Kind {
    /// The words that start the message.
    pub fn words(self) -> &'static str {
        match self {
            Self::NotFound => "Not found",
            Self::Required => "Required value",
            Self::Duplicate => "Duplicate value",
            Self::Invalid | Self::TypeInvalid => "Invalid value",
            Self::NotSupported => "Unsupported value",
            Self::Forbidden => "Forbidden",
            Self::TooLong => "Too long",
            Self::TooMany => "Too many",
            Self::Internal => "Internal error",
        }
    }

    /// The `reason` of the cause in a Status.
    pub fn reason(self) -> &'static str {
        match self {
            Self::NotFound => "FieldValueNotFound",
            Self::Required => "FieldValueRequired",
            Self::Duplicate => "FieldValueDuplicate",
            Self::Invalid => "FieldValueInvalid",
            Self::NotSupported => "FieldValueNotSupported",
            Self::Forbidden => "FieldValueForbidden",
            Self::TooLong => "FieldValueTooLong",
            Self::TooMany => "FieldValueTooMany",
            Self::Internal => "InternalError",
            Self::TypeInvalid => "FieldValueTypeInvalid",
        }
    }
}

/// An error about one field.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldError {
    /// What is wrong.
    pub kind: Kind,
    /// The path, such as `spec.ports[0].name`.
    pub field: String,
    /// The value as the message shows it; `None` leaves it out.
    pub value: Option<Value>,
    /// The rest of the message.
    pub detail: String,
}

impl FieldError {
    /// `field: Invalid value: value: detail`
    pub fn invalid(field: impl Into<String>, value: Value, detail: impl Into<String>) -> Self {
        Self {
            kind: Kind::Invalid,
            field: field.into(),
            value: Some(value),
            detail: detail.into(),
        }
    }

    /// `field: Required value: detail`
    pub fn required(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self {
            kind: Kind::Required,
            field: field.into(),
            value: None,
            detail: detail.into(),
        }
    }

    /// `field: Forbidden: detail`
    pub fn forbidden(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self {
            kind: Kind::Forbidden,
            field: field.into(),
            value: None,
            detail: detail.into(),
        }
    }

    /// `field: Duplicate value: value`
    pub fn duplicate(field: impl Into<String>, value: Value) -> Self {
        Self {
            kind: Kind::Duplicate,
            field: field.into(),
            value: Some(value),
            detail: String::new(),
        }
    }

    /// `field: Unsupported value: value: supported values: "a", "b"`
    pub fn not_supported(field: impl Into<String>, value: Value, supported: &[&str]) -> Self {
        let quoted: Vec<_> = supported
            .iter()
            .map(|value| go_text::quote(value))
            .collect();
        Self {
            kind: Kind::NotSupported,
            field: field.into(),
            value: Some(value),
            detail: format!("supported values: {}", quoted.join(", ")),
        }
    }

    /// The message without the field: what a cause of a Status says.
    pub fn message(&self) -> String {
        let mut text = self.kind.words().to_owned();
        if let Some(value) = &self.value {
            text.push_str(": ");
            text.push_str(&shown(value));
        }
        if !self.detail.is_empty() {
            text.push_str(": ");
            text.push_str(&self.detail);
        }
        text
    }

    /// The cause as a Status carries it.
    pub fn cause(&self) -> Value {
        json!({ "reason": self.kind.reason(), "message": self.message(), "field": self.field })
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.field, self.message())
    }
}

/// A value as error messages show it: strings quoted, scalars plain, the rest as JSON.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => go_text::quote(text),
        Value::Number(number) if number.is_f64() => {
            go_text::float(number.as_f64().unwrap_or_default())
        }
        Value::Null => "null".to_owned(),
        other => other.to_string(),
    }
}

/// Many errors as one sentence: a lone one plain, several in brackets, as Kubernetes joins them.
pub fn join(errors: &[FieldError]) -> String {
    let mut seen: Vec<String> = Vec::new();
    for error in errors {
        let text = error.to_string();
        if !seen.contains(&text) {
            seen.push(text);
        }
    }
    match seen.len() {
        1 => seen.remove(0),
        _ => format!("[{}]", seen.join(", ")),
    }
}
