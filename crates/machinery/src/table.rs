//! Objects as tables: what `kubectl get` prints.
//!
//! Built-in kinds have columns of their own ([`builtin`]); custom resources bring theirs in their definition
//! ([`custom`]).

pub mod builtin;
pub mod custom;
pub mod human;
