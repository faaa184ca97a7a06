//! Who reaches whom under the policies that are rendered, held against what was declared.
//!
//! ```text
//!   documents ──► every component's objects + every cell's objects ──► World: pods, namespaces, policies
//!                                                                        │ allows(from, to, port)
//!   what was declared, by its own words ────────────────────────────────►│ the same, for every pair
//! ```
//! The policies are judged by the rules of those who enforce them, not by the code that wrote them.

#![allow(clippy::unwrap_used, clippy::panic)] // a test may; its helpers too

mod cilium;
mod declared;
mod gateways;
mod given;
mod random;
mod selector;
mod shop;
mod standard;
mod world;
