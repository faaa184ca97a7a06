//! How long to wait, as people say it: `90`, `90s`, `5m`, `1h30m`.

use std::time::Duration;

use jiff::SignedDuration;

/// Reads a time; a number alone is seconds.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    if let Ok(seconds) = text.parse() {
        return Ok(Duration::from_secs(seconds));
    }
    let read: Option<SignedDuration> = text.parse().ok();
    read.and_then(|read| Duration::try_from(read).ok())
        .ok_or_else(|| "write seconds, or a time such as 90s, 5m or 1h30m".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_write_them() {
        for (text, seconds) in [
            ("90", 90),
            ("90s", 90),
            ("5m", 300),
            ("1h30m", 5400),
            ("0", 0),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "soon", "-5s", "5 bananas"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
