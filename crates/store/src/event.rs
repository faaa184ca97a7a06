//! One change, as watchers see it.

use std::{
    any::{Any, TypeId},
    sync::Arc,
};

use bytes::Bytes;
use parking_lot::Mutex;

use crate::Revision;

/// What happened to the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// It did not exist before.
    Created,
    /// It got another value.
    Updated,
    /// It is gone.
    Deleted,
}

/// One change. All watchers share the same `Arc<Event>`.
pub struct Event {
    /// The revision of the change.
    pub revision: Revision,
    /// What happened.
    pub change: Change,
    /// The key.
    pub key: Bytes,
    /// The new value; for a deletion the last one.
    pub value: Bytes,
    /// The value before the change; `None` for a creation.
    pub previous: Option<Bytes>,
    /// The revision at which the key was created.
    pub created: Revision,
    shared: Mutex<Vec<Shared>>,
}

struct Shared {
    slot: u64,
    kind: TypeId,
    made: Arc<dyn Any + Send + Sync>,
}

impl Event {
    pub(crate) fn new(
        revision: u64,
        change: Change,
        key: Bytes,
        value: Bytes,
        previous: Option<Bytes>,
        created: u64,
    ) -> Self {
        Self {
            revision: Revision(revision),
            change,
            key,
            value,
            previous,
            created: Revision(created),
            shared: Mutex::new(Vec::new()),
        }
    }

    /// Something derived from the event, made once and shared by all watchers: an encoded frame,
    /// a parsed object. `slot` tells apart different things of the same type.
    ///
    /// It is forgotten when the event is no longer fresh, and then made again on demand, so that
    /// history does not hold more than its own bytes.
    pub fn shared<T, F>(&self, slot: u64, derive: F) -> Arc<T>
    where
        T: Any + Send + Sync,
        F: FnOnce(&Self) -> T,
    {
        // Made under the lock on purpose: the other watchers want exactly this result.
        let mut shared = self.shared.lock();
        let kind = TypeId::of::<T>();
        let known = shared.iter().find(|s| s.slot == slot && s.kind == kind);
        if let Some(made) = known.and_then(|s| Arc::clone(&s.made).downcast::<T>().ok()) {
            return made;
        }
        let made = Arc::new(derive(self));
        shared.push(Shared {
            slot,
            kind,
            made: Arc::clone(&made) as Arc<dyn Any + Send + Sync>,
        });
        made
    }

    pub(crate) fn forget_shared(&self) {
        let stale = std::mem::take(&mut *self.shared.lock());
        drop(stale);
    }

    /// How much memory the event holds, roughly.
    pub(crate) fn size(&self) -> usize {
        let previous = self.previous.as_ref().map_or(0, Bytes::len);
        self.key.len() + self.value.len() + previous
    }
}

impl std::fmt::Debug for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Event")
            .field("revision", &self.revision)
            .field("change", &self.change)
            .field("key", &self.key)
            .field("value", &self.value)
            .field("previous", &self.previous)
            .finish_non_exhaustive()
    }
}
