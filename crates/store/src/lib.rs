//! A durable, ordered revision log with watch.
//!
//! The store keeps byte keys with byte values. Every change gets the next number of one sequence,
//! the [`Revision`]; readers can ask for the state at a revision, watchers for every change after
//! one. It knows nothing about HTTP or Kubernetes.
//!
//! ```text
//!  commit() ──► queue ──► writer thread ──► redb file (one durable commit per batch)
//!                              │
//!                              ▼  only what is durable
//!                    snapshot (readers) + hub (recent events ──► watchers)
//! ```
//!
//! What holds at any moment:
//! - An acknowledged write is on disk. Nothing is shown to readers or watchers before it is.
//! - Revisions only go up, and a revision that anybody saw never changes its content.
//! - Readers and watchers never make the writer wait, and never wait for it.
//! - Memory is bounded by [`Options`].

mod age;
mod backend;
mod batch;
mod engine;
mod error;
mod event;
mod file;
mod group;
mod hub;
mod options;
mod pace;
mod record;
mod replay;
mod revision;
mod ring;
mod rows;
mod snapshot;
mod store;
mod subscriber;
mod view;
mod watch;
mod writer;

pub use error::{Fault, OpenError, ReadError, WatchEnd, WriteError};
pub use event::{Change, Event};
pub use options::Options;
pub use record::{Expect, Op, Page, Record};
pub use revision::Revision;
pub use store::Store;
pub use view::View;
pub use watch::Watch;
