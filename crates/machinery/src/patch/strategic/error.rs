//! Why a patch is refused, and how a server says so.

use serde_json::{Map, Value};

use crate::{go_text, status::Status};

pub(super) type Result<T> = std::result::Result<T, Refusal>;

/// Why a patch is refused.
#[derive(Debug)]
pub(super) enum Refusal {
    /// 400: a directive has the wrong form.
    Malformed(&'static str),
    /// 422 without words: lists of lists.
    ListOfLists,
    /// 500: everything else that real servers find out too late.
    Late(String),
}

impl Refusal {
    pub(super) const RETAIN_KEYS: Self = Self::Malformed("invalid patch format of retainKeys");
    pub(super) const PRIMITIVE_LIST: Self =
        Self::Malformed("invalid patch format of primitive list");
    pub(super) const ELEMENT_ORDER: Self =
        Self::Malformed("invalid patch format of setElementOrder list");

    pub(super) fn unknown_directive(directive: &Value, inside: &Map<String, Value>) -> Self {
        let shown = match directive {
            Value::String(text) => text.clone(),
            other => format!("%!s({}={})", go_type(other), go_text::value(other)),
        };
        let inside = go_text::map(inside);
        Self::Late(format!("unknown patch type: {shown} in map: {inside}"))
    }

    pub(super) fn no_merge_key(entry: &Map<String, Value>, key: &str) -> Self {
        let entry = go_text::map(entry);
        Self::Late(format!(
            "map: {entry} does not contain declared merge key: {key}"
        ))
    }

    pub(super) fn not_a_map(found: &Value) -> Self {
        Self::wrong_type("map[string]interface {}", found)
    }

    pub(super) fn not_a_list(found: &Value) -> Self {
        Self::wrong_type("[]interface {}", found)
    }

    fn wrong_type(wanted: &str, found: &Value) -> Self {
        let found = match found {
            Value::Null => "%!s(<nil>)",
            other => go_type(other),
        };
        Self::Late(format!("expected a {wanted}, but received a {found}"))
    }
}

/// A value's type as Go names it.
pub(super) fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

impl From<Refusal> for Status {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Malformed(words) => Self::bad_request(words),
            Refusal::ListOfLists => crate::patch::does_not_apply(),
            Refusal::Late(message) => Self {
                code: 500,
                reason: "",
                message,
                details: Value::Null,
                list_continue: None,
            },
        }
    }
}
