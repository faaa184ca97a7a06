//! How long ago something was, as people say it.

use jiff::Timestamp;

/// The time since a moment that a server wrote; nothing where it is none.
pub(crate) fn since(moment: &str) -> Option<String> {
    let moment: Timestamp = moment.parse().ok()?;
    let seconds = Timestamp::now().duration_since(moment).as_secs().max(0);
    Some(said(seconds))
}

fn said(seconds: i64) -> String {
    let (minute, hour, day) = (60, 3600, 86400);
    match seconds {
        ..120 => format!("{seconds}s"),
        120..600 if seconds % minute != 0 => {
            format!("{}m{}s", seconds / minute, seconds % minute)
        }
        120..7200 => format!("{}m", seconds / minute),
        7200..28800 if seconds % hour >= minute => {
            format!("{}h{}m", seconds / hour, seconds % hour / minute)
        }
        7200..172_800 => format!("{}h", seconds / hour),
        _ => format!("{}d", seconds / day),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_short() {
        for (seconds, words) in [
            (5, "5s"),
            (119, "119s"),
            (125, "2m5s"),
            (900, "15m"),
            (7260, "2h1m"),
            (100_000, "27h"),
            (300_000, "3d"),
        ] {
            assert_eq!(said(seconds), words);
        }
    }
}
