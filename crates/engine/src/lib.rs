//! Makes one plane match one plan: apply, prune, observe, heal.
//!
//! ```text
//!   watches of the plane ──► Sights ──┐
//!   what is asked for, what was ──────┼─► objects::plan ──► carry::{apply, remove} ──► results, one per object
//!   written down                      │                            │
//!   answers to our own writes ────────┴◄───────────────────────────┘
//! ```
//! Everything that is sent passes the plane's limits and the fence. The room knows no kind of our own; whose an
//! object is comes in as labels.

mod carry;
mod failure;
mod fence;
mod guarded;
pub mod namespaces;
mod pods;
mod replace;
mod requests;
mod send;
mod sights;
mod site;

pub use carry::{HOLDS_OTHERS, Results, apply, look, remove};
pub use failure::Failure;
pub use fence::Fence;
pub use guarded::{DEADLINE, Guarded};
pub use replace::{Immutable, immutable};
pub use requests::{body, built};
pub use send::{Applied, Owner, recorded};
pub use sights::{AtOnce, Doing, Sights, Tell};
pub use site::{Deleted, Marks, Site};
