//! Releases on a plane: what the engine does, on the embedded API and on a real one.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used)] // a test may; its helpers too

mod credentials;
mod definitions;
mod dependencies;
mod doors;
mod drift;
mod endings;
mod failures;
mod foreign;
mod hands;
mod health;
mod immutable;
mod lifecycle;
mod mistakes;
mod objects;
mod planes;
mod platform;
mod pruning;
mod scaling;
mod secrets;
