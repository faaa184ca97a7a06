//! A cluster in a variable, embedded or real, for tests.
//!
//! - [`real::ControlPlane`]: etcd and kube-apiserver (and controllers, scheduler, simulated nodes) on loopback,
//!   ended with the value.
//! - [`assets`]: where the binaries and third-party CRDs are that `cargo xtask assets` builds and fetches.

pub mod assets;
pub mod real;
