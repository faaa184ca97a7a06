//! A consistent view of the store at one revision, and through it at older ones.

use std::ops::Bound;

use bytes::{Bytes, BytesMut};
use redb::{Database, ReadOnlyTable, ReadableDatabase, ReadableTable};

use crate::{
    Event, Fault, Page, ReadError, Record, Revision,
    engine::{CURRENT, FLOOR, LOG, META},
    rows::{Current, Logged},
};

/// Records of a list share pieces of memory of this size.
const LIST_PIECE: usize = 16 << 10;
/// A page with a limit ends before it when it has become so large.
const PAGE_BYTES: usize = 16 << 20;

/// The tables as of one durable commit. Cheap to read from many threads.
pub(crate) struct Snapshot {
    current: ReadOnlyTable<&'static [u8], &'static [u8]>,
    log: ReadOnlyTable<u64, &'static [u8]>,
    /// Everything up to here is compacted; the state at the floor itself is readable.
    pub(crate) floor: u64,
    /// The newest revision that may be shown.
    pub(crate) revision: u64,
    /// The newest revision in the tables.
    pub(crate) stored: u64,
}

/// The value of a key at some revision, before it is copied out.
#[derive(Clone, Copy)]
struct Found<'a> {
    created: u64,
    modified: u64,
    value: &'a [u8],
}

/// A piece of history, read from the log.
pub(crate) struct Stretch {
    /// The events that match the prefix.
    pub(crate) events: Vec<Event>,
    /// Everything up to here was looked at.
    pub(crate) through: u64,
}

impl Snapshot {
    /// The state of the last durable commit.
    pub(crate) fn take(db: &Database) -> Result<Self, Fault> {
        let read = db.begin_read()?;
        let log = read.open_table(LOG)?;
        let floor = ReadableTable::get(&read.open_table(META)?, FLOOR)?
            .ok_or_else(|| Fault::row("the floor is missing"))?
            .value();
        let newest = log.last()?.map_or(floor, |(revision, _)| revision.value());
        let stored = newest.max(floor);
        Ok(Self {
            current: read.open_table(CURRENT)?,
            log,
            floor,
            revision: stored,
            stored,
        })
    }

    /// Hides everything after `revision`.
    pub(crate) fn show_up_to(&mut self, revision: u64) {
        self.revision = self.revision.min(revision);
    }

    fn resolve(&self, at: Option<Revision>) -> Result<u64, ReadError> {
        let Some(Revision(at)) = at else {
            return Ok(self.revision);
        };
        if at < self.floor {
            let floor = Revision(self.floor);
            return Err(ReadError::Compacted { floor });
        }
        if at > self.revision {
            let newest = Revision(self.revision);
            return Err(ReadError::Future { newest });
        }
        Ok(at)
    }

    /// The record of a key.
    pub(crate) fn get(
        &self,
        key: &[u8],
        at: Option<Revision>,
    ) -> Result<Option<Record>, ReadError> {
        let at = self.resolve(at)?;
        let Some(row) = self.current.get(key).map_err(Fault::from)? else {
            return Ok(None);
        };
        let record = self.with_state_at(key, row.value(), at, |found| {
            record(&mut BytesMut::new(), 0, key, found)
        })?;
        Ok(record)
    }

    /// The records under a prefix, in key order. A limit of 0 means no limit.
    pub(crate) fn list(
        &self,
        prefix: &[u8],
        start_after: Option<&[u8]>,
        limit: usize,
        at: Option<Revision>,
    ) -> Result<Page, ReadError> {
        let at = self.resolve(at)?;
        let mut page = Page {
            records: Vec::new(),
            revision: Revision(at),
            more: false,
        };
        let mut memory = BytesMut::new();
        let mut bytes = 0;
        self.visit(prefix, start_after, at, |key, found| {
            if limit != 0 && (page.records.len() == limit || bytes >= PAGE_BYTES) {
                page.more = true;
                return false;
            }
            let record = record(&mut memory, LIST_PIECE, key, found);
            bytes += record.value.len();
            page.records.push(record);
            true
        })?;
        Ok(page)
    }

    /// How many records there are under a prefix after a key.
    pub(crate) fn count(
        &self,
        prefix: &[u8],
        start_after: Option<&[u8]>,
        at: Option<Revision>,
    ) -> Result<u64, ReadError> {
        let at = self.resolve(at)?;
        let mut count = 0;
        self.visit(prefix, start_after, at, |_, _| {
            count += 1;
            true
        })?;
        Ok(count)
    }

