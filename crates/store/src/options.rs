//! What the owner of a store may set; every limit on memory and disk is here.

use std::time::Duration;

/// Settings of a store. The defaults suit a small control plane on a laptop.
#[derive(Clone, Debug)]
pub struct Options {
    /// Memory for cached pages of the data file.
    pub cache_bytes: usize,
    /// How many recent events stay in memory for watchers that start or resume.
    pub history_events: usize,
    /// How many bytes (keys and values) those events may hold together.
    pub history_bytes: usize,
    /// How many undelivered events a watcher may have before it is cut off.
    pub watcher_buffer_events: usize,
    /// How many bytes of undelivered events a watcher may have before it is cut off.
    pub watcher_buffer_bytes: usize,
    /// How many past revisions stay readable in any case. Older ones are compacted along with later
    /// writes, once they are old enough.
    pub retain_revisions: u64,
    /// How long past revisions stay readable, as long as they are not too many.
    pub retain_for: Duration,
    /// How many past revisions are kept at most, however young they are: this bounds the data file.
    pub retain_at_most: u64,
    /// Up to this size of the data file a commit takes one sync, and opening it after a crash may
    /// walk through all of it. Above, a commit takes two, and opening is quick even then.
    pub one_sync_up_to_bytes: u64,
    /// The revision of the very first write; only used when a store is created.
    pub first_revision: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            cache_bytes: 16 << 20,
            history_events: 4096,
            history_bytes: 8 << 20,
            watcher_buffer_events: 4096,
            watcher_buffer_bytes: 16 << 20,
            retain_revisions: 10_000,
            retain_for: Duration::from_mins(5),
            retain_at_most: 200_000,
            one_sync_up_to_bytes: 384 << 20,
            first_revision: 1,
        }
    }
}
