//! The number that orders all changes.

use std::fmt;

/// The place of a change in the one sequence of all changes.
///
/// Revision 0 is the empty store; the first write gets 1 (or [`crate::Options::first_revision`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Revision(pub u64);

impl Revision {
    /// The state before the first change.
    pub const ZERO: Self = Self(0);
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<u64> for Revision {
    fn from(number: u64) -> Self {
        Self(number)
    }
}
