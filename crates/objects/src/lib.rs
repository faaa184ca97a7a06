//! Facts about any Kubernetes object or set of objects: identity, order, digest, plan, health.
//!
//! Everything here is a pure function of what it is given: no I/O, no clock, no kind of our own.
//!
//! ```text
//!   desired objects (raw JSON) ──► desired::read ──► Desired ─┐
//!   what was written down      ───────────────────► Record  ──┼─► plan::plan ──► Plan: applies, removals, guard
//!   what a watch shows         ──► live::Live::read ► Sight ──┘
//! ```

pub mod claim;
pub mod desired;
pub mod difference;
pub mod digest;
pub mod health;
pub mod identity;
pub mod live;
pub mod owned;
pub mod plan;
pub mod scaled;
pub mod secret;
pub mod stage;
pub mod stamp;
mod word;

pub use desired::Desired;
pub use digest::Digest;
pub use identity::{GroupKind, Identity, Version};
pub use live::{Live, Sight};
pub use plan::{Plan, Record};
pub use stage::Stage;
pub use stamp::Stamp;
pub use word::word;
