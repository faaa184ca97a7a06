//! Whether a value is of a type, as far as tracking its fields needs it.

use serde_json::Value;

use super::atom::{Handled, List, Map, Scalar};
use super::error::{Errors, plain};
use super::list_key::step_to;
use super::{Type, TypeErrors};
use crate::fieldset::{PathElement, go_float, is_float};
use crate::go_text::quote;

/// Whether equal entries of sets and keyed lists are an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duplicates {
    /// Objects that are already stored may have them.
    Allowed,
    /// What somebody applies may not.
    Refused,
}

/// Checks a value against a type.
pub fn validate(value: &Value, ty: Type<'_>, duplicates: Duplicates) -> Result<(), TypeErrors> {
    let mut errors = Errors::default();
    check(value, ty, duplicates, &mut errors);
    errors.finish(())
}

fn check(value: &Value, ty: Type<'_>, duplicates: Duplicates, errors: &mut Errors) {
    match ty.atom().of(value) {
        Handled::Scalar(scalar) => {
            if let Some(error) = scalar_error(scalar, value) {
                errors.push(error);
            }
        }
        Handled::Map(map) => check_map(value, &map, duplicates, errors),
        Handled::List(list) => check_list(value, &list, duplicates, errors),
        Handled::Nothing => errors.push("schema error: invalid atom: inlined"),
    }
}

/// Why a value is not a scalar of this type; null always is.
pub(super) fn scalar_error(scalar: Scalar, value: &Value) -> Option<String> {
    match (scalar, value) {
        (_, Value::Null)
        | (Scalar::Numeric, Value::Number(_))
        | (Scalar::String, Value::String(_))
        | (Scalar::Boolean, Value::Bool(_))
        | (Scalar::Untyped, Value::Number(_) | Value::String(_) | Value::Bool(_)) => None,
        (Scalar::Numeric, other) => {
            let name = match other {
                Value::Bool(_) => "bool",
                Value::String(_) => "string",
                Value::Array(_) => "[]interface {}",
                _ => "map[string]interface {}",
            };
            Some(format!("expected numeric (int or float), got {name}"))
        }
        (Scalar::String, other) => {
            let value = sharp(other);
            Some(format!(
                "expected string, got &value.valueUnstructured{{Value:{value}}}"
            ))
        }
        (Scalar::Boolean, other) => Some(format!("expected boolean, got &{{{}}}", plain(other))),
        (Scalar::Untyped, other) => Some(format!("expected any scalar, got &{{{}}}", plain(other))),
    }
}

/// A value in Go's syntax notation.
fn sharp(value: &Value) -> String {
    match value {
        Value::Null => "interface {}(nil)".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) if is_float(number) => {
            number.as_f64().map_or_else(String::new, go_float)
        }
        Value::Number(number) => number.to_string(),
        Value::String(text) => quote(text),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(sharp).collect();
            format!("[]interface {{}}{{{}}}", items.join(", "))
        }
        Value::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(name, value)| format!("{}:{}", quote(name), sharp(value)));
            let fields: Vec<_> = fields.collect();
            format!("map[string]interface {{}}{{{}}}", fields.join(", "))
        }
    }
}

fn check_map(value: &Value, map: &Map<'_>, duplicates: Duplicates, errors: &mut Errors) {
    let fields = match value {
        Value::Object(fields) => fields,
        Value::Null => return,
        other => return errors.push(format!("expected map, got &{{{}}}", plain(other))),
    };
    for (name, value) in fields {
        let ty = map.field(name);
        let mut below = Errors::default();
        let unknown = ty.is_missing();
        if unknown {
            below.push("field not declared in schema");
        } else {
            check(value, ty, duplicates, &mut below);
        }
        if !below.0.is_empty() {
            errors.below(&PathElement::field(name), below);
        }
        if unknown {
            return;
        }
    }
}

fn check_list(value: &Value, list: &List<'_>, duplicates: Duplicates, errors: &mut Errors) {
    let entries = match value {
        Value::Array(entries) => entries,
        Value::Null => return,
        other => return errors.push(format!("expected list, got &{{{}}}", plain(other))),
    };
    let mut seen = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let mut below = Errors::default();
        if list.is_atomic() {
            check(entry, list.element, duplicates, &mut below);
            if !below.0.is_empty() {
                let index = i64::try_from(at).unwrap_or(i64::MAX);
                errors.below(&PathElement::Index(index), below);
            }
            continue;
        }
        let step = match step_to(list, entry) {
            Ok(step) => step,
            Err(error) => return errors.push(format!("element {at}: {error}")),
        };
        match seen.binary_search(&step) {
            Ok(_) if duplicates == Duplicates::Refused => {
                errors.push(format!("duplicate entries for key {step}"));
            }
            Ok(_) => {}
            Err(place) => seen.insert(place, step.clone()),
        }
        check(entry, list.element, duplicates, &mut below);
        errors.below(&step, below);
    }
}
