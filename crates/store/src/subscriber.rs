//! The publisher's side of a live watch: a bounded queue that is never waited for.

use std::{collections::VecDeque, sync::Arc, task::Waker};

use bytes::Bytes;
use parking_lot::Mutex;

use crate::{Event, Revision, WatchEnd};

/// A live watcher.
pub(crate) struct Subscriber {
    prefix: Bytes,
    max_events: usize,
    max_bytes: usize,
    pub(crate) queue: Mutex<Queue>,
}

/// What a watcher has not taken yet.
#[derive(Default)]
pub(crate) struct Queue {
    events: VecDeque<Arc<Event>>,
    bytes: usize,
    end: Option<WatchEnd>,
    waker: Option<Waker>,
}

impl Subscriber {
    pub(crate) fn new(prefix: Bytes, max_events: usize, max_bytes: usize) -> Self {
        Self {
            prefix,
            max_events,
            max_bytes,
            queue: Mutex::default(),
        }
    }

    /// Hands over the events that match; a queue that grows too long ends the watch.
    /// Returns whom to wake.
    pub(crate) fn offer(&self, events: &[Arc<Event>]) -> Option<Waker> {
        let mut matching = events
            .iter()
            .filter(|event| event.key.starts_with(&self.prefix))
            .peekable();
        matching.peek()?;
        let mut queue = self.queue.lock();
        if queue.end.is_some() {
            return None;
        }
        for event in matching {
            queue.bytes += event.size();
            queue.events.push_back(Arc::clone(event));
        }
        // One event must always fit, however large.
        let too_much = queue.bytes > self.max_bytes && queue.events.len() > 1;
        if queue.events.len() > self.max_events || too_much {
            let resume_after = Revision(queue.first_undelivered().map_or(0, |first| first - 1));
            return queue.finish(WatchEnd::TooSlow { resume_after });
        }
        queue.waker.take()
    }

    /// Ends the watch after what is queued. Returns whom to wake.
    pub(crate) fn close(&self) -> Option<Waker> {
        let mut queue = self.queue.lock();
        queue.end.get_or_insert(WatchEnd::Closed);
        queue.waker.take()
    }
}

impl Queue {
    /// The next event, or why there are no more; otherwise remembers whom to wake.
    pub(crate) fn take(&mut self, waker: Option<&Waker>) -> Option<Result<Arc<Event>, WatchEnd>> {
        if let Some(event) = self.events.pop_front() {
            self.bytes -= event.size();
            return Some(Ok(event));
        }
        if let Some(end) = self.end {
            return Some(Err(end));
        }
        if let Some(waker) = waker {
            match &mut self.waker {
                Some(known) => known.clone_from(waker),
                None => self.waker = Some(waker.clone()),
            }
        }
        None
    }

    /// The revision of the first event that waits to be taken.
    pub(crate) fn first_undelivered(&self) -> Option<u64> {
        self.events.front().map(|event| event.revision.0)
    }

    pub(crate) fn end(&self) -> Option<WatchEnd> {
        self.end
    }

    /// Gives the memory back at once: the watcher resumes by revision.
    fn finish(&mut self, end: WatchEnd) -> Option<Waker> {
        self.events = VecDeque::new();
        self.bytes = 0;
        self.end = Some(end);
        self.waker.take()
    }
}
