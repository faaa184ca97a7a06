//! Numbers: crossing between their types, and the forms that Go writes.

use std::fmt::Write as _;

/// The integer that a double is exactly.
#[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)]
pub(crate) fn exact_int(number: f64) -> Option<i64> {
    let fits =
        number.fract() == 0.0 && number >= i64::MIN as f64 && number < 9_223_372_036_854_775_808.0;
    fits.then_some(number as i64)
}

/// The unsigned integer that a double is exactly.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub(crate) fn exact_uint(number: f64) -> Option<u64> {
    let fits = number.fract() == 0.0 && (0.0..18_446_744_073_709_551_616.0).contains(&number);
    fits.then_some(number as u64)
}

/// Shortest digits and the exponent of ten before them: `d.ddd` times ten to the exponent.
fn shortest(number: f64) -> (String, i32) {
    let text = format!("{:e}", number.abs());
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (digits.replace('.', ""), exponent.parse().unwrap_or(0))
}

fn special(number: f64) -> Option<&'static str> {
    if number.is_nan() {
        Some("NaN")
    } else if number.is_infinite() {
        Some(if number > 0.0 { "+Inf" } else { "-Inf" })
    } else {
        None
    }
}

/// Go's `%g`: shortest form, with an exponent for what is very large or small.
pub(crate) fn general(number: f64) -> String {
    if let Some(word) = special(number) {
        return word.to_owned();
    }
    let (digits, exponent) = shortest(number);
    if number != 0.0 && !(-4..6).contains(&exponent) {
        let sign = if number.is_sign_negative() { "-" } else { "" };
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        let mark = if exponent < 0 { '-' } else { '+' };
        return format!("{sign}{first}{point}{rest}e{mark}{:02}", exponent.abs());
    }
    plain(number)
}

/// Go's `%f` with as many digits as needed.
pub(crate) fn plain(number: f64) -> String {
    special(number).map_or_else(|| format!("{number}"), str::to_owned)
}

/// Quotes around text, with only those letters escaped that literals know an escape for.
pub(crate) fn quote_escapes(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for letter in text.chars() {
        let escape = match letter {
            '\u{7}' => "\\a",
            '\u{8}' => "\\b",
            '\u{c}' => "\\f",
            '\n' => "\\n",
            '\r' => "\\r",
            '\t' => "\\t",
            '\u{b}' => "\\v",
            '\\' => "\\\\",
            '"' => "\\\"",
            letter => {
                out.push(letter);
                continue;
            }
        };
        out.push_str(escape);
    }
    out.push('"');
    out
}

/// Go's quoting of text in messages.
pub(crate) fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\u{b}' => out.push_str("\\v"),
            control if control.is_control() && (control as u32) < 0x80 => {
                let _ = write!(out, "\\x{:02x}", control as u32);
            }
            control if control.is_control() => {
                let _ = write!(out, "\\u{:04x}", control as u32);
            }
            letter => out.push(letter),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_go_does() {
        assert_eq!(general(1e6), "1e+06");
        assert_eq!(general(1.5), "1.5");
        assert_eq!(general(-1e-7), "-1e-07");
        assert_eq!(general(f64::INFINITY), "+Inf");
        assert_eq!(plain(1e21), "1000000000000000000000");
    }
}