    /// Shows each record in key order, until `visitor` has enough.
    fn visit(
        &self,
        prefix: &[u8],
        start_after: Option<&[u8]>,
        at: u64,
        mut visitor: impl FnMut(&[u8], Found<'_>) -> bool,
    ) -> Result<(), Fault> {
        let start = match start_after {
            Some(key) if key >= prefix => Bound::Excluded(key),
            _ => Bound::Included(prefix),
        };
        let after_prefix = end_of(prefix);
        let end = after_prefix
            .as_deref()
            .map_or(Bound::Unbounded, Bound::Excluded);
        if let (Bound::Excluded(start), Bound::Excluded(end)) = (start, end)
            && start >= end
        {
            return Ok(());
        }
        for row in self.current.range::<&[u8]>((start, end))? {
            let (key, row) = row?;
            let key = key.value();
            let more = self.with_state_at(key, row.value(), at, |found| visitor(key, found))?;
            if more == Some(false) {
                break;
            }
        }
        Ok(())
    }

    /// Goes from the current row of a key back to its state at a revision.
    fn with_state_at<T>(
        &self,
        key: &[u8],
        row: &[u8],
        at: u64,
        use_it: impl FnOnce(Found<'_>) -> T,
    ) -> Result<Option<T>, Fault> {
        let current = Current::decode(key, row)?;
        if current.modified <= at {
            return Ok(current.live.then(|| {
                use_it(Found {
                    created: current.created,
                    modified: current.modified,
                    value: current.value,
                })
            }));
        }
        let mut revision = current.modified;
        loop {
            let row = self
                .log
                .get(revision)?
                .ok_or_else(|| Fault::row("a log row is missing"))?;
            let logged = Logged::decode(revision, row.value())?;
            if logged.prior <= at {
                // `prior` is 0 or a compacted deletion for a key that did not exist; a row
                // without a value before says the same.
                return Ok(logged.previous.map(|value| {
                    use_it(Found {
                        created: logged.created,
                        modified: logged.prior,
                        value,
                    })
                }));
            }
            if logged.prior >= revision {
                return Err(Fault::row("a chain of log rows goes forward"));
            }
            revision = logged.prior;
        }
    }

    /// Events after a revision, at most `rows` log rows further.
    pub(crate) fn history(
        &self,
        prefix: &[u8],
        after: u64,
        rows: usize,
    ) -> Result<Stretch, ReadError> {
        if after < self.floor {
            let floor = Revision(self.floor);
            return Err(ReadError::Compacted { floor });
        }
        let mut stretch = Stretch {
            events: Vec::new(),
            through: after,
        };
        if after >= self.revision {
            return Ok(stretch);
        }
        let range = self
            .log
            .range(after + 1..=self.revision)
            .map_err(Fault::from)?;
        for row in range.take(rows) {
            let (revision, row) = row.map_err(Fault::from)?;
            let revision = revision.value();
            let logged = Logged::decode(revision, row.value())?;
            if revision != stretch.through + 1 {
                return Err(Fault::row("a log row is missing").into());
            }
            stretch.through = revision;
            if logged.key.starts_with(prefix) {
                stretch.events.push(event(revision, &logged));
            }
        }
        Ok(stretch)
    }
}

/// Copies a record out. A list takes its records from common pieces of memory, because thousands
/// of small allocations would take longer than the reading.
fn record(memory: &mut BytesMut, piece: usize, key: &[u8], found: Found<'_>) -> Record {
    let needed = key.len() + found.value.len();
    if memory.capacity() < needed {
        *memory = BytesMut::with_capacity(needed.max(piece));
    }
    memory.extend_from_slice(key);
    let key = memory.split().freeze();
    memory.extend_from_slice(found.value);
    Record {
        key,
        value: memory.split().freeze(),
        created: Revision(found.created),
        modified: Revision(found.modified),
    }
}

fn event(revision: u64, logged: &Logged<'_>) -> Event {
    let previous = logged.previous.map(Bytes::copy_from_slice);
    let value = match (logged.value, &previous) {
        (Some(value), _) => Bytes::copy_from_slice(value),
        (None, Some(previous)) => previous.clone(),
        (None, None) => Bytes::new(),
    };
    let key = Bytes::copy_from_slice(logged.key);
    Event::new(
        revision,
        logged.change,
        key,
        value,
        previous,
        logged.created,
    )
}

/// The first key after all keys with this prefix; `None` if there is no such key.
fn end_of(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|byte| *byte != u8::MAX)?;
    let mut end = prefix[..=last].to_vec();
    end[last] += 1;
    Some(end)
}
