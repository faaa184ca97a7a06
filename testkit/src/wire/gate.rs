//! A gate that holds calls until a test opens it: a delay without a clock.

use tokio::sync::watch;

/// Closed when made; opened once, for good. Clones are the same gate.
#[derive(Debug, Clone)]
pub struct Gate {
    is_open: watch::Sender<bool>,
    waiting: watch::Sender<usize>,
}

impl Default for Gate {
    fn default() -> Self {
        Self::closed()
    }
}

impl Gate {
    /// A closed gate.
    pub fn closed() -> Self {
        Self {
            is_open: watch::Sender::new(false),
            waiting: watch::Sender::new(0),
        }
    }

    /// Lets all through who wait, and all who come.
    pub fn open(&self) {
        self.is_open.send_replace(true);
    }

    /// Waits until that many calls have reached the gate since it was made.
    pub async fn reached_by(&self, count: usize) {
        // The sender lives as long as `self`.
        let _ = self
            .waiting
            .subscribe()
            .wait_for(|waiting| *waiting >= count)
            .await;
    }

    pub(super) async fn pass(&self) {
        self.waiting.send_modify(|waiting| *waiting += 1);
        let _ = self.is_open.subscribe().wait_for(|is_open| *is_open).await;
    }
}
