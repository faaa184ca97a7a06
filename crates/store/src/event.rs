//! One change, as watchers see it.

use bytes::Bytes;

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
        }
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
