//! What goes into the store and what comes out of it.

use bytes::Bytes;

use crate::Revision;

/// A key with its value, as it was at some revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The key.
    pub key: Bytes,
    /// The value.
    pub value: Bytes,
    /// The revision at which the key came into being (anew, if it had been deleted before).
    pub created: Revision,
    /// The revision of the last change to the key.
    pub modified: Revision,
}

/// One page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The records, in key order.
    pub records: Vec<Record>,
    /// The revision the page shows; ask for it again to get the next page of the same state.
    pub revision: Revision,
    /// Whether there are more records after the last one.
    pub more: bool,
}

/// What a write demands of the key before it happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// Nothing.
    Any,
    /// The key must not exist.
    Absent,
    /// The key must exist.
    Present,
    /// The key must exist and its last change must be this revision.
    At(Revision),
}

/// One change of a transaction.
#[derive(Clone, Debug)]
pub enum Op {
    /// Create or replace the value of a key.
    Put {
        /// The key.
        key: Bytes,
        /// The new value.
        value: Bytes,
        /// What must be true before.
        expect: Expect,
    },
    /// Remove a key. It must exist, whatever `expect` says.
    Delete {
        /// The key.
        key: Bytes,
        /// What must be true before.
        expect: Expect,
        /// The value that the event shows as the last one; `None` means the stored one.
        last: Option<Bytes>,
    },
}

impl Op {
    /// The key that is changed.
    pub fn key(&self) -> &Bytes {
        match self {
            Self::Put { key, .. } | Self::Delete { key, .. } => key,
        }
    }

    /// What the change demands of the key.
    pub fn expect(&self) -> Expect {
        match self {
            Self::Put { expect, .. } | Self::Delete { expect, .. } => *expect,
        }
    }

    /// Roughly what the change costs in a batch.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Put { key, value, .. } => key.len() + value.len(),
            Self::Delete { key, last, .. } => key.len() + last.as_ref().map_or(0, Bytes::len),
        }
    }
}
