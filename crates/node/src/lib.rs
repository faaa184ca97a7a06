//! Makes workloads of the embedded cluster run: what a controller manager, a scheduler and a kubelet do.
//!
//! ```text
//!   one watch per kind ─► seen ─► route ─► queue ─► workers: one look at one object
//!                          ▲                          │ decide (pure) ─► write
//!                          └────── every answer ──────┘
//!   kubelet ◄─► Runtime: runs containers, or says it does (simulated)
//! ```
//!
//! Nothing polls: a change wakes whom it concerns, and times (deadlines, schedules, back-offs) go through the clock
//! that is handed in. It speaks to the API through an ordinary client and knows no kinds but Kubernetes' own.

mod autoscaler;
mod budget;
pub mod clock;
mod cron;
mod daemon;
mod deployment;
mod endpoints;
mod events;
pub mod gateway;
mod hands;
mod job;
mod kinds;
pub mod kubelet;
pub mod operators;
mod pods;
mod queue;
mod read;
mod replicas;
mod revisions;
mod route;
mod scheduler;
mod seen;
mod stateful;
pub mod third_party;
mod volumes;
mod work;
mod world;

pub use clock::{Clock, SystemClock};
pub use kubelet::{
    runtime::{Report, Runtime},
    simulated::{Habits, Simulated},
};
pub use work::{Options, run};
