//! When to stop gathering requests and start the commit.
//!
//! Writers that were just answered come back at once, but not all at the same moment. Starting
//! with the first one would make the others wait for a commit that holds a single transaction, and
//! so double the number of syncs. So as many as last time are waited for, for a small part of the
//! time that a commit takes. A writer that is alone is never kept waiting.

use std::{
    sync::mpsc::Receiver,
    time::{Duration, Instant},
};

use crate::group::{Group, Request};

/// The wait is at most this part of the last commit.
const PART: u32 = 8;
const LONGEST: Duration = Duration::from_millis(1);

/// What the last commit tells about the next.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pace {
    expected: usize,
    patience: Duration,
}

impl Pace {
    /// The pace after a commit of so many transactions that took so long.
    pub(crate) fn after(transactions: usize, took: Duration) -> Self {
        Self {
            expected: transactions,
            patience: (took / PART).min(LONGEST),
        }
    }

    /// Takes what is queued, and what is about to be.
    pub(crate) fn gather(self, first: Request, requests: &Receiver<Request>) -> Group {
        let mut group = Group::default();
        group.add(first);
        let mut deadline = None;
        while !group.is_full() {
            if let Ok(next) = requests.try_recv() {
                group.add(next);
                continue;
            }
            if group.len() >= self.expected {
                break;
            }
            let deadline = *deadline.get_or_insert_with(|| Instant::now() + self.patience);
            let left = deadline.saturating_duration_since(Instant::now());
            match requests.recv_timeout(left) {
                Ok(next) => group.add(next),
                Err(_) => break,
            }
        }
        group
    }
}
