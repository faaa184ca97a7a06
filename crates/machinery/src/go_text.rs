//! How Go prints things, where its habits show in what servers say.

use std::fmt::Write;

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
            other if other < ' ' || other == '\u{7f}' => {
                write!(quoted, "\\x{:02x}", u32::from(other)).expect("strings take text");
            }
            other if other.is_control() => {
                write!(quoted, "\\u{:04x}", u32::from(other)).expect("strings take text");
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}
