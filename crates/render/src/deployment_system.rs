//! The deployment system: what its kinds become.
//!
//! ```text
//!   Deployment + DeployableArtifact + Build + ConfigurationGroups ──► deployment::plan ──┐
//!                   └── endpointTemplates ──► endpoint_templates::of ──► Endpoints      ├─► Plan
//!   Service/WebApplication/ScheduledTask ──► instance::Bind ────► binding                │
//!                   └── class, groups, connections, routes ──► binding::plan ────────────┘
//!   Endpoints ──► endpoint::plan, APIs ──► api::plan, pages ──► web::plan ──► routes::Exposure
//! ```
//! Names, hashes, labels and shapes are those that OpenChoreo 0.4 computes, so that what it has deployed can be taken over.
//! Everything that is wrong is told at once, and nothing is rendered then. The cell (its namespace and policies) is no part
//! of any plan here: it belongs to the cell's own release.

pub mod api;
pub mod binding;
mod bundle;
mod checked;
mod class;
mod connections;
pub mod deployment;
pub mod endpoint;
pub mod endpoint_templates;
mod error;
mod exposed;
mod image;
pub mod instance;
mod limits;
pub mod migration;
mod overrides;
mod place;
mod pod;
mod runs;
mod scaling;
mod settings;
mod told;
pub mod web;

pub use error::{Mistake, Mistakes};
pub use place::{Deployed, Ground, Labels, Whose};

use std::collections::BTreeMap;

use quadrille_types::{DataPlaneSpec, EnvironmentSpec};

/// The data plane that something is rendered for.
#[derive(Clone, Copy, Debug)]
pub struct Plane<'a> {
    /// Its name.
    pub name: &'a str,
    /// What is asked of it.
    pub spec: &'a DataPlaneSpec,
    /// Its annotations.
    pub annotations: &'a BTreeMap<String, String>,
}

/// The environment that something is rendered for.
#[derive(Clone, Copy, Debug)]
pub struct Stage<'a> {
    /// Its name, as people and labels have it.
    pub name: &'a str,
    /// What is asked of it.
    pub spec: &'a EnvironmentSpec,
}
