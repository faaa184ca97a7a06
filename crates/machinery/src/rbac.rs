//! Who may what by roles and bindings (RBAC), as pure code.
//!
//! ```text
//!   Role, ClusterRole ──► rules ─┐
//!                                ├─► Policy ─► the rules that hold for a user in a namespace ─► allowed?
//!   *Binding ──► subjects, ref ──┘                                        └─► what is missing to give away more
//! ```
//!
//! Rules only ever allow. A [`Policy`] finds those of a user by subject, so a decision does not depend on how many
//! bindings others have.

mod escalation;
mod policy;
mod rule;
mod search;

pub use escalation::{full_authority, missing, missing_words};
pub use policy::{Asker, Found, Policy, RoleRef, Source};
pub use rule::{Rule, aggregated};

/// The API group of roles and bindings.
pub const GROUP: &str = "rbac.authorization.k8s.io";

#[cfg(test)]
mod tests;
