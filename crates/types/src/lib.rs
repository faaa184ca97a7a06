//! The shape of every `openchoreo.dev/v1alpha1` kind, with its names, labels and conditions.
//!
//! Each kind is a *union*: it accepts what OpenChoreo 0.4 and 1.2 write and the still older fields that
//! came before. Documents are read into plain structs that lose nothing; `resolve()` then reads the
//! variants once into one form, and everybody else works with that form only.
//!
//! ```text
//!   YAML / API object ──► Environment (all fields of all generations) ──resolve()──► environment::Resolved
//!                              │                                             └──► Problem: names the field
//!                              └── crds(): what a server must know about it
//! ```
//!
//! This room does no I/O. Adding a kind: write its file, then name it in the module list and in [`crds`].

#![allow(
    clippy::duplicated_attributes,
    reason = "printer columns repeat the same keys; the lint looks only at the words"
)]

mod crd;
mod optional_spec;
mod schema;

pub mod annotations;
pub mod cluster_data_plane;
pub mod component;
pub mod component_release;
pub mod component_trait;
pub mod component_type;
pub mod conditions;
pub mod data_plane;
pub mod deployment_pipeline;
pub mod environment;
pub mod finalizers;
pub mod gateway;
pub mod go_duration;
pub mod labels;
pub mod names;
pub mod older;
pub mod organization;
pub mod problem;
pub mod project;
pub mod raw_object;
pub mod reference;
pub mod release;
pub mod release_binding;
pub mod secret_reference;
pub mod templates;
pub mod workload;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde_json::Value;

pub use crate::{
    cluster_data_plane::{ClusterDataPlane, ClusterDataPlaneSpec},
    component::{Component, ComponentSpec, ComponentStatus},
    component_release::{ComponentRelease, ComponentReleaseSpec, ComponentReleaseStatus},
    component_trait::{ClusterTrait, ClusterTraitSpec, Trait, TraitSpec, TraitStatus},
    component_type::{
        ClusterComponentType, ClusterComponentTypeSpec, ComponentType, ComponentTypeSpec,
        ComponentTypeStatus,
    },
    data_plane::{DataPlane, DataPlaneSpec, DataPlaneStatus},
    deployment_pipeline::{DeploymentPipeline, DeploymentPipelineSpec, DeploymentPipelineStatus},
    environment::{Environment, EnvironmentSpec, EnvironmentStatus},
    organization::{Organization, OrganizationSpec, OrganizationStatus},
    problem::Problem,
    project::{Project, ProjectSpec, ProjectStatus},
    raw_object::RawObject,
    release::{Release, ReleaseSpec, ReleaseStatus},
    release_binding::{ReleaseBinding, ReleaseBindingSpec, ReleaseBindingStatus},
    secret_reference::{SecretReference, SecretReferenceSpec, SecretReferenceStatus},
    workload::{Workload, WorkloadSpec, WorkloadStatus},
};

/// The API group of every kind here.
pub const GROUP: &str = "openchoreo.dev";

/// The only version of the group.
pub const VERSION: &str = "v1alpha1";

/// The definitions of all kinds, always in this order.
pub fn crds() -> Vec<CustomResourceDefinition> {
    vec![
        crd::of::<Organization>(),
        crd::of::<Project>(),
        crd::of::<Environment>(),
        crd::of::<DataPlane>(),
        crd::of::<DeploymentPipeline>(),
        crd::of::<Release>(),
        crd::of::<ClusterDataPlane>(),
        crd::of::<ComponentType>(),
        crd::of::<ClusterComponentType>(),
        crd::of::<Trait>(),
        crd::of::<ClusterTrait>(),
        crd::of::<SecretReference>(),
        crd::of::<Component>(),
        crd::of::<Workload>(),
        crd::of::<ComponentRelease>(),
        crd::of::<ReleaseBinding>(),
    ]
}

/// [`crds`] as JSON documents, ready to be applied or written down.
pub fn crd_documents() -> Vec<Value> {
    crds().iter().map(crd::document).collect()
}

#[cfg(test)]
mod tests;
