//! The meeting point of writer, readers and watchers: what is durable becomes visible here.

use std::sync::Arc;

use bytes::Bytes;
use parking_lot::{Mutex, RwLock};

use crate::{
    Event, Options, ReadError, Revision, engine, ring::Ring, snapshot::Snapshot,
    subscriber::Subscriber,
};

/// Shared by the writer thread, all handles of the store and all watches.
pub(crate) struct Hub {
    /// `None` once the store is closed. Locked only to swap or clone the pointer.
    snapshot: RwLock<Option<Arc<Snapshot>>>,
    state: Mutex<State>,
    /// Held by the writer while it reopens the data file after a failure.
    reopening: Mutex<()>,
    watcher_buffer_events: usize,
    watcher_buffer_bytes: usize,
}

struct State {
    /// The newest revision that watchers have been offered.
    published: u64,
    closed: bool,
    ring: Ring,
    live: Vec<Arc<Subscriber>>,
}

/// What a watcher that is behind finds in memory.
pub(crate) enum CatchUp {
    /// Some events, and up to where history was looked at.
    Recent(Vec<Arc<Event>>, u64),
    /// There is nothing more: from now on events are queued.
    Live(Arc<Subscriber>),
    /// The next events are only on disk.
    OnDisk,
    /// The store is closed.
    Closed,
}

impl Hub {
    pub(crate) fn new(snapshot: Snapshot, options: &Options) -> Self {
        Self {
            state: Mutex::new(State {
                published: snapshot.revision,
                closed: false,
                ring: Ring::new(options.history_events, options.history_bytes),
                live: Vec::new(),
            }),
            snapshot: RwLock::new(Some(Arc::new(snapshot))),
            reopening: Mutex::new(()),
            watcher_buffer_events: options.watcher_buffer_events,
            watcher_buffer_bytes: options.watcher_buffer_bytes,
        }
    }

    /// Makes a durable batch visible, to everybody and in order. Without a snapshot readers keep
    /// the one they have.
    pub(crate) fn publish(&self, snapshot: Option<Snapshot>, revision: u64, events: &[Arc<Event>]) {
        let mut wakers = Vec::new();
        let mut state = self.state.lock();
        state.published = revision;
        let old = snapshot.and_then(|new| self.snapshot.write().replace(Arc::new(new)));
        for event in events {
            state.ring.push(event);
        }
        if !events.is_empty() {
            wakers.extend(state.live.iter().filter_map(|live| live.offer(events)));
        }
        drop(state);
        drop(old);
        wakers.into_iter().for_each(std::task::Waker::wake);
    }

    /// Puts another view of the same state in place.
    pub(crate) fn replace_snapshot(&self, snapshot: Snapshot) {
        let old = self.snapshot.write().replace(Arc::new(snapshot));
        drop(old);
    }

    /// Ends all watches and all reading.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        let live = std::mem::take(&mut state.live);
        let old = self.snapshot.write().take();
        drop(state);
        drop(old);
        live.iter()
            .filter_map(|subscriber| subscriber.close())
            .for_each(std::task::Waker::wake);
    }

    /// The newest visible state.
    pub(crate) fn snapshot(&self) -> Result<Arc<Snapshot>, ReadError> {
        self.snapshot.read().clone().ok_or(ReadError::Closed)
    }

    /// Reads from the newest visible state, once more if the data file was being reopened.
    pub(crate) fn read<T>(
        &self,
        read: impl Fn(&Snapshot) -> Result<T, ReadError>,
    ) -> Result<T, ReadError> {
        let attempt = || {
            let snapshot = self.snapshot()?;
            engine::without_panic(|| read(&snapshot))?
        };
        match attempt() {
            Err(ReadError::Io(fault)) if fault.is_stale_handle() => {
                drop(self.reopening.lock());
                attempt()
            }
            answer => answer,
        }
    }

    /// Keeps readers with a dead handle waiting until the guard is dropped.
    pub(crate) fn reopening(&self) -> parking_lot::MutexGuard<'_, ()> {
        self.reopening.lock()
    }

    /// The newest revision that watchers have been offered.
    pub(crate) fn published(&self) -> u64 {
        self.state.lock().published
    }

    /// The next step of a watcher that has seen everything up to `after`.
    pub(crate) fn catch_up(&self, prefix: &Bytes, after: u64, at_most: usize) -> CatchUp {
        let mut state = self.state.lock();
        if state.closed {
            return CatchUp::Closed;
        }
        if after >= state.published {
            let subscriber = Arc::new(Subscriber::new(
                prefix.clone(),
                self.watcher_buffer_events,
                self.watcher_buffer_bytes,
            ));
            state.live.push(Arc::clone(&subscriber));
            return CatchUp::Live(subscriber);
        }
        let Some(recent) = state.ring.after(after) else {
            return CatchUp::OnDisk;
        };
        let mut through = after;
        let mut events = Vec::new();
        for event in recent {
            if event.key.starts_with(prefix) {
                if events.len() == at_most {
                    break;
                }
                events.push(Arc::clone(event));
            }
            through = event.revision.0;
        }
        CatchUp::Recent(events, through)
    }

    /// Up to where a live watcher has been given everything.
    pub(crate) fn progress(&self, subscriber: &Subscriber) -> Option<Revision> {
        // Both locks, so that nothing is published in between.
        let state = self.state.lock();
        let queue = subscriber.queue.lock();
        match (queue.first_undelivered(), queue.end()) {
            (Some(first), _) => Some(Revision(first - 1)),
            (None, None) => Some(Revision(state.published)),
            (None, Some(_)) => None,
        }
    }

    pub(crate) fn unsubscribe(&self, subscriber: &Arc<Subscriber>) {
        let mut state = self.state.lock();
        if let Some(index) = state.live.iter().position(|s| Arc::ptr_eq(s, subscriber)) {
            state.live.swap_remove(index);
        }
    }
}
