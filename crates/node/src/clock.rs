//! Time as everything here sees it: the seam of the rooms below, and how objects show it.

use std::time::Duration;

use jiff::Timestamp;
pub use quadrille_planes::clock::{Clock, Sleep, SystemClock};

/// A time as objects show it: UTC, whole seconds.
pub(crate) fn shown(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// A time so much later, or the same if there is none.
pub(crate) fn after(time: Timestamp, duration: Duration) -> Timestamp {
    jiff::SignedDuration::try_from(duration)
        .ok()
        .and_then(|duration| time.checked_add(duration).ok())
        .unwrap_or(time)
}
