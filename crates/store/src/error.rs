//! Everything that can go wrong, one type per kind of operation.

use std::{io, path::PathBuf, sync::Arc};

use thiserror::Error;

use crate::{Record, Revision};

/// Why a store could not be opened.
#[derive(Debug, Error)]
pub enum OpenError {
    /// Another process (or another store of this one) has the file open.
    #[error("the data file {} is in use by another process", path.display())]
    InUse {
        /// The data file.
        path: PathBuf,
    },
    /// The file is not a store, or is damaged beyond what a crash can do. It was not changed.
    #[error("the data file {} is damaged ({reason}); it was left untouched", path.display())]
    Damaged {
        /// The data file.
        path: PathBuf,
        /// What was found.
        reason: String,
    },
    /// The folder or the file cannot be written.
    #[error("the data file {} cannot be written", path.display())]
    NotWritable {
        /// The data file.
        path: PathBuf,
        /// What the operating system says.
        #[source]
        source: io::Error,
    },
    /// The storage failed.
    #[error("opening the data file {} failed", path.display())]
    Io {
        /// The data file.
        path: PathBuf,
        /// What failed.
        #[source]
        source: Fault,
    },
}

/// Why a read gave no answer.
#[derive(Clone, Debug, Error)]
pub enum ReadError {
    /// The revision is older than the history that is kept.
    #[error("revision is compacted: the oldest readable one is {floor}")]
    Compacted {
        /// The oldest revision that can be read.
        floor: Revision,
    },
    /// The revision does not exist yet.
    #[error("revision is in the future: the newest one is {newest}")]
    Future {
        /// The newest revision.
        newest: Revision,
    },
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
    /// The storage failed.
    #[error("reading from the store failed")]
    Io(#[source] Fault),
}

/// Why a transaction did not happen. None of its changes did.
#[derive(Clone, Debug, Error)]
pub enum WriteError {
    /// A change demanded something of its key that is not so.
    #[error("change {index} of the transaction expected another state of its key")]
    Mismatch {
        /// Which change of the transaction.
        index: usize,
        /// The record as it is (with the earlier changes of the transaction), if there is one.
        current: Option<Record>,
    },
    /// There is no room. The store works again once there is.
    #[error("there is no space left for the data file")]
    Full,
    /// The storage failed. Whether the transaction survives a restart is unknown.
    #[error("writing to the store failed")]
    Io(#[source] Fault),
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
}

/// Why a watch gives no more events. Revisions tell where to resume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum WatchEnd {
    /// The watcher did not take its events fast enough.
    #[error("the watcher is too slow; it can resume after revision {resume_after}")]
    TooSlow {
        /// Every matching event up to here was delivered.
        resume_after: Revision,
    },
    /// The events that come next are compacted.
    #[error("the events that come next are compacted")]
    Compacted,
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
    /// The history could not be read from storage; resuming may help.
    #[error("reading the history failed; the watch can resume after revision {resume_after}")]
    Failed {
        /// Every matching event up to here was delivered.
        resume_after: Revision,
    },
}

/// A failure of the storage below the store.
#[derive(Clone, Debug, Error)]
#[error(transparent)]
pub struct Fault(Arc<FaultKind>);

#[derive(Debug, Error)]
enum FaultKind {
    #[error(transparent)]
    Engine(#[from] redb::Error),
    #[error("a stored row is damaged: {0}")]
    Row(&'static str),
    #[error("the structure of the file is inconsistent")]
    Panicked,
    #[error("a key or value is larger than 1 GiB")]
    TooLarge,
    #[error("an earlier sync of the data file failed; only a restart tells what is on disk")]
    SyncFailed,
}

impl Fault {
    pub(crate) fn row(what: &'static str) -> Self {
        Self(Arc::new(FaultKind::Row(what)))
    }

    pub(crate) fn panicked() -> Self {
        Self(Arc::new(FaultKind::Panicked))
    }

    pub(crate) fn too_large() -> Self {
        Self(Arc::new(FaultKind::TooLarge))
    }

    pub(crate) fn sync_failed() -> Self {
        Self(Arc::new(FaultKind::SyncFailed))
    }

    /// Whether the handle that was read through is dead, while the data may be fine.
    pub(crate) fn is_stale_handle(&self) -> bool {
        matches!(
            *self.0,
            FaultKind::Engine(redb::Error::PreviousIo | redb::Error::DatabaseClosed)
        )
    }

    /// Whether a row is wrong while the engine itself is fine.
    pub(crate) fn is_row(&self) -> bool {
        matches!(*self.0, FaultKind::Row(_))
    }

    /// Whether somebody else has the file open.
    pub(crate) fn is_in_use(&self) -> bool {
        matches!(*self.0, FaultKind::Engine(redb::Error::DatabaseAlreadyOpen))
    }

    /// Whether the bytes on disk are wrong, as opposed to unreachable.
    pub(crate) fn is_damage(&self) -> bool {
        match &*self.0 {
            FaultKind::Row(_) | FaultKind::Panicked => true,
            FaultKind::SyncFailed | FaultKind::TooLarge => false,
            FaultKind::Engine(error) => is_engine_damage(error),
        }
    }
}

fn is_engine_damage(error: &redb::Error) -> bool {
    use redb::Error as E;
    match error {
        E::Corrupted(_)
        | E::UpgradeRequired(_)
        | E::TableTypeMismatch { .. }
        | E::TableIsMultimap(_)
        | E::TypeDefinitionChanged { .. }
        | E::TableDoesNotExist(_) => true,
        E::Io(io) => matches!(
            io.kind(),
            io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof
        ),
        _ => false,
    }
}

macro_rules! fault_from {
    ($($source:ty),*) => {$(
        impl From<$source> for Fault {
            fn from(error: $source) -> Self {
                Self(Arc::new(FaultKind::Engine(error.into())))
            }
        }
    )*};
}
fault_from!(
    redb::Error,
    redb::StorageError,
    redb::TableError,
    redb::TransactionError,
    redb::CommitError,
    redb::DatabaseError,
    io::Error
);

impl From<Fault> for ReadError {
    fn from(fault: Fault) -> Self {
        Self::Io(fault)
    }
}
