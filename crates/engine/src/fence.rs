//! Who may write: whoever holds the lease, as long as it is sure to outlive what it sends.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;

/// Says whether a write may still be sent. Clones are the same fence.
#[derive(Clone, Debug)]
pub struct Fence(Arc<Mutex<Held>>);

#[derive(Debug)]
enum Held {
    ForEver,
    Until(Instant),
    Lost,
}

impl Fence {
    /// For a process that is known to be the only writer.
    pub fn open() -> Self {
        Self(Arc::new(Mutex::new(Held::ForEver)))
    }

    /// Nothing may be written until a lease is held.
    pub fn closed() -> Self {
        Self(Arc::new(Mutex::new(Held::Lost)))
    }

    /// The lease is held until then.
    pub fn extend(&self, until: Instant) {
        *self.0.lock() = Held::Until(until);
    }

    /// The lease is lost, or given up.
    pub fn close(&self) {
        *self.0.lock() = Held::Lost;
    }

    /// Whether a request that ends within `deadline` may be sent now.
    pub fn allows(&self, deadline: Duration) -> bool {
        match *self.0.lock() {
            Held::ForEver => true,
            Held::Until(until) => Instant::now() + deadline < until,
            Held::Lost => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_must_end_before_the_lease_does() {
        let fence = Fence::closed();
        let second = Duration::from_secs(1);
        assert!(!fence.allows(second));
        fence.extend(Instant::now() + 10 * second);
        assert!(fence.allows(second));
        assert!(!fence.allows(11 * second));
        fence.close();
        assert!(!fence.allows(Duration::ZERO));
        assert!(Fence::open().allows(Duration::MAX));
    }
}
