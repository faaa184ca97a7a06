//! Tests of the store through its public face.

// The whole binary is tests; the lint exempts only functions marked as such.
#![allow(clippy::unwrap_used, clippy::panic)]

mod basics;
mod builders;
mod crash;
mod full_disk;
mod history;
mod kill;
mod model;
mod opening;
mod simulated_disk;
mod watching;
