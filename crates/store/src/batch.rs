//! Applies transactions to the tables inside one redb transaction.

use std::{collections::HashMap, sync::Arc};

use bytes::Bytes;
use redb::{ReadableTable, Table, WriteTransaction};

use crate::{
    Change, Event, Expect, Fault, Op, Record, Revision,
    engine::{CURRENT, FLOOR, LOG, META},
    group::Outcome,
    rows::{Current, Logged},
};

/// The tables, open for writing, and where the sequence of revisions is.
pub(crate) struct Batch<'t> {
    current: Table<'t, &'static [u8], &'static [u8]>,
    log: Table<'t, u64, &'static [u8]>,
    meta: Table<'t, &'static str, u64>,
    revision: u64,
    events: Vec<Arc<Event>>,
    row: Vec<u8>,
}

/// A key as the next change of a transaction finds it.
#[derive(Clone)]
struct State {
    /// The value with the revision of creation; `None` if the key does not exist.
    live: Option<(Bytes, u64)>,
    /// The revision of the last change, including a deletion that is still kept; or 0.
    modified: u64,
}

impl<'t> Batch<'t> {
    /// Opens the tables; `revision` is the newest one in them.
    pub(crate) fn open(transaction: &'t WriteTransaction, revision: u64) -> Result<Self, Fault> {
        Ok(Self {
            current: transaction.open_table(CURRENT)?,
            log: transaction.open_table(LOG)?,
            meta: transaction.open_table(META)?,
            revision,
            events: Vec::new(),
            row: Vec::new(),
        })
    }

    /// Applies all changes of one transaction, or none. It sees all transactions before it.
    pub(crate) fn apply(&mut self, ops: &[Op]) -> Result<Outcome, Fault> {
        let first = self.revision + 1;
        let mut found: Vec<State> = Vec::with_capacity(ops.len());
        let mut last_of_key: HashMap<&Bytes, usize> = HashMap::new();
        for (index, op) in ops.iter().enumerate() {
            let before = match last_of_key.insert(op.key(), index) {
                Some(earlier) => after(&ops[earlier], &found[earlier], first + earlier as u64),
                None => self.state(op.key())?,
            };
            if !fits(op, &before) {
                let current = before.record(op.key());
                return Ok(Outcome::Mismatch { index, current });
            }
            found.push(before);
        }
        for (op, before) in ops.iter().zip(found) {
            self.write(op, before)?;
        }
        Ok(Outcome::Applied(first..=self.revision))
    }

    fn state(&self, key: &[u8]) -> Result<State, Fault> {
        let Some(row) = self.current.get(key)? else {
            return Ok(State {
                live: None,
                modified: 0,
            });
        };
        let row = Current::decode(key, row.value())?;
        let live = (row.live).then(|| (Bytes::copy_from_slice(row.value), row.created));
        Ok(State {
            live,
            modified: row.modified,
        })
    }

    fn write(&mut self, op: &Op, before: State) -> Result<(), Fault> {
        let revision = self.revision + 1;
        let (previous, was_created) = before.live.unzip();
        let (change, key, shown, created) = match op {
            Op::Put { key, value, .. } => match was_created {
                Some(created) => (Change::Updated, key, Some(value), created),
                None => (Change::Created, key, Some(value), revision),
            },
            Op::Delete { key, last, .. } => {
                let created = was_created.expect("only an existing key passes the check");
                (Change::Deleted, key, last.as_ref(), created)
            }
        };
        let live = change != Change::Deleted;
        Current {
            live,
            created,
            modified: revision,
            value: shown.filter(|_| live).map_or(&[], |value| value),
        }
        .encode(key, &mut self.row);
        self.current.insert(&key[..], &self.row[..])?;
        Logged {
            change,
            created,
            prior: before.modified,
            key,
            value: shown.map(|value| &value[..]),
            previous: previous.as_deref(),
        }
        .encode(revision, &mut self.row);
        self.log.insert(revision, &self.row[..])?;
        let value = shown.or(previous.as_ref()).cloned().unwrap_or_default();
        let key = key.clone();
        let event = Event::new(revision, change, key, value, previous, created);
        self.events.push(Arc::new(event));
        self.revision = revision;
        Ok(())
    }

    /// Forgets the history up to and including a revision: its log rows and its tombstones.
    pub(crate) fn compact(&mut self, to: u64) -> Result<(), Fault> {
        let mut deleted = Vec::new();
        for row in self.log.range(..=to)? {
            let (revision, row) = row?;
            let logged = Logged::decode(revision.value(), row.value())?;
            if logged.change == Change::Deleted {
                deleted.push((logged.key.to_vec(), revision.value()));
            }
        }
        for (key, revision) in deleted {
            let is_tombstone = match self.current.get(&key[..])? {
                Some(row) => Current::decode(&key, row.value())?.modified == revision,
                None => false,
            };
            if is_tombstone {
                self.current.remove(&key[..])?;
            }
        }
        self.log.retain_in(..=to, |_, _| false)?;
        self.meta.insert(FLOOR, to)?;
        Ok(())
    }

    /// The newest revision so far.
    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    /// The newest revision and everything that happened, in order.
    pub(crate) fn finish(self) -> (u64, Vec<Arc<Event>>) {
        (self.revision, self.events)
    }
}

impl State {
    fn record(&self, key: &Bytes) -> Option<Record> {
        self.live.as_ref().map(|(value, created)| Record {
            key: key.clone(),
            value: value.clone(),
            created: Revision(*created),
            modified: Revision(self.modified),
        })
    }
}

/// Whether the key is as the change demands.
fn fits(op: &Op, before: &State) -> bool {
    let exists = before.live.is_some();
    if matches!(op, Op::Delete { .. }) && !exists {
        return false;
    }
    match op.expect() {
        Expect::Any => true,
        Expect::Absent => !exists,
        Expect::Present => exists,
        Expect::At(Revision(revision)) => exists && before.modified == revision,
    }
}

/// The state of the key after a change that is not yet in the tables.
fn after(op: &Op, before: &State, revision: u64) -> State {
    let live = match op {
        Op::Put { value, .. } => {
            let created = before
                .live
                .as_ref()
                .map_or(revision, |(_, created)| *created);
            Some((value.clone(), created))
        }
        Op::Delete { .. } => None,
    };
    State {
        live,
        modified: revision,
    }
}
