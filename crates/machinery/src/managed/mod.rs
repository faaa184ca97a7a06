//! Who owns which field: `metadata.managedFields` and server-side apply.
//!
//! ```text
//!   create, update, patch ──► update(): what changed now belongs to the writer, and to nobody else
//!   apply ──► apply(): merge the configuration, drop what it no longer has, refuse what others own
//!   just before the write ──► keep_times(): a write that changes nothing leaves the old times
//! ```
//!
//! Ownership is tracked on the object that the request makes, after decoding and defaulting for an update,
//! before defaulting for an apply. What admission or the storage layer changes later belongs to nobody.

mod apply;
mod blank;
mod cap;
mod conflict;
mod entries;
mod last_applied;
mod owners;
mod prune;
mod resets;
mod scale;
mod times;
mod tracking;
mod update;
mod user_agent;
mod versions;
mod write;

pub use apply::{Applied, apply};
pub use blank::{blank_builtin, blank_custom};
pub use conflict::{ApplyError, Conflict};
pub use entries::{EntriesError, decode, encode};
pub use owners::{Managed, ManagerId, Operation, Owner};
pub use resets::Resets;
pub use scale::{scale_to_parent, scale_to_subresource};
pub use times::keep_times;
pub use update::{UpdateError, try_update, update};
pub use user_agent::manager_or_user_agent;
pub use versions::{ConvertError, OneSchema, SameShape, Versions};
pub use write::Write;

#[cfg(test)]
mod tests;
