//! One state of the store, held on to.

use std::sync::Arc;

use crate::{Page, ReadError, Record, Revision, engine, hub::Hub, snapshot::Snapshot};

/// The state of the store at one revision. It stays readable however much is written or compacted
/// meanwhile, so a long list that is read piece by piece cannot be cut short.
///
/// While it is held the data file cannot reuse the space of what has changed since; hold it for the
/// time of an answer, not for ever.
#[derive(Clone)]
pub struct View {
    hub: Arc<Hub>,
    snapshot: Arc<Snapshot>,
}

impl View {
    pub(crate) fn new(hub: Arc<Hub>) -> Result<Self, ReadError> {
        let snapshot = hub.snapshot()?;
        Ok(Self { hub, snapshot })
    }

    /// The revision of the state.
    pub fn revision(&self) -> Revision {
        Revision(self.snapshot.revision)
    }

    /// The record of a key.
    pub fn get(&self, key: &[u8]) -> Result<Option<Record>, ReadError> {
        self.read(|snapshot, at| snapshot.get(key, at))
    }

    /// The records whose keys start with `prefix` and come after `start_after`, in key order, as they
    /// were at revision `at` (`None`: the state's own). A `limit` of 0 means no limit.
    ///
    /// What can be read at first can be read to the end: later compactions do not reach this state.
    pub fn list(
        &self,
        prefix: &[u8],
        start_after: Option<&[u8]>,
        limit: usize,
        at: Option<Revision>,
    ) -> Result<Page, ReadError> {
        let at = at.filter(|at| *at != self.revision());
        self.read(|snapshot, own| snapshot.list(prefix, start_after, limit, at.or(own)))
    }

    /// Reads from the state that is held, or, if its handle died with a failure of the storage,
    /// from the newest state at the same revision.
    fn read<T>(
        &self,
        read: impl Fn(&Snapshot, Option<Revision>) -> Result<T, ReadError>,
    ) -> Result<T, ReadError> {
        match engine::without_panic(|| read(&self.snapshot, None))? {
            Err(ReadError::Io(fault)) if fault.is_stale_handle() => {
                let at = Some(self.revision());
                self.hub.read(|snapshot| read(snapshot, at))
            }
            answer => answer,
        }
    }
}

impl std::fmt::Debug for View {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("View")
            .field("revision", &self.revision())
            .finish_non_exhaustive()
    }
}
