//! `'%s is %d'.format([…])`.

use std::fmt::Write as _;

use super::{Table, declare};
use crate::{
    call::Call,
    env::Env,
    error::EvalError,
    value::{List, Map, Value, number},
};

const FORMAT: Table = &[(
    "format",
    format,
    &["string_format: string.(list(dyn)) -> string"],
)];
const PLAIN: Table = &[(
    "format",
    plain,
    &["string_format: string.(list(dyn)) -> string"],
)];
/// Digits after the point unless the clause says otherwise.
pub(super) const PRECISION: usize = 6;

pub(super) fn install(env: &mut Env, newest: bool) {
    declare(env, if newest { PLAIN } else { FORMAT });
}

/// A verb of a format text, with its precision.
pub(crate) struct Clause {
    pub(crate) verb: char,
    pub(super) precision: Option<usize>,
}

/// A piece of a format text.
pub(crate) enum Piece<'t> {
    Text(&'t str),
    Clause(Clause),
}

/// The pieces of a format text. `more` is told about every clause before it is read and when it is.
pub(crate) fn pieces(
    text: &str,
    mut more: impl FnMut(Option<&Clause>) -> Result<(), String>,
) -> Result<Vec<Piece<'_>>, String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        found.push(Piece::Text(&rest[..at]));
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('%') {
            found.push(Piece::Text("%"));
            rest = after;
            continue;
        }
        more(None)?;
        if rest.is_empty() {
            return Err("unexpected end of string".to_owned());
        }
        let (clause, after) =
            clause(rest).map_err(|error| format!("could not parse formatting clause: {error}"))?;
        more(Some(&clause))?;
        found.push(Piece::Clause(clause));
        rest = after;
    }
    found.push(Piece::Text(rest));
    Ok(found)
}

fn clause(text: &str) -> Result<(Clause, &str), String> {
    let mut rest = text;
    let mut precision = None;
    if let Some(after) = rest.strip_prefix('.') {
        let end = after.find(|c: char| !c.is_ascii_digit());
        let Some(end) = end else {
            return Err(
                "error while parsing precision: could not find end of precision specifier".into(),
            );
        };
        precision = Some(after[..end].parse().map_err(|_| {
            format!(
                "error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing {}: invalid syntax",
                number::quote(&after[..end])
            )
        })?);
        rest = &after[end..];
    }
    let Some(verb) = rest.chars().next() else {
        return Err("unexpected end of string".into());
    };
    if !"sdfebxXo".contains(verb) {
        return Err(format!("unrecognized formatting clause \"{verb}\""));
    }
    Ok((Clause { verb, precision }, &rest[verb.len_utf8()..]))
}

/// The complaint about an argument of the wrong type.
pub(crate) fn misfit(verb: char, type_name: &str) -> String {
    let words = match verb {
        'd' => "decimal clause can only be used on integers",
        'f' => "fixed-point clause can only be used on doubles",
        'e' => "scientific clause can only be used on doubles",
        'b' => "only integers and bools can be formatted as binary",
        'x' | 'X' => "only integers, byte buffers, and strings can be formatted as hex",
        'o' => "octal clause can only be used on integers",
        _ => {
            "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps"
        }
    };
    format!("{words}, was given {type_name}")
}

fn format<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    fill(call, args, apply)
}

fn plain<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    fill(call, args, super::plain_format::apply)
}

