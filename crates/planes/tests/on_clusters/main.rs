//! Planes on clusters, embedded or real as the test run asks, and on servers that misbehave.

#![allow(clippy::unwrap_used, clippy::panic)] // a test may; its helpers too

mod calling;
mod certificates;
mod connecting;
mod forwarder;
mod kinds;
mod reach;
mod servers;
mod sharing;
