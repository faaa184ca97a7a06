//! An embeddable Kubernetes API server: `machinery` and `store` behind an axum router.
//!
//! ```text
//!   router ─► path ─► authorize ─► rest: get list watch create update patch delete
//!                                   │  body ─► strategy ─► ownership ─► compare-and-swap
//!                                   ▼
//!                                 store ◄── life: definitions, namespaces, garbage, roles
//! ```
//!
//! It knows nothing of our own kinds: custom resource definitions reach it like anybody's.

mod accept;
mod admission;
pub mod auth;
mod body;
mod catalog;
pub mod clock;
mod convert;
pub mod definition;
pub mod discovery;
mod escalation;
mod finding;
pub mod kinds;
mod life;
mod lifecycle;
pub mod openapi;
mod options;
mod ownership;
mod path;
mod policies;
mod protobuf;
mod quirks;
mod reply;
pub mod resource;
mod rest;
mod revision;
mod select;
pub mod serve;
mod server;
mod services;
mod stored;
mod strategy;
mod upload;

pub use server::{Definitions, Options, Server, StartError};
pub use upload::MAX_BODY_BYTES;
