//! The reader's side of a watch: first history, then live events, without a gap.

use std::{
    collections::VecDeque,
    future::poll_fn,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use bytes::Bytes;

use crate::{
    Event, Revision, WatchEnd,
    hub::{CatchUp, Hub},
    replay::{self, Replayed},
    subscriber::Subscriber,
};

/// How many events are taken from history in one step.
const STEP: usize = 256;

/// The changes under a prefix, in order, each exactly once.
///
/// Dropping it ends the watch.
pub struct Watch {
    hub: Arc<Hub>,
    prefix: Bytes,
    /// Events from history that are ready to be given out.
    ready: VecDeque<Arc<Event>>,
    phase: Phase,
}

enum Phase {
    /// Everything up to this revision is in `ready` or was given out.
    Behind(u64),
    Live(Arc<Subscriber>),
    Ended(WatchEnd),
}

enum Step {
    Event(Arc<Event>),
    /// Nothing to give out now; the waker is remembered.
    Idle,
    /// There is more history to look at.
    Again,
}

impl Watch {
    pub(crate) fn new(hub: Arc<Hub>, prefix: Bytes, after: u64) -> Self {
        Self {
            hub,
            prefix,
            ready: VecDeque::new(),
            phase: Phase::Behind(after),
        }
    }

    /// Waits for the next event. Once it gave an end it gives the same end again.
    ///
    /// Nothing is lost when the future is dropped before it is ready.
    pub async fn next(&mut self) -> Result<Arc<Event>, WatchEnd> {
        poll_fn(|context| self.poll_next(context)).await
    }

    /// Like [`Watch::next`], for use inside other futures and streams.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Result<Arc<Event>, WatchEnd>> {
        match self.step(Some(context.waker())) {
            Ok(Step::Event(event)) => Poll::Ready(Ok(event)),
            Ok(Step::Idle) => Poll::Pending,
            Ok(Step::Again) => {
                // A long history without a match must not keep the thread for itself.
                context.waker().wake_by_ref();
                Poll::Pending
            }
            Err(end) => Poll::Ready(Err(end)),
        }
    }

    /// The next event if there is one already.
    pub fn try_next(&mut self) -> Result<Option<Arc<Event>>, WatchEnd> {
        loop {
            match self.step(None)? {
                Step::Event(event) => return Ok(Some(event)),
                Step::Idle => return Ok(None),
                Step::Again => {}
            }
        }
    }

    /// The revision up to which every matching event has been given out. It moves on with the
    /// store even if nothing matches.
    pub fn progress(&self) -> Revision {
        if let Some(first) = self.ready.front() {
            return Revision(first.revision.0 - 1);
        }
        match &self.phase {
            Phase::Behind(seen) => Revision(*seen),
            Phase::Live(subscriber) => self
                .hub
                .progress(subscriber)
                .unwrap_or_else(|| ended_at(subscriber.queue.lock().end())),
            Phase::Ended(end) => ended_at(Some(*end)),
        }
    }

    fn step(&mut self, waker: Option<&Waker>) -> Result<Step, WatchEnd> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Step::Event(event));
            }
            let seen = match &self.phase {
                Phase::Behind(seen) => *seen,
                Phase::Live(subscriber) => {
                    return match subscriber.queue.lock().take(waker) {
                        Some(Ok(event)) => Ok(Step::Event(event)),
                        Some(Err(end)) => Err(end),
                        None => Ok(Step::Idle),
                    };
                }
                Phase::Ended(end) => return Err(*end),
            };
            match self.hub.catch_up(&self.prefix, seen, STEP) {
                CatchUp::Live(subscriber) => self.phase = Phase::Live(subscriber),
                CatchUp::Closed => self.phase = Phase::Ended(WatchEnd::Closed),
                CatchUp::Recent(events, through) => {
                    self.ready.extend(events);
                    self.phase = Phase::Behind(through);
                }
                CatchUp::OnDisk => match replay::read(&self.hub, &self.prefix, seen) {
                    Replayed::Events(events, through) => {
                        self.ready.extend(events);
                        self.phase = Phase::Behind(through);
                        if self.ready.is_empty() {
                            return Ok(Step::Again);
                        }
                    }
                    Replayed::Ended(end) => self.phase = Phase::Ended(end),
                },
            }
        }
    }
}

/// Where an ended watch can say it got to.
fn ended_at(end: Option<WatchEnd>) -> Revision {
    match end {
        Some(WatchEnd::TooSlow { resume_after } | WatchEnd::Failed { resume_after }) => {
            resume_after
        }
        _ => Revision::ZERO,
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Phase::Live(subscriber) = &self.phase {
            self.hub.unsubscribe(subscriber);
        }
    }
}

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch")
            .field("prefix", &self.prefix)
            .field("progress", &self.progress())
            .finish_non_exhaustive()
    }
}
