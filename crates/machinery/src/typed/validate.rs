//! Whether a value is of a type, as far as tracking its fields needs it.

use serde_json::Value;

use super::atom::{Handled, List, Map, Scalar};
use super::error::{Errors, plain};
use super::list_key::Steps;
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
    if list.is_atomic() {
        for (at, entry) in entries.iter().enumerate() {
            let mut below = Errors::default();
            check(entry, list.element, duplicates, &mut below);
            if !below.0.is_empty() {
                let index = i64::try_from(at).unwrap_or(i64::MAX);
                errors.below(&PathElement::Index(index), below);
            }
        }
        return;
    }
    let steps = Steps::new(list);
    let wrong = entries.iter().map(|entry| steps.check(entry));
    let wrong = wrong
        .enumerate()
        .find_map(|(at, found)| found.err().map(|error| (at, error)));
    let known = &entries[..wrong.as_ref().map_or(entries.len(), |(at, _)| *at)];
    let repeated = match duplicates {
        Duplicates::Refused => repeated(&steps, known),
        Duplicates::Allowed => vec![false; known.len()],
    };
    for (at, entry) in known.iter().enumerate() {
        if repeated[at] {
            errors.push(format!("duplicate entries for key {}", steps.to(entry)));
        }
        let mut below = Errors::default();
        check(entry, list.element, duplicates, &mut below);
        if !below.0.is_empty() {
            errors.below(&steps.to(entry), below);
        }
    }
    if let Some((at, error)) = wrong {
        errors.push(format!("element {at}: {error}"));
    }
}

/// For each entry, whether an earlier one has the same step.
pub(super) fn repeated(steps: &Steps<'_>, entries: &[Value]) -> Vec<bool> {
    let mut repeated = vec![false; entries.len()];
    for pair in steps.sorted(entries).windows(2) {
        if steps.order(&entries[pair[0]], &entries[pair[1]]).is_eq() {
            repeated[pair[1]] = true;
        }
    }
    repeated
}
