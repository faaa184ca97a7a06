//! How Go prints things, where its habits show in what servers say.

use std::fmt::Write;

use serde_json::{Map, Value};

/// A float as Go's JSON writer prints it.
pub fn float(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || (1e-6..1e21).contains(&size) {
        return format!("{value}");
    }
    let text = format!("{value:e}");
    match text.split_once('e') {
        Some((mantissa, exponent)) if !exponent.starts_with('-') => {
            format!("{mantissa}e+{exponent}")
        }
        Some((mantissa, exponent)) => {
            // Go keeps one-digit negative exponents: 1e-7.
            format!("{mantissa}e{exponent}")
        }
        None => text,
    }
}

/// Whether Go prints a character as it is. Rust's own notion is the same, but that it escapes marks which
/// combine with the letter before.
pub(crate) fn printable(letter: char) -> bool {
    letter == '\'' || letter.escape_debug().len() == 1 || matches!(letter, '\u{300}'..='\u{36f}')
}

/// A decoded JSON value as Go's `%v` prints it: `map[name:a ports:[80 81] user:<nil>]`.
pub fn value(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => match number.as_f64() {
            Some(size) if number.is_f64() => float(size),
            _ => number.to_string(),
        },
        Value::String(text) => text.clone(),
        Value::Array(entries) => list(entries),
        Value::Object(fields) => map(fields),
    }
}

/// A list as Go's `%v` prints it.
pub fn list(entries: &[Value]) -> String {
    let entries: Vec<_> = entries.iter().map(value).collect();
    format!("[{}]", entries.join(" "))
}

/// A map as Go's `%v` prints it.
pub fn map(fields: &Map<String, Value>) -> String {
    let fields: Vec<_> = fields
        .iter()
        .map(|(name, field)| format!("{name}:{}", value(field)))
        .collect();
    format!("map[{}]", fields.join(" "))
}

/// A string as Go's `%q` prints it.
pub fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for letter in text.chars() {
        match letter {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\u{7}' => quoted.push_str("\\a"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{b}' => quoted.push_str("\\v"),
            '\u{c}' => quoted.push_str("\\f"),
            other if !printable(other) => {
                let code = u32::from(other);
                match code {
                    0..0x80 => write!(quoted, "\\x{code:02x}"),
                    0x80..0x1_0000 => write!(quoted, "\\u{code:04x}"),
                    _ => write!(quoted, "\\U{code:08x}"),
                }
                .expect("strings take text");
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

/// Text as Go's JSON encoder writes it: safe inside HTML, too.
pub fn json(text: &str) -> String {
    let mut written = Value::from(text).to_string();
    for (letter, escape) in [
        ('<', "\\u003c"),
        ('>', "\\u003e"),
        ('&', "\\u0026"),
        ('\u{2028}', "\\u2028"),
        ('\u{2029}', "\\u2029"),
    ] {
        if written.contains(letter) {
            written = written.replace(letter, escape);
        }
    }
    written
}
