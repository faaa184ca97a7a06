//! Cluster scenarios. All are one binary, so that they share one control plane when they run on a real one.

#![allow(clippy::unwrap_used, clippy::panic)] // a test may; its helpers too

mod access;
mod applying;
mod component_kinds;
mod credentials;
mod definitions;
mod kubectl;
mod lifecycle;
mod objects;
mod platform_kinds;
mod rendered;
mod watching;
