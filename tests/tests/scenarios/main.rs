//! Cluster scenarios. All are one binary, so that they share one control plane when they run on a real one.

mod applying;
mod definitions;
mod kubectl;
mod lifecycle;
mod objects;
mod platform_kinds;
mod watching;
