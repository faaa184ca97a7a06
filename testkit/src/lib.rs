//! A cluster in a variable, embedded or real, for tests.
//!
//! - [`Cluster`]: a client, a namespace of the test's own, and the wire between them.
//! - [`wire::Wire`]: what passes between a client and its cluster: a log of calls, and faults.
//! - [`eventually`]: waits for a condition with a deadline, and tells the last state when it passes.
//! - [`definitions`]: custom resource definitions for a cluster that runs already.
//! - [`builders`]: small objects by their names.
//! - [`clock::ManualClock`]: a clock that moves when told.
//! - [`real::ControlPlane`]: etcd and kube-apiserver (and controllers, scheduler, simulated nodes) on loopback,
//!   ended with the value.
//! - [`assets`]: where the binaries and third-party CRDs are that `cargo xtask assets` builds and fetches.

pub mod assets;
pub mod builders;
pub mod clock;
mod cluster;
pub mod definitions;
mod embedded;
mod eventually;
pub mod real;
pub mod wire;

pub use cluster::{Cluster, ClusterKind};
pub use eventually::{DEADLINE, eventually, eventually_object};
