//! How many calls a plane gets at once.
//!
//! [`Limiter`] lets calls through in the order they came, as many at once as [`Pace`] finds good: the plane decides
//! by how it answers. It does not know who is important; who puts calls in does.

mod pace;

use std::{sync::Arc, time::Duration};

pub use pace::{Outcome, Pace};
use parking_lot::Mutex;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::Instant,
};

/// The longest pause that a plane may ask for.
const LONGEST_PAUSE: Duration = Duration::from_mins(1);

/// Lets calls through; clones are the same limiter.
#[derive(Clone, Debug)]
pub struct Limiter {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    slots: Arc<Semaphore>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    pace: Pace,
    /// How many slots there are, those to be taken away included.
    slots: usize,
    /// How many slots are to be taken away as soon as their calls end.
    owed: usize,
    paused_until: Option<Instant>,
}

impl Default for Limiter {
    fn default() -> Self {
        Self::new(Pace::default())
    }
}

impl Limiter {
    /// A limiter that starts at a pace.
    pub fn new(pace: Pace) -> Self {
        let slots = pace.limit();
        Self {
            inner: Arc::new(Inner {
                slots: Arc::new(Semaphore::new(slots)),
                state: Mutex::new(State {
                    pace,
                    slots,
                    owed: 0,
                    paused_until: None,
                }),
            }),
        }
    }

    /// Waits for a turn. Who drops the future gives up its place; who drops the permit without
    /// [`Permit::finish`] says nothing about the plane.
    pub async fn acquire(&self) -> Permit {
        let slot = Arc::clone(&self.inner.slots).acquire_owned().await;
        // The turn is ours: whoever comes later waits, even through a pause.
        loop {
            let paused_until = self.inner.state.lock().paused_until;
            match paused_until {
                Some(until) if until > Instant::now() => tokio::time::sleep_until(until).await,
                _ => break,
            }
        }
        Permit {
            is_last: self.inner.slots.available_permits() == 0,
            // The semaphore is never closed; without a slot the call goes uncounted.
            slot: slot.ok(),
            inner: Arc::clone(&self.inner),
        }
    }

    /// How many calls may go at once now.
    pub fn limit(&self) -> usize {
        self.inner.state.lock().pace.limit()
    }
}

/// A turn at the plane.
#[derive(Debug)]
pub struct Permit {
    inner: Arc<Inner>,
    slot: Option<OwnedSemaphorePermit>,
    is_last: bool,
}

impl Permit {
    /// Tells how the call went.
    pub fn finish(self, outcome: Outcome) {
        let mut state = self.inner.state.lock();
        state.pace = state.pace.next(outcome, self.is_last);
        if let Outcome::Throttled {
            retry_after: Some(pause),
        } = outcome
        {
            let until = Instant::now() + pause.min(LONGEST_PAUSE);
            state.paused_until = state.paused_until.max(Some(until));
        }
        state.resize(&self.inner.slots);
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut state = self.inner.state.lock();
        if let Some(slot) = self.slot.take()
            && state.owed > 0
        {
            slot.forget();
            state.owed -= 1;
            state.slots -= 1;
        }
    }
}

impl State {
    /// Brings the number of slots to what the pace says.
    fn resize(&mut self, semaphore: &Semaphore) {
        let (wanted, have) = (self.pace.limit(), self.slots - self.owed);
        if wanted > have {
            let mut more = wanted - have;
            let kept = more.min(self.owed);
            self.owed -= kept;
            more -= kept;
            self.slots += more;
            semaphore.add_permits(more);
        } else {
            let less = have - wanted;
            let taken = semaphore.forget_permits(less);
            self.slots -= taken;
            self.owed += less - taken;
        }
    }
}

#[cfg(test)]
mod tests;
