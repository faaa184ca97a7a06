//! Controllers die, lag, stall and hear nonsense at every point of a release's life, and the plane still ends as it
//! should: judged by what is there, never by what we say of it.

#![allow(clippy::unwrap_used, clippy::panic)] // a test may; its helpers too

mod choices;
mod controllers;
mod every;
mod failures;
mod fights;
mod judge;
mod kills;
mod leaders;
mod older;
#[path = "../releases/platform.rs"]
#[allow(dead_code)] // the scenarios use the rest of it
mod platform;
mod ruling;
mod run;
mod stale;
mod stories;
mod watches;
