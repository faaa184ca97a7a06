//! Facts about any Kubernetes object or set of objects: identity, order, diff, inventory, plan, health.
//!
//! Everything here is a pure function of what it is given: no I/O, no clock, no kind of our own.

pub mod health;
