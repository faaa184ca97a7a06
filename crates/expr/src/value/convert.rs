//! Conversions: `int(…)`, `string(…)` and their kin.

use super::{Moment, Value, number, parse_duration, show_duration};
use crate::{error::EvalError, ty::Type};

const INT_OVERFLOW: &str = "integer overflow";
const UINT_OVERFLOW: &str = "unsigned integer overflow";

type Converted<'a> = Result<Value<'a>, EvalError>;

impl<'a> Value<'a> {
    /// This value as one of another type.
    pub(crate) fn convert(&self, to: &Type) -> Converted<'a> {
        match to {
            Type::Int => self.to_int(),
            Type::Uint => self.to_uint(),
            Type::Double => self.to_double(),
            Type::String => self.to_text(),
            Type::Bytes => match self {
                Self::Bytes(_) => Ok(self.clone()),
                Self::String(text) => Ok(Self::bytes(text.as_bytes())),
                _ => self.refuse(to),
            },
            Type::Bool => match self {
                Self::Bool(_) => Ok(self.clone()),
                Self::String(text) => match &**text {
                    "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(Self::Bool(true)),
                    "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(Self::Bool(false)),
                    _ => self.refuse(to),
                },
                _ => self.refuse(to),
            },
            Type::Duration => match self {
                Self::Duration(_) => Ok(self.clone()),
                // Declared for integers as well, but the reference never got to it.
                Self::String(text) => {
                    parse_duration(text).map_or_else(|| self.refuse(to), |d| Ok(Self::Duration(d)))
                }
                _ => self.refuse(to),
            },
            Type::Timestamp => self.to_timestamp(),
            _ => self.refuse(to),
        }
    }

    fn refuse(&self, to: &Type) -> Converted<'a> {
        let from = self.type_of();
        Err(EvalError::new(format!(
            "type conversion error from '{from}' to '{to}'",
            from = from.name(),
            to = to.name()
        )))
    }

    fn to_int(&self) -> Converted<'a> {
        match self {
            Self::Int(_) => Ok(self.clone()),
            Self::Uint(value) => i64::try_from(*value)
                .map(Self::Int)
                .map_err(|_| EvalError::new(INT_OVERFLOW)),
            Self::Double(value) => {
                // Both ends are excluded: they have no exact neighbour as a double.
                let inside =
                    *value > -9_223_372_036_854_775_808.0 && *value < 9_223_372_036_854_775_807.0;
                let whole = inside.then(|| number::exact_int(value.trunc())).flatten();
                whole
                    .map(Self::Int)
                    .ok_or_else(|| EvalError::new(INT_OVERFLOW))
            }
            Self::String(text) => go_integer(text)
                .and_then(|text| text.parse().ok())
                .map_or_else(|| self.refuse(&Type::Int), |value| Ok(Self::Int(value))),
            Self::Timestamp(moment) => Ok(Self::Int(moment.seconds())),
            Self::Duration(nanos) => Ok(Self::Int(*nanos)),
            _ => self.refuse(&Type::Int),
        }
    }

    fn to_uint(&self) -> Converted<'a> {
        match self {
            Self::Uint(_) => Ok(self.clone()),
            Self::Int(value) => u64::try_from(*value)
                .map(Self::Uint)
                .map_err(|_| EvalError::new(UINT_OVERFLOW)),
            Self::Double(value) => {
                let inside = *value >= 0.0 && *value < 18_446_744_073_709_551_615.0;
                let whole = inside.then(|| number::exact_uint(value.trunc())).flatten();
                whole
                    .map(Self::Uint)
                    .ok_or_else(|| EvalError::new(UINT_OVERFLOW))
            }
            Self::String(text) => Some(&**text)
                .filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))
                .and_then(|text| text.parse().ok())
                .map_or_else(|| self.refuse(&Type::Uint), |value| Ok(Self::Uint(value))),
            _ => self.refuse(&Type::Uint),
        }
    }

    #[allow(clippy::cast_precision_loss)] // that is what the conversion means
    fn to_double(&self) -> Converted<'a> {
        match self {
            Self::Double(_) => Ok(self.clone()),
            Self::Int(value) => Ok(Self::Double(*value as f64)),
            Self::Uint(value) => Ok(Self::Double(*value as f64)),
            Self::String(text) => {
                go_float(text).map_or_else(|| self.refuse(&Type::Double), |v| Ok(Self::Double(v)))
            }
            _ => self.refuse(&Type::Double),
        }
    }

    fn to_text(&self) -> Converted<'a> {
        Ok(match self {
            Self::String(_) => self.clone(),
            Self::Bool(truth) => Self::text(truth.to_string()),
            Self::Int(value) => Self::text(value.to_string()),
            Self::Uint(value) => Self::text(value.to_string()),
            Self::Double(value) => Self::text(number::general(*value)),
            Self::Bytes(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => Self::text(text),
                Err(_) => {
                    let message = "invalid UTF-8 in bytes, cannot convert to string";
                    return Err(EvalError::new(message));
                }
            },
            Self::Timestamp(moment) => Self::text(moment.to_string()),
            Self::Duration(nanos) => Self::text(show_duration(*nanos)),
            _ => return self.refuse(&Type::String),
        })
    }

    fn to_timestamp(&self) -> Converted<'a> {
        let overflow = || EvalError::new("timestamp overflow");
        match self {
            Self::Timestamp(_) => Ok(self.clone()),
            Self::Int(seconds) => Moment::new(*seconds, 0)
                .map(Self::Timestamp)
                .ok_or_else(overflow),
            Self::String(text) => match Moment::parse(text) {
                Some(moment) if moment.in_range() => Ok(Self::Timestamp(moment)),
                Some(_) => Err(overflow()),
                None => self.refuse(&Type::Timestamp),
            },
            _ => self.refuse(&Type::Timestamp),
        }
    }
}

/// Text that Go reads as an integer: no spaces, one sign at most.
fn go_integer(text: &str) -> Option<&str> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let shaped = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    shaped.then_some(text)
}

/// Text that Go reads as a float: decimal, or one of its words for what is no number.
fn go_float(text: &str) -> Option<f64> {
    let bare = text.strip_prefix(['+', '-']).unwrap_or(text);
    let value = match bare.to_ascii_lowercase().as_str() {
        "inf" | "infinity" => f64::INFINITY,
        "nan" => return (bare.len() == text.len()).then_some(f64::NAN),
        _ if bare.starts_with(|c: char| c.is_ascii_digit() || c == '.') => {
            let parsed = without_separators(bare)?.parse::<f64>().ok()?;
            parsed.is_finite().then_some(parsed)?
        }
        _ => return None,
    };
    Some(if text.starts_with('-') { -value } else { value })
}

/// Digits may have underscores between them.
fn without_separators(text: &str) -> Option<String> {
    let digit = |place: usize| text.as_bytes().get(place).is_some_and(u8::is_ascii_digit);
    let fine = text
        .match_indices('_')
        .all(|(place, _)| place > 0 && digit(place - 1) && digit(place + 1));
    fine.then(|| text.replace('_', ""))
}
