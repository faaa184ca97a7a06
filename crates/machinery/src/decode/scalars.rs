//! Scalars that the server rewrites when it reads them: numbers, times and bytes.

use base64::{
    Engine,
    alphabet::STANDARD,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use jiff::{Timestamp, civil::DateTime, tz::Offset};
use serde_json::{Number, Value};

use super::DecodeError;

const RFC_3339: &str = "2006-01-02T15:04:05Z07:00";
const RFC_3339_MICRO: &str = "2006-01-02T15:04:05.000000Z07:00";
/// Whole numbers up to here are exact as floats.
const EXACT_FLOAT: f64 = 9_007_199_254_740_992.0;

/// A number without a type: 64-bit integer when it can be, else a float. Floats without a fraction become
/// integers, since that is how they look once a server has written them.
pub(super) fn number(text: &str) -> Result<Value, DecodeError> {
    if let (false, Ok(whole)) = (text.contains('.'), text.parse::<i64>()) {
        return Ok(Value::from(whole));
    }
    let float: f64 = text.parse().unwrap_or(f64::INFINITY);
    if !float.is_finite() {
        return Err(DecodeError(format!(
            "json: cannot unmarshal number {text} into Go value of type float64"
        )));
    }
    if float.fract() == 0.0 && float.abs() <= EXACT_FLOAT {
        #[expect(clippy::cast_possible_truncation, reason = "whole and within 2^53")]
        return Ok(Value::from(float as i64));
    }
    Ok(Number::from_f64(float).map_or(Value::Null, Value::Number))
}

/// Base64 as Go reads it (line breaks are skipped), written back plainly.
pub(super) fn bytes(text: &str) -> Result<String, DecodeError> {
    let engine = GeneralPurpose::new(
        &STANDARD,
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::RequireCanonical),
    );
    let plain: String = text
        .chars()
        .filter(|letter| !matches!(letter, '\r' | '\n'))
        .collect();
    match engine.decode(&plain) {
        Ok(raw) => Ok(engine.encode(raw)),
        Err(error) => {
            let at = match error {
                base64::DecodeError::InvalidByte(at, _)
                | base64::DecodeError::InvalidLastSymbol(at, _) => at,
                // Go names the start of a group of four that is cut short, or the missing second sign.
                _ if plain.contains('=') => plain.len(),
                _ => plain.len() / 4 * 4,
            };
            Err(DecodeError(format!(
                "illegal base64 data at input byte {at}"
            )))
        }
    }
}

/// A point in time in the form in which servers write it: UTC, whole seconds (or six digits).
pub(super) fn time(text: &str, micro: bool) -> Result<String, DecodeError> {
    let layout = if micro { RFC_3339_MICRO } else { RFC_3339 };
    let stamp = parse_time(text, micro).map_err(|problem| {
        // An element that cannot be read is explained by the layout; one out of range is not.
        let layout = if problem.starts_with("cannot") {
            format!(" as {layout:?}")
        } else {
            String::new()
        };
        DecodeError(format!("parsing time {text:?}{layout}: {problem}"))
    })?;
    let format = if micro {
        "%Y-%m-%dT%H:%M:%S.%6fZ"
    } else {
        "%Y-%m-%dT%H:%M:%SZ"
    };
    Ok(stamp.strftime(format).to_string())
}

/// Walks through the text element by element, so that the complaint can name the element that fails.
struct TimeText<'a> {
    rest: &'a str,
}

