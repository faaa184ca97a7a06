//! How rows look on disk. All numbers are little endian.
//!
//! ```text
//! current:  key      -> check u32 | state u8 | created u64 | modified u64 | value
//! log:      revision -> check u32 | kind u8 | created u64 | prior u64 | key length u32
//!                       | value length u32 | key | value | value before
//! ```
//! `check` covers the rest of the row and the key it is stored under, because redb does not check
//! pages when it reads them: a bad disk must not make up objects.
//!
//! `prior` is the revision of the key's change before this one (0: none that is kept), so that
//! the state at an older revision is found by walking from `current` down the log. A deleted key
//! stays in `current` as a tombstone until the deletion is compacted.

use crate::{Change, Fault};

const LIVE: u8 = 1;
const TOMBSTONE: u8 = 2;
const CHECK: usize = 4;
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
    pub(crate) fn decode(key: &[u8], row: &'a [u8]) -> Result<Self, Fault> {
        let row = checked(key, row)?;
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

    pub(crate) fn encode(&self, key: &[u8], row: &mut Vec<u8>) {
        row.clear();
        row.reserve(CHECK + CURRENT_HEAD + self.value.len());
        row.extend_from_slice(&[0; CHECK]);
        row.push(if self.live { LIVE } else { TOMBSTONE });
        row.extend_from_slice(&self.created.to_le_bytes());
        row.extend_from_slice(&self.modified.to_le_bytes());
        row.extend_from_slice(self.value);
        seal(key, row);
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
    pub(crate) fn decode(revision: u64, row: &'a [u8]) -> Result<Self, Fault> {
        let short = || Fault::row("a log row is too short");
        let row = checked(&revision.to_le_bytes(), row)?;
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

    pub(crate) fn encode(&self, revision: u64, row: &mut Vec<u8>) {
        let value = self.value.unwrap_or_default();
        let previous = self.previous.unwrap_or_default();
        row.clear();
        row.reserve(CHECK + LOG_HEAD + self.key.len() + value.len() + previous.len());
        row.extend_from_slice(&[0; CHECK]);
        row.push(match (self.change, self.value.is_some()) {
            (Change::Created, _) => 1,
            (Change::Updated, _) => 2,
            (Change::Deleted, true) => 3,
            (Change::Deleted, false) => 4,
        });
        row.extend_from_slice(&self.created.to_le_bytes());
        row.extend_from_slice(&self.prior.to_le_bytes());
        for part in [self.key, value] {
            let length = u32::try_from(part.len()).expect("the store refuses larger values first");
            row.extend_from_slice(&length.to_le_bytes());
        }
        row.extend_from_slice(self.key);
        row.extend_from_slice(value);
        row.extend_from_slice(previous);
        seal(&revision.to_le_bytes(), row);
    }
}

/// The row without its check, if the check is right.
fn checked<'a>(key: &[u8], row: &'a [u8]) -> Result<&'a [u8], Fault> {
    let (check, rest) = row
        .split_first_chunk::<CHECK>()
        .ok_or_else(|| Fault::row("a row is too short"))?;
    if u32::from_le_bytes(*check) == digest(key, rest) {
        Ok(rest)
    } else {
        Err(Fault::row("a row does not match its checksum"))
    }
}

/// Puts the check in its place at the start of the row.
fn seal(key: &[u8], row: &mut [u8]) {
    let (check, rest) = row
        .split_first_chunk_mut::<CHECK>()
        .expect("a row starts with room for its check");
    *check = digest(key, rest).to_le_bytes();
}

/// A fast digest against bad luck, not against bad people.
fn digest(key: &[u8], rest: &[u8]) -> u32 {
    const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
    let stir = |state: u64, word: u64| (state ^ word).wrapping_mul(ODD).rotate_left(29);
    let mut state = stir(ODD, key.len() as u64);
    let mut absorb = |bytes: &[u8]| {
        // Two independent lanes let the processor overlap the multiplications.
        let mut other = !state;
        let (pairs, tail) = bytes.as_chunks::<16>();
        for pair in pairs {
            state = stir(state, number(pair, 0));
            other = stir(other, number(pair, 8));
        }
        for byte in tail {
            state = stir(state, u64::from(*byte) + 1);
        }
        state = stir(state, other);
    };
    absorb(key);
    absorb(rest);
    let folded = state ^ (state >> 32);
    u32::try_from(folded & u64::from(u32::MAX)).expect("masked to 32 bits")
}

fn number(head: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(head[at..at + 8].try_into().expect("eight bytes of a head"))
}

fn length(head: &[u8], at: usize) -> usize {
    u32::from_le_bytes(head[at..at + 4].try_into().expect("four bytes of a head")) as usize
}

#[cfg(test)]
mod tests;
