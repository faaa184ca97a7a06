//! Workloads come to life: their controllers, the scheduler and the node, on the embedded cluster and on a real one.

#![allow(clippy::unwrap_used, clippy::panic)] // a test may; its helpers too

mod batch;
mod gateways;
mod recorder;
mod rollouts;
mod services;
mod trouble;