/// How a clause shows its argument.
type Show = fn(&Clause, &Value<'_>) -> Result<String, String>;

fn fill<'a>(call: &mut Call<'_>, args: &[Value<'a>], show: Show) -> Result<Value<'a>, EvalError> {
    let [Value::String(text), Value::List(list)] = args else {
        return call.refuse(args);
    };
    let mut asked = 0;
    let pieces = pieces(text, |clause| {
        asked += usize::from(clause.is_none());
        if asked > list.len() {
            Err(format!("index {} out of range", asked - 1))
        } else {
            Ok(())
        }
    })
    .map_err(EvalError::new)?;
    let mut out = String::new();
    let mut next = 0;
    for piece in pieces {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Clause(clause) => {
                let value = list.get(next).unwrap_or(Value::Null);
                next += 1;
                call.reserve(clause.precision.unwrap_or(0))?;
                let shown = show(&clause, &value)
                    .map_err(|error| EvalError::new(format!("error during formatting: {error}")))?;
                call.reserve(shown.len())?;
                out.push_str(&shown);
            }
        }
    }
    call.made(out)
}

pub(super) fn apply(clause: &Clause, value: &Value<'_>) -> Result<String, String> {
    let precision = clause.precision.unwrap_or(PRECISION);
    match (clause.verb, value) {
        ('s', value) => string(value),
        ('d', Value::Int(number)) => Ok(number.to_string()),
        ('d', Value::Uint(number)) => Ok(number.to_string()),
        ('f' | 'e', Value::String(text)) if matches!(&**text, "NaN" | "Infinity" | "-Infinity") => {
            let number = match &**text {
                "NaN" => f64::NAN,
                "Infinity" => f64::INFINITY,
                _ => f64::NEG_INFINITY,
            };
            Ok(float(clause.verb, number, precision))
        }
        ('f' | 'e', Value::Double(number)) => Ok(float(clause.verb, *number, precision)),
        ('b', Value::Bool(truth)) => Ok(u8::from(*truth).to_string()),
        ('b', Value::Int(number)) => Ok(signed(*number, format!("{:b}", number.unsigned_abs()))),
        ('b', Value::Uint(number)) => Ok(format!("{number:b}")),
        ('o', Value::Int(number)) => Ok(signed(*number, format!("{:o}", number.unsigned_abs()))),
        ('o', Value::Uint(number)) => Ok(format!("{number:o}")),
        ('x' | 'X', value) => {
            let hex = match value {
                Value::Int(number) => signed(*number, format!("{:x}", number.unsigned_abs())),
                Value::Uint(number) => format!("{number:x}"),
                Value::String(text) => hex(text.as_bytes()),
                Value::Bytes(bytes) => hex(bytes),
                other => return Err(misfit(clause.verb, &other.type_name())),
            };
            Ok(if clause.verb == 'X' {
                hex.to_uppercase()
            } else {
                hex
            })
        }
        (verb, other) => Err(misfit(verb, &other.type_name())),
    }
}

fn signed(number: i64, digits: String) -> String {
    if number < 0 {
        format!("-{digits}")
    } else {
        digits
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

/// Numbers with digits in groups of three, and an exponent written out: the reference formats in
/// English.
fn float(verb: char, number: f64, precision: usize) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 {
            "∞".to_owned()
        } else {
            "-∞".to_owned()
        };
    }
    if verb == 'e' {
        // The precision is only a width here: the reference slips.
        let text = format!("{number:.PRECISION$e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, exponent) = match exponent.strip_prefix('-') {
            Some(rest) => ('-', rest),
            None => ('+', exponent),
        };
        let shown = format!("{digits}×10{}", superscript(sign, exponent));
        return format!("{shown:>precision$}");
    }
    let text = format!("{number:.precision$}");
    let (sign, text) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.as_str()),
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut grouped = String::new();
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{grouped}{point}{fraction}")
}

fn superscript(sign: char, digits: &str) -> String {
    let mut out = String::new();
    if sign == '-' {
        out.push('⁻');
    }
    let padded = if digits.len() < 2 {
        format!("0{digits}")
    } else {
        digits.to_owned()
    };
    for digit in padded.chars() {
        let place = digit.to_digit(10).unwrap_or(0) as usize;
        out.push(['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][place]);
    }
    out
}

fn string(value: &Value<'_>) -> Result<String, String> {
    match value {
        Value::List(list) => show_list(list),
        Value::Map(map) => show_map(map),
        Value::Optional(_) | Value::Opaque(_) => Err(misfit('s', &value.type_name())),
        Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Ok(text.to_owned()),
            Err(_) => Err("could not convert argument \"invalid UTF-8 in bytes, cannot convert to string\" to string".into()),
        },
        other => Ok(other.show()),
    }
}

/// A part of a list or map: text in quotes, numbers with six digits.
fn part(value: &Value<'_>) -> Result<String, String> {
    Ok(match value {
        Value::Double(number) if number.is_nan() => "\"NaN\"".to_owned(),
        Value::Double(number) if number.is_infinite() => (if *number > 0.0 {
            "\"+Inf\""
        } else {
            "\"-Inf\""
        })
        .to_owned(),
        Value::Double(number) => format!("{number:.6}"),
        Value::String(text) => number::quote(text),
        Value::Bytes(bytes) => format!("b{}", number::quote(&String::from_utf8_lossy(bytes))),
        Value::Type(ty) => format!("type({})", ty.name()),
        Value::Timestamp(_) => format!("timestamp({})", number::quote(&value.show())),
        Value::Duration(_) => format!("duration({})", number::quote(&value.show())),
        Value::Optional(_) | Value::Opaque(_) => {
            return Err(format!("no formatting function for {}", value.type_name()));
        }
        other => string(other)?,
    })
}

/// Lists and maps longer than this are not written out.
pub(super) const LONGEST: usize = 1 << 20;

pub(super) fn too_long() -> String {
    "value is too long to be formatted".to_owned()
}

fn show_list(list: &List<'_>) -> Result<String, String> {
    let mut out = String::from("[");
    for (place, item) in list.iter().enumerate() {
        out.push_str(if place == 0 { "" } else { ", " });
        out.push_str(&part(&item)?);
        if out.len() > LONGEST {
            return Err(too_long());
        }
    }
    out.push(']');
    Ok(out)
}

fn show_map(map: &Map<'_>) -> Result<String, String> {
    let mut parts = Vec::new();
    let mut length = 0;
    for (key, value) in map.iter() {
        if matches!(key, Value::Double(_)) {
            return Err("no formatting function for map key of type double".to_owned());
        }
        let (key, value) = (part(&key)?, part(&value)?);
        length += key.len() + value.len();
        if length > LONGEST {
            return Err(too_long());
        }
        parts.push((key, value));
    }
    parts.sort();
    let parts: Vec<String> = parts
        .iter()
        .map(|(key, value)| format!("{key}:{value}"))
        .collect();
    Ok(format!("{{{}}}", parts.join(", ")))
}
