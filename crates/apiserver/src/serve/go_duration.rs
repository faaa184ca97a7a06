//! Durations as Go writes them (`1m30s`, `1.5h`, `300ms`, `0`), with the words of Go when they are none.

use std::time::Duration;

/// Why a text is no duration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum DurationError {
    /// Not even the beginning of one.
    #[error("time: invalid duration {0:?}")]
    Invalid(String),
    /// A number stands alone.
    #[error("time: missing unit in duration {0:?}")]
    NoUnit(String),
    /// A unit that nobody knows.
    #[error("time: unknown unit {unit:?} in duration {text:?}")]
    Unit {
        /// The unit.
        unit: String,
        /// The whole text.
        text: String,
    },
}

/// Reads a duration; `None` for a negative one.
pub(super) fn parse(text: &str) -> Result<Option<Duration>, DurationError> {
    let invalid = || DurationError::Invalid(text.to_owned());
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    let negative = text.starts_with('-');
    let mut rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    if rest == "0" {
        return Ok(Some(Duration::ZERO));
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut seconds = 0.0_f64;
    while !rest.is_empty() {
        let end = rest.find(|c| !is_number(c)).unwrap_or(rest.len());
        let number: f64 = rest[..end].parse().map_err(|_| invalid())?;
        rest = &rest[end..];
        let end = rest.find(is_number).unwrap_or(rest.len());
        seconds += number
            * match &rest[..end] {
                "h" => 3600.0,
                "m" => 60.0,
                "s" => 1.0,
                "ms" => 1e-3,
                "us" | "µs" | "μs" => 1e-6,
                "ns" => 1e-9,
                "" => return Err(DurationError::NoUnit(text.to_owned())),
                unit => {
                    return Err(DurationError::Unit {
                        unit: unit.to_owned(),
                        text: text.to_owned(),
                    });
                }
            };
        rest = &rest[end..];
    }
    let duration = Duration::try_from_secs_f64(seconds).map_err(|_| invalid())?;
    Ok((!negative).then_some(duration))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_go_writes_them() {
        for (text, milliseconds) in [
            ("1m30s", 90_000),
            ("1.5h", 5_400_000),
            ("300ms", 300),
            ("+2s", 2000),
            ("0", 0),
        ] {
            let wanted = Duration::from_millis(milliseconds);
            assert_eq!(parse(text), Ok(Some(wanted)), "{text}");
        }
        assert_eq!(parse("-5s"), Ok(None));
    }

    #[test]
    fn what_is_no_duration_is_refused_in_the_words_of_go() {
        for (text, words) in [
            ("soon", r#"time: invalid duration "soon""#),
            ("", r#"time: invalid duration """#),
            ("5", r#"time: missing unit in duration "5""#),
            ("1s2", r#"time: missing unit in duration "1s2""#),
            ("1x", r#"time: unknown unit "x" in duration "1x""#),
            ("9e99h", r#"time: unknown unit "e" in duration "9e99h""#),
        ] {
            assert_eq!(parse(text).unwrap_err().to_string(), words);
        }
    }
}
