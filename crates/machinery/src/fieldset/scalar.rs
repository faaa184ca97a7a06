//! How values compare and print inside field sets: numbers by size whatever their notation, and every
//! kind of value in one total order.

use std::cmp::Ordering;
use std::fmt::Write as _;

use serde_json::{Number, Value};

use crate::go_text;

/// Whether a number counts as floating point: it has a fraction or does not fit 64 signed bits.
pub(crate) fn is_float(number: &Number) -> bool {
    number.as_i64().is_none()
}

/// The rank of a value's kind in the total order. Integers and floats share one, they compare by size.
fn rank(value: &Value) -> u8 {
    match value {
        Value::Number(_) => 0,
        Value::String(_) => 1,
        Value::Bool(_) => 2,
        Value::Array(_) => 3,
        Value::Object(_) => 4,
        Value::Null => 5,
    }
}

fn float(number: &Number) -> f64 {
    number.as_f64().unwrap_or(f64::NAN)
}

fn compare_numbers(left: &Number, right: &Number) -> Ordering {
    match (left.as_i64(), right.as_i64()) {
        (Some(left), Some(right)) => left.cmp(&right),
        _ => float(left)
            .partial_cmp(&float(right))
            .unwrap_or(Ordering::Equal),
    }
}

/// The total order of values.
pub(crate) fn compare(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => compare_numbers(left, right),
        (Value::String(left), Value::String(right)) => left.cmp(right),
        (Value::Bool(left), Value::Bool(right)) => left.cmp(right),
        (Value::Array(left), Value::Array(right)) => {
            let pairs = left.iter().zip(right);
            pairs
                .map(|(left, right)| compare(left, right))
                .find(|order| order.is_ne())
                .unwrap_or_else(|| left.len().cmp(&right.len()))
        }
        (Value::Object(left), Value::Object(right)) => {
            let pairs = left.iter().zip(right);
            pairs
                .map(|(left, right)| left.0.cmp(right.0).then_with(|| compare(left.1, right.1)))
                .find(|order| order.is_ne())
                .unwrap_or_else(|| left.len().cmp(&right.len()))
        }
        _ => rank(left).cmp(&rank(right)),
    }
}

/// Whether two values are equal; `1` and `1.0` are.
pub(crate) fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => compare_numbers(left, right).is_eq(),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(l, r)| equal(l, r))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .zip(right)
                    .all(|(l, r)| l.0 == r.0 && equal(l.1, r.1))
        }
        _ => left == right,
    }
}

/// A number in JSON as Go writes it: no fraction for whole numbers, an exponent only for extremes.
fn json_number(out: &mut String, number: &Number) {
    if let Some(whole) = number.as_i64() {
        let _ = write!(out, "{whole}");
        return;
    }
    out.push_str(&go_text::float(float(number)));
}

/// A string in JSON as Go writes it inside a value, with the characters that HTML minds escaped.
fn json_text(out: &mut String, text: &str) {
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..='\u{1f}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(letter));
            }
            other => out.push(other),
        }
    }
    out.push('"');
}

/// A value as JSON, as path elements spell it.
pub(crate) fn json(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => json_number(out, number),
        Value::String(text) => json_text(out, text),
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                json(out, item);
            }
            out.push(']');
        }
        Value::Object(fields) => {
            out.push('{');
            for (at, (name, item)) in fields.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                json_text(out, name);
                out.push(':');
                json(out, item);
            }
            out.push('}');
        }
    }
}

/// A value as JSON text, as Go writes it.
pub(crate) fn go_json(value: &Value) -> String {
    let mut out = String::new();
    json(&mut out, value);
    out
}

/// A name as the key of a JSON object inside a path element: HTML characters stay.
pub(crate) fn json_name(out: &mut String, name: &str) {
    out.push('"');
    for letter in name.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..='\u{1f}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(letter));
            }
            other => out.push(other),
        }
    }
    out.push('"');
}

/// A float in words for people, as Go prints it: `1e+06`.
pub(crate) fn go_float(value: f64) -> String {
    let scientific = format!("{value:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    let power: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&power) {
        return value.to_string();
    }
    let sign = if power < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", power.abs())
}

/// A value as a path shows it to people.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number
            .as_i64()
            .map_or_else(|| go_float(float(number)), |whole| whole.to_string()),
        Value::String(text) => go_text::quote(text),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(shown).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(fields) => {
            let fields = fields.iter();
            let fields = fields.map(|(name, value)| format!("{name}={}", shown(value)));
            fields.collect::<Vec<_>>().concat()
        }
    }
}
