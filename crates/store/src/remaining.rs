//! Remembers how many records follow a page, so that walking a long list page by page does not
//! count the rest again for every page.
//!
//! The state at a revision never changes, so a number that was right once stays right.

use std::collections::VecDeque;

use bytes::Bytes;
use parking_lot::Mutex;

use crate::{Page, Revision};

const PLACES: usize = 64;

/// A place in a list at a revision.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    prefix: Bytes,
    at: Revision,
    after: Bytes,
}

/// The numbers for the places that were asked for last.
#[derive(Default)]
pub(crate) struct Remaining {
    known: Mutex<VecDeque<(Place, u64)>>,
}

impl Remaining {
    pub(crate) fn get(&self, prefix: &[u8], at: Revision, after: &[u8]) -> Option<u64> {
        let known = self.known.lock();
        let place = known
            .iter()
            .find(|(p, _)| p.at == at && p.after == after && p.prefix == prefix);
        place.map(|(_, remaining)| *remaining)
    }

    pub(crate) fn put(&self, prefix: &[u8], at: Revision, after: &[u8], remaining: u64) {
        let place = Place {
            prefix: Bytes::copy_from_slice(prefix),
            at,
            after: Bytes::copy_from_slice(after),
        };
        let mut known = self.known.lock();
        known.retain(|(p, _)| *p != place);
        known.push_front((place, remaining));
        known.truncate(PLACES);
    }

    /// A page was read: what remains after its end follows from what remained before it.
    pub(crate) fn advance(&self, prefix: &[u8], start_after: Option<&[u8]>, page: &Page) {
        let (Some(start), Some(last)) = (start_after, page.records.last()) else {
            return;
        };
        let before = self.get(prefix, page.revision, start);
        if let Some(rest) = before.and_then(|b| b.checked_sub(page.records.len() as u64)) {
            self.put(prefix, page.revision, &last.key, rest);
        }
    }
}
