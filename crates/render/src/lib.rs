//! From fetched inputs to the objects of a release.
//!
//! ```text
//!   Component + Workload + type + traits ──snapshot::take──► ComponentReleaseSpec
//!                                                               │ Renderer::prepare: checked and compiled
//!   ReleaseBinding, Environment, DataPlane,                     ▼
//!   SecretReferences, connections ───────────Inputs──► Prepared::plan ──► Plan: objects with ids, addresses
//!   Project × Environment ───────────────────────────► cell::plan ──► its namespace, policy and quotas
//!   Deployments, bindings of classes ────────────────► deployment_system ──► Plan, too
//! ```
//! Everything here is a function of owned data: no I/O, no clock, and the same input gives the same bytes. A laptop, a
//! pull request and a controller call the same functions. No secret is ever read: only the way to it.

mod blueprints;
pub mod cell;
mod dependencies;
pub mod deployment_system;
mod documents;
mod endpoint_resources;
mod error;
mod finish;
mod gateway;
mod inputs;
pub mod library;
mod metadata;
mod needs;
mod overrides;
pub mod passwords;
mod plan;
mod policy;
mod ports;
mod prepared;
mod provider;
mod renderer;
pub mod routes;
mod settings;
pub mod snapshot;
mod urls;
mod variables;

pub use dependencies::{address, connection_targets, resource_targets};
pub use documents::{DocumentError, Documents, Exposed};
pub use error::RenderError;
pub use inputs::{Inputs, Named, Output, ResolvedResource};
pub use needs::{Needs, needs};
pub use plan::{Plan, Planned};
pub use prepared::Prepared;
pub use renderer::Renderer;