impl TimeText<'_> {
    fn digits(&mut self, count: usize, element: &str) -> Result<i64, String> {
        let head = self
            .rest
            .get(..count)
            .filter(|head| head.bytes().all(|b| b.is_ascii_digit()));
        let Some(head) = head else {
            return Err(format!("cannot parse {:?} as {element:?}", self.rest));
        };
        self.rest = &self.rest[count..];
        Ok(head.parse().unwrap_or(0))
    }

    fn literal(&mut self, mark: &str) -> Result<(), String> {
        match self.rest.strip_prefix(mark) {
            Some(rest) => {
                self.rest = rest;
                Ok(())
            }
            None => Err(format!("cannot parse {:?} as {mark:?}", self.rest)),
        }
    }

    /// Nanoseconds after the decimal point, if there is one.
    fn fraction(&mut self) -> i64 {
        let Some(rest) = self.rest.strip_prefix('.') else {
            return 0;
        };
        let end = rest.find(|letter: char| !letter.is_ascii_digit());
        let digits = &rest[..end.unwrap_or(rest.len())];
        if digits.is_empty() {
            return 0;
        }
        self.rest = &rest[digits.len()..];
        let padded: String = digits.chars().chain("000000000".chars()).take(9).collect();
        padded.parse().unwrap_or(0)
    }

    /// Nanoseconds given by exactly six digits.
    fn six_digits(&mut self) -> Result<i64, String> {
        let head = self.rest.get(..7);
        let digits = head.and_then(|head| head.strip_prefix('.'));
        let digits = digits.filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()));
        let Some(digits) = digits else {
            return Err(format!("cannot parse {:?} as \".000000\"", self.rest));
        };
        self.rest = &self.rest[7..];
        Ok(digits.parse::<i64>().unwrap_or(0) * 1000)
    }

    fn offset(&mut self) -> Result<i64, String> {
        if let Some(rest) = self.rest.strip_prefix('Z') {
            self.rest = rest;
            return Ok(0);
        }
        let failed = format!("cannot parse {:?} as \"Z07:00\"", self.rest);
        let bytes = self.rest.as_bytes();
        let sign = match bytes.first() {
            Some(b'+') => 1,
            Some(b'-') => -1,
            _ => return Err(failed),
        };
        let number = |at: usize| -> Option<i64> {
            let digits = self.rest.get(at..at + 2)?;
            digits.bytes().all(|b| b.is_ascii_digit()).then_some(())?;
            digits.parse().ok()
        };
        let (Some(hours), Some(minutes), Some(b':')) = (number(1), number(4), bytes.get(3)) else {
            return Err(failed);
        };
        self.rest = &self.rest[6..];
        if hours > 24 || minutes > 59 {
            return Err("time zone offset hour out of range".to_owned());
        }
        Ok(sign * (hours * 60 + minutes))
    }
}

fn parse_time(text: &str, micro: bool) -> Result<Timestamp, String> {
    let mut cursor = TimeText { rest: text };
    let year = cursor.digits(4, "2006")?;
    cursor.literal("-")?;
    let month = cursor.digits(2, "01")?;
    cursor.literal("-")?;
    let day = cursor.digits(2, "02")?;
    cursor.literal("T")?;
    let hour = cursor.digits(2, "15")?;
    cursor.literal(":")?;
    let minute = cursor.digits(2, "04")?;
    cursor.literal(":")?;
    let second = cursor.digits(2, "05")?;
    let nanos = if micro {
        cursor.six_digits()?
    } else {
        cursor.fraction()
    };
    for (value, from, to, name) in [
        (month, 1, 12, "month"),
        (hour, 0, 23, "hour"),
        (minute, 0, 59, "minute"),
        (second, 0, 59, "second"),
    ] {
        if !(from..=to).contains(&value) {
            return Err(format!("{name} out of range"));
        }
    }
    let offset = cursor.offset()?;
    if !cursor.rest.is_empty() {
        return Err(format!("extra text: {:?}", cursor.rest));
    }
    let small = |value: i64| i8::try_from(value).unwrap_or(0);
    let civil = DateTime::new(
        i16::try_from(year).unwrap_or(0),
        small(month),
        small(day),
        small(hour),
        small(minute),
        small(second),
        i32::try_from(nanos).unwrap_or(0),
    )
    .map_err(|_| "day out of range".to_owned())?;
    let seconds = i32::try_from(offset * 60).unwrap_or(0);
    Offset::from_seconds(seconds)
        .and_then(|offset| offset.to_timestamp(civil))
        .map_err(|_| "time out of range".to_owned())
}
