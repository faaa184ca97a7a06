//! How an object is doing: a total function of what is seen of it.
//!
//! ```text
//!  live object ──▶ of ──▶ Verdict ──(wants pods)──▶ with_pods ──▶ Verdict ──(too late)──▶ overdue
//!                                     Pod::read ───────┘
//! ```
//!
//! [`of`] judges an object by itself. A workload that is not fully available names the pods to look
//! at; [`with_pods`] then says whether they are on their way or in trouble. Something that stays
//! [`Health::Progressing`] past its deadline is [`overdue`].
//!
//! A container without a readiness probe looks well for a moment whenever it starts again, so that a
//! crash loop would look well by turns: [`steady_from`] says from when such a recovery can be believed.
//!
//! Nothing here reads a clock, and nothing fails: what cannot be understood is [`Health::Unknown`].
//! A verdict says the same as long as the trouble is the same, so that a caller who writes only what
//! changed does not write all the time: what a kubelet says by turns has one word, and the messages
//! of troubles hold no counters and no names of pods. What a container printed when it ended is never
//! repeated, since it may hold secrets.

mod argo;
mod autoscaling;
mod batch;
mod cause;
mod certificates;
mod container;
mod definitions;
mod external_secrets;
mod gateway;
mod generic;
mod kinds;
mod live;
mod network;
mod pod;
mod policies;
mod revision;
mod selector;
mod storage;
mod verdict;
mod workloads;

pub use kinds::{needs_status, of, of_kind};
pub use pod::Pod;
pub use revision::{steady_from, with_pods};
pub use selector::PodSelector;
pub use verdict::{Health, Verdict, overdue, worst};

#[cfg(test)]
mod tests;
