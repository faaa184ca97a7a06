//! The most recent events, kept in memory for watchers that start or resume.

use std::{collections::VecDeque, sync::Arc};

use crate::Event;

/// A gapless run of events that ends with the newest, bounded by count and bytes.
pub(crate) struct Ring {
    events: VecDeque<Arc<Event>>,
    bytes: usize,
    max_events: usize,
    max_bytes: usize,
}

impl Ring {
    pub(crate) fn new(max_events: usize, max_bytes: usize) -> Self {
        Self {
            events: VecDeque::new(),
            bytes: 0,
            max_events,
            max_bytes,
        }
    }

    pub(crate) fn push(&mut self, event: &Arc<Event>) {
        self.bytes += event.size();
        self.events.push_back(Arc::clone(event));
        while self.events.len() > self.max_events || self.bytes > self.max_bytes {
            let Some(oldest) = self.events.pop_front() else {
                break;
            };
            self.bytes -= oldest.size();
        }
    }

    /// The events after a revision; `None` if some of them are no longer here.
    pub(crate) fn after(&self, revision: u64) -> Option<impl Iterator<Item = &Arc<Event>>> {
        let first = self.events.front()?.revision.0;
        let skip = usize::try_from((revision + 1).checked_sub(first)?).ok()?;
        Some(self.events.range(skip.min(self.events.len())..))
    }
}
