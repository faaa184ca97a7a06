//! `format` of the newest version of the text library: nothing is quoted or grouped.

use super::formatting::{self, Clause, LONGEST, PRECISION, misfit, too_long};
use crate::value::{Value, number};

pub(super) fn apply(clause: &Clause, value: &Value<'_>) -> Result<String, String> {
    let precision = clause.precision.unwrap_or(PRECISION);
    match (clause.verb, value) {
        ('s', value) => string(value),
        ('d' | 'f' | 'e', Value::Double(number)) if !number.is_finite() => Ok(double(*number)),
        ('f', Value::Double(number)) => Ok(format!("{number:.precision$}")),
        ('e', Value::Double(number)) => Ok(scientific(*number, precision)),
        ('f' | 'e', Value::Int(_) | Value::Uint(_)) => {
            let number = value
                .convert(&crate::Type::Double)
                .map_err(|error| error.to_string())?;
            apply(clause, &number)
        }
        ('f' | 'e', other) => Err(misfit(clause.verb, &other.type_name())),
        _ => formatting::apply(clause, value),
    }
}

fn scientific(number: f64, precision: usize) -> String {
    let text = format!("{number:.precision$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(rest) => ('-', rest),
        None => ('+', exponent),
    };
    format!("{digits}e{sign}{exponent:0>2}")
}

fn double(value: f64) -> String {
    if value.is_infinite() {
        return (if value > 0.0 { "Infinity" } else { "-Infinity" }).to_owned();
    }
    number::general(value)
}

fn string(value: &Value<'_>) -> Result<String, String> {
    match value {
        Value::Double(number) => Ok(double(*number)),
        Value::List(list) => {
            let mut out = String::from("[");
            for (place, item) in list.iter().enumerate() {
                out.push_str(if place == 0 { "" } else { ", " });
                out.push_str(&string(&item)?);
                if out.len() > LONGEST {
                    return Err(too_long());
                }
            }
            out.push(']');
            Ok(out)
        }
        Value::Map(map) => {
            let mut parts = Vec::new();
            let mut length = 0;
            for (key, value) in map.iter() {
                let part = format!("{}: {}", string(&key)?, string(&value)?);
                length += part.len();
                if length > LONGEST {
                    return Err(too_long());
                }
                parts.push(part);
            }
            parts.sort();
            Ok(format!("{{{}}}", parts.join(", ")))
        }
        Value::Optional(_) | Value::Opaque(_) => Err(misfit('s', &value.type_name())),
        other => Ok(other.show()),
    }
}
