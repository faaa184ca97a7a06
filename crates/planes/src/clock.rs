//! Time as those who wait for a moment see it: a seam, so that a test can make it Monday.

use std::{fmt, pin::Pin, time::Duration};

use jiff::Timestamp;

/// A wait that a clock gives.
pub type Sleep<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// A clock that can be waited on.
pub trait Clock: Send + Sync + fmt::Debug {
    /// Now.
    fn now(&self) -> Timestamp;
    /// Waits until that time; not at all if it is past.
    fn sleep_until(&self, time: Timestamp) -> Sleep<'_>;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

/// The machine's clock may be set, and stands still for waits while the machine sleeps: so it is looked at again.
const LONGEST: Duration = Duration::from_mins(10);

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn sleep_until(&self, time: Timestamp) -> Sleep<'_> {
        Box::pin(async move {
            loop {
                let left = Duration::try_from(time.duration_since(self.now())).unwrap_or_default();
                tokio::time::sleep(left.min(LONGEST)).await;
                if left <= LONGEST {
                    return;
                }
            }
        })
    }
}
