//! The `quad` command as people and scripts use it: the binary itself, on folders of its own.

// Clippy knows test functions, not the functions that they share.
#![allow(clippy::unwrap_used, clippy::panic)]

mod bad_starts;
mod instance;
mod kubectl;
mod life;
mod live;
mod quad;
mod readme;
mod secrets;
mod seeds;
mod strain;
mod transcript;
mod users;
mod verbs;
mod words;
