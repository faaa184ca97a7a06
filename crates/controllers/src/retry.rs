//! When to try again: later each time, and never all at the same moment.

use std::time::Duration;

use tokio::time::Instant;

/// How often something went wrong, and when it may be tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// How often in a row.
    pub failures: u32,
    /// Not before.
    pub until: Instant,
}

/// The first pause.
const FIRST: Duration = Duration::from_millis(100);
/// The longest pause.
const LONGEST: Duration = Duration::from_mins(5);

/// The pause after a number of failures in a row; `chance` is between 0 and 1.
pub fn pause(failures: u32, chance: f64) -> Duration {
    let doubled = FIRST.saturating_mul(1 << failures.saturating_sub(1).min(16));
    doubled.min(LONGEST).mul_f64(chance.mul_add(0.5, 0.5))
}

impl Backoff {
    /// After another failure. The server may ask for more time.
    pub fn after(before: Option<Self>, asked: Option<Duration>, now: Instant, chance: f64) -> Self {
        let failures = before.map_or(0, |backoff| backoff.failures) + 1;
        let pause = pause(failures, chance).max(asked.unwrap_or_default());
        Self {
            failures,
            until: now + pause,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_a_limit_and_differ_by_chance() {
        assert_eq!(pause(1, 1.0), FIRST);
        assert_eq!(pause(3, 1.0), FIRST * 4);
        assert_eq!(pause(3, 0.0), FIRST * 2);
        assert_eq!(pause(u32::MAX, 1.0), LONGEST);
    }

    #[test]
    fn a_server_that_asks_for_time_gets_it() {
        let now = Instant::now();
        let minute = Duration::from_mins(1);
        let first = Backoff::after(None, Some(minute), now, 0.5);
        assert_eq!(first.until, now + minute);
        let second = Backoff::after(Some(first), None, now, 0.5);
        assert_eq!(second.failures, 2);
        assert!(second.until < now + minute);
    }
}
