//! How rows look on disk. All numbers are little endian.
//!
//! ```text
//! current:  key      -> state u8 | created u64 | modified u64 | value
//! log:      revision -> kind u8 | created u64 | prior u64 | key length u32 | value length u32
//!                       | key | value | value before
//! ```
//! `prior` is the revision of the key's change before this one (0: none that is kept), so that
//! the state at an older revision is found by walking from `current` down the log. A deleted key
//! stays in `current` as a tombstone until the deletion is compacted.

use crate::{Change, Fault};

const LIVE: u8 = 1;
const TOMBSTONE: u8 = 2;
const CURRENT_HEAD: usize = 17;
const LOG_HEAD: usize = 25;

/// A row of the table `current`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Current<'a> {
    pub(crate) live: bool,
    pub(crate) created: u64,
    pub(crate) modified: u64,
    pub(crate) value: &'a [u8],
}

impl<'a> Current<'a> {
    pub(crate) fn decode(row: &'a [u8]) -> Result<Self, Fault> {
        let (head, value) = row
            .split_at_checked(CURRENT_HEAD)
            .ok_or_else(|| Fault::row("a current row is too short"))?;
        let live = match head[0] {
            LIVE => true,
            TOMBSTONE => false,
            _ => return Err(Fault::row("a current row has an unknown state")),
        };
        Ok(Self {
            live,
            created: number(head, 1),
            modified: number(head, 9),
            value,
        })
    }

    pub(crate) fn encode(&self, row: &mut Vec<u8>) {
        row.clear();
        row.reserve(CURRENT_HEAD + self.value.len());
        row.push(if self.live { LIVE } else { TOMBSTONE });
        row.extend_from_slice(&self.created.to_le_bytes());
        row.extend_from_slice(&self.modified.to_le_bytes());
        row.extend_from_slice(self.value);
    }
}

/// A row of the table `log`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Logged<'a> {
    pub(crate) change: Change,
    pub(crate) created: u64,
    pub(crate) prior: u64,
    pub(crate) key: &'a [u8],
    /// The new value; for a deletion the one to show, `None` if that is `previous`.
    pub(crate) value: Option<&'a [u8]>,
    pub(crate) previous: Option<&'a [u8]>,
}

impl<'a> Logged<'a> {
    pub(crate) fn decode(row: &'a [u8]) -> Result<Self, Fault> {
        let short = || Fault::row("a log row is too short");
        let (head, rest) = row.split_at_checked(LOG_HEAD).ok_or_else(short)?;
        let (change, has_value) = match head[0] {
            1 => (Change::Created, true),
            2 => (Change::Updated, true),
            3 => (Change::Deleted, true),
            4 => (Change::Deleted, false),
            _ => return Err(Fault::row("a log row has an unknown kind")),
        };
        let (key, rest) = rest.split_at_checked(length(head, 17)).ok_or_else(short)?;
        let (value, previous) = rest.split_at_checked(length(head, 21)).ok_or_else(short)?;
        Ok(Self {
            change,
            created: number(head, 1),
            prior: number(head, 9),
            key,
            value: has_value.then_some(value),
            previous: (change != Change::Created).then_some(previous),
        })
    }

    pub(crate) fn encode(&self, row: &mut Vec<u8>) {
        let value = self.value.unwrap_or_default();
        let previous = self.previous.unwrap_or_default();
        row.clear();
        row.reserve(LOG_HEAD + self.key.len() + value.len() + previous.len());
        row.push(match (self.change, self.value.is_some()) {
            (Change::Created, _) => 1,
            (Change::Updated, _) => 2,
            (Change::Deleted, true) => 3,
            (Change::Deleted, false) => 4,
        });
        row.extend_from_slice(&self.created.to_le_bytes());
        row.extend_from_slice(&self.prior.to_le_bytes());
        for part in [self.key, value] {
            let length = u32::try_from(part.len()).expect("the engine refuses larger values first");
            row.extend_from_slice(&length.to_le_bytes());
        }
        row.extend_from_slice(self.key);
        row.extend_from_slice(value);
        row.extend_from_slice(previous);
    }
}

fn number(head: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(head[at..at + 8].try_into().expect("eight bytes of a head"))
}

fn length(head: &[u8], at: usize) -> usize {
    u32::from_le_bytes(head[at..at + 4].try_into().expect("four bytes of a head")) as usize
}
