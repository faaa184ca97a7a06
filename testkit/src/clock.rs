//! A clock that moves only when told, for code that takes its clock as an argument.

use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::watch;

/// A clock in a test's hand. Clones show the same time.
#[derive(Debug, Clone)]
pub struct ManualClock {
    start: Timestamp,
    elapsed: watch::Sender<Duration>,
}

impl ManualClock {
    /// A clock that stands at `start`.
    pub fn at(start: Timestamp) -> Self {
        Self {
            start,
            elapsed: watch::Sender::new(Duration::ZERO),
        }
    }

    /// The time of day.
    pub fn now(&self) -> Timestamp {
        let elapsed = jiff::SignedDuration::try_from(self.elapsed()).expect("tests are short");
        self.start.checked_add(elapsed).expect("tests are short")
    }

    /// Monotonic time since the clock was made.
    pub fn elapsed(&self) -> Duration {
        *self.elapsed.borrow()
    }

    /// Moves on and wakes those whose sleep is over.
    pub fn advance(&self, by: Duration) {
        self.elapsed.send_modify(|elapsed| *elapsed += by);
    }

    /// Waits until the clock was moved on to that time.
    pub async fn sleep_until(&self, time: Timestamp) {
        let mut elapsed = self.elapsed.subscribe();
        let end = Duration::try_from(time.duration_since(self.start)).unwrap_or_default();
        // The sender lives as long as `self`.
        let _ = elapsed.wait_for(|now| *now >= end).await;
    }

    /// How many sleeps are pending: a test can wait for one before it moves the clock.
    pub fn sleepers(&self) -> usize {
        self.elapsed.receiver_count()
    }
}

impl quadrille_apiserver::clock::Clock for ManualClock {
    fn now(&self) -> Timestamp {
        ManualClock::now(self)
    }
}

impl quadrille_node::Clock for ManualClock {
    fn now(&self) -> Timestamp {
        ManualClock::now(self)
    }

    fn sleep_until(&self, time: Timestamp) -> quadrille_node::clock::Sleep<'_> {
        Box::pin(ManualClock::sleep_until(self, time))
    }
}

impl Default for ManualClock {
    /// Noon on the first of January 2030: no time that anybody could mistake for the real one.
    fn default() -> Self {
        Self::at(Timestamp::from_second(1_893_499_200).expect("a valid time"))
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn a_sleeper_wakes_when_the_clock_has_moved_far_enough() {
        let clock = ManualClock::default();
        let end = clock.now() + jiff::SignedDuration::from_mins(1);
        let mut sleep = Box::pin(clock.sleep_until(end));
        assert!(sleep.as_mut().now_or_never().is_none());
        assert_eq!(clock.sleepers(), 1);
        clock.advance(Duration::from_secs(59));
        assert!(sleep.as_mut().now_or_never().is_none());
        clock.advance(Duration::from_secs(1));
        assert!(sleep.as_mut().now_or_never().is_some());
    }

    #[test]
    fn clones_show_the_same_time() {
        let clock = ManualClock::default();
        assert_eq!(clock.now().to_string(), "2030-01-01T12:00:00Z");
        clock.clone().advance(Duration::from_hours(1));
        assert_eq!(clock.now().to_string(), "2030-01-01T13:00:00Z");
        assert_eq!(clock.elapsed(), Duration::from_hours(1));
    }
}
