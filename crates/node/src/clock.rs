//! Time as everything here sees it: the seam of the rooms below, and how objects show it.

use std::time::Duration;

use jiff::Timestamp;
pub use quadrille_planes::clock::{Clock, Sleep, SystemClock};

/// A time as objects show it: UTC, whole seconds.
pub(crate) fn shown(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// A time so much later, or the last that there is.
pub(crate) fn after(time: Timestamp, duration: Duration) -> Timestamp {
    jiff::SignedDuration::try_from(duration)
        .ok()
        .and_then(|duration| time.checked_add(duration).ok())
        .unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_off_for_longer_than_there_is_time_is_not_due_at_once() {
        let now = Timestamp::UNIX_EPOCH;
        assert_eq!(after(now, Duration::from_secs(1)).as_second(), 1);
        assert_eq!(after(now, Duration::MAX), Timestamp::MAX);
        let rest = Timestamp::MAX.duration_since(now).unsigned_abs();
        assert_eq!(after(Timestamp::MAX, rest), Timestamp::MAX);
    }
}
