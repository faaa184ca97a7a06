//! Durations as Go writes them: `1h30m`, `10s`, `1.5s`, `250ms`.

use std::time::Duration;

/// Schema pattern of such a duration, as the kinds have always had it.
pub const PATTERN: &str = r"^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$";

/// Reads a duration. `None` where the text is not one or is too large to mean anything.
pub fn parse(text: &str) -> Option<Duration> {
    let mut rest = text;
    let mut total = Duration::ZERO;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let number_end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, tail) = rest.split_at(number_end);
        let unit_end = tail
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(unit_end);
        let seconds_per_unit = match unit {
            "ms" => 0.001,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return None,
        };
        if number.starts_with('.') || number.ends_with('.') {
            return None;
        }
        let seconds = number.parse::<f64>().ok()? * seconds_per_unit;
        total = total.checked_add(Duration::try_from_secs_f64(seconds).ok()?)?;
        rest = tail;
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_add_up() {
        assert_eq!(parse("1h30m"), Some(Duration::from_mins(90)));
        assert_eq!(parse("1.5s"), Some(Duration::from_millis(1500)));
        assert_eq!(parse("250ms"), Some(Duration::from_millis(250)));
        assert_eq!(parse("0s"), Some(Duration::ZERO));
    }

    #[test]
    fn what_is_no_duration_is_refused() {
        for text in [
            "",
            "5",
            "s",
            "1d",
            "1.s",
            ".5s",
            "1..5s",
            "1s ",
            "-1s",
            "99999999999999999999999h",
        ] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }
}
