//! Reads history that is no longer in memory for a watcher.

use std::sync::Arc;

use crate::{Event, ReadError, Revision, WatchEnd, hub::Hub};

/// How many log rows are looked at in one step.
const ROWS: usize = 512;

/// One step through the history on disk.
pub(crate) enum Replayed {
    /// The events that match, and up to where history was looked at.
    Events(Vec<Arc<Event>>, u64),
    /// The watch cannot go on.
    Ended(WatchEnd),
}

/// Reads the events after `seen`. Each step looks at the newest state, so that a compaction in
/// between is noticed instead of leaving a gap.
pub(crate) fn read(hub: &Hub, prefix: &[u8], seen: u64) -> Replayed {
    match hub.read(|snapshot| snapshot.history(prefix, seen, ROWS)) {
        // There is more, or nobody would have asked: readers lag behind after a failure.
        Ok(stretch) if stretch.through == seen => Replayed::Ended(WatchEnd::Failed {
            resume_after: Revision(seen),
        }),
        Ok(stretch) => {
            let events = stretch.events.into_iter().map(Arc::new).collect();
            Replayed::Events(events, stretch.through)
        }
        Err(ReadError::Compacted { .. }) => Replayed::Ended(WatchEnd::Compacted),
        Err(ReadError::Closed) => Replayed::Ended(WatchEnd::Closed),
        Err(error @ (ReadError::Io(_) | ReadError::Future { .. })) => {
            tracing::error!(%error, revision = seen, "a watch could not read its history");
            let resume_after = Revision(seen);
            Replayed::Ended(WatchEnd::Failed { resume_after })
        }
    }
}
