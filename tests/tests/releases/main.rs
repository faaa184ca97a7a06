//! Releases on a plane: what the engine does, on the embedded API and on a real one.

#![allow(clippy::unwrap_used, clippy::panic)] // a test may; its helpers too

mod lifecycle;
mod platform;
