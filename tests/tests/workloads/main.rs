//! Workloads come to life: their controllers, the scheduler and the node, on the embedded cluster and on a real one.

#![allow(clippy::unwrap_used, clippy::panic)] // a test may; its helpers too
#![allow(clippy::large_futures, clippy::needless_pass_by_value)] // stories are told in one go, from literals

mod batch;
mod gateways;
mod operators;
mod recorder;
mod rollouts;
mod services;
mod trouble;
