//! The component chain: deployed, promoted, approved, rolled back, connected, and gone again.

#![allow(clippy::unwrap_used, clippy::panic)]

mod approvals;
mod bypass;
mod connections;
mod definitions;
mod deploying;
mod endings;
#[path = "../crashes/every.rs"]
mod every;
mod guard;
mod hostile;
mod isolation;
mod kills;
mod migrating;
mod mistakes;
mod promoting;
mod shop;
#[path = "../platform/stage.rs"]
#[allow(dead_code, reason = "the tests of the platform itself use the rest")]
mod stage;
mod waiting;
