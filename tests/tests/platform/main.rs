//! The life of organizations, projects, environments, planes and pipelines: what they say, and how they end.

#![allow(clippy::unwrap_used, clippy::panic)]

mod endings;
#[path = "../crashes/every.rs"]
mod every;
mod kills;
mod orders;
mod permissions;
mod shared;
mod stage;
mod truths;
