//! What may not be taken away without a word from a person.

use std::{collections::HashSet, fmt};

use super::{Leave, Record, Removal};
use crate::{desired::Desired, stage::holds_data};

/// Why nothing is taken away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blocked {
    /// Nothing at all is asked for any more, which is what a failed render looks like.
    Everything {
        /// How many objects there are.
        count: usize,
    },
    /// More than half, and at least five.
    TooMuch {
        /// How many fewer objects there would be.
        lost: usize,
        /// How many there are.
        of: usize,
    },
    /// Objects that hold what cannot be made again.
    Data {
        /// Which, for people.
        objects: Vec<String>,
    },
}

/// The fewest objects that are too much to lose.
const FEWEST: usize = 5;

pub(super) fn check(
    desired: &[Desired],
    records: &[Record],
    removals: &[Removal],
) -> Option<Blocked> {
    // What has another owner stays, what was never made is not lost, and what is going is beyond asking.
    let lost: Vec<&Record> = removals
        .iter()
        .filter(|removal| removal.how == Leave::Delete)
        .map(|removal| &records[removal.index])
        .filter(|record| record.uid.is_some())
        .collect();
    if lost.is_empty() {
        return None;
    }
    let there = records.iter().filter(|record| record.uid.is_some()).count();
    if desired.is_empty() {
        return Some(Blocked::Everything { count: there });
    }
    let data: Vec<String> = lost
        .iter()
        .filter(|record| holds_data(&record.identity.kind))
        .map(|record| record.identity.to_string())
        .collect();
    if !data.is_empty() {
        return Some(Blocked::Data { objects: data });
    }
    let known: HashSet<_> = records
        .iter()
        .filter(|record| record.uid.is_some())
        .map(|record| &record.identity)
        .collect();
    let added = desired
        .iter()
        .filter(|object| !known.contains(&object.identity))
        .count();
    let lost = lost.len().saturating_sub(added);
    (lost >= FEWEST && lost * 2 > there).then_some(Blocked::TooMuch { lost, of: there })
}

impl fmt::Display for Blocked {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Everything { count } => write!(
                out,
                "nothing is asked for any more, so all {count} objects would be removed"
            ),
            Self::TooMuch { lost, of } => write!(out, "{lost} of {of} objects would be removed"),
            Self::Data { objects } => {
                let shown = objects.iter().take(5).map(String::as_str);
                write!(out, "{}", shown.collect::<Vec<_>>().join(", "))?;
                if objects.len() > 5 {
                    write!(out, " and {} more", objects.len() - 5)?;
                }
                out.write_str(" may hold data and would be removed")
            }
        }
    }
}
