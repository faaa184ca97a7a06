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
mod words;

pub mod annotations;
pub mod api;
pub mod api_binding;
pub mod api_class;
pub mod application;
pub mod approval;
pub mod build;
pub mod cluster_data_plane;
pub mod component;
pub mod component_release;
pub mod component_trait;
pub mod component_type;
pub mod conditions;
pub mod configuration_group;
pub mod data_plane;
pub mod deployable_artifact;
pub mod deployed_status;
pub mod deployment;
pub mod deployment_pipeline;
pub mod deployment_track;
pub mod endpoint;
pub mod environment;
pub mod exposed_endpoint;
pub mod finalizers;
pub mod gateway;
pub mod go_duration;
pub mod judged_status;
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
pub mod release_state;
pub mod scheduled_task;
pub mod scheduled_task_binding;
pub mod scheduled_task_class;
pub mod secret_reference;
pub mod service;
pub mod service_binding;
pub mod service_class;
pub mod templates;
pub mod web_application;
pub mod web_application_binding;
pub mod web_application_class;
pub mod workload;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde_json::Value;

pub use crate::{
    api::{ApiSpec, ApiStatus, PublishedApi},
    api_binding::{ApiBinding, ApiBindingSpec},
    api_class::{ApiClass, ApiClassSpec},
    approval::{Approval, ApprovalSpec, ApprovalStatus},
    build::{Build, BuildSpec, BuildStatus},
    cluster_data_plane::{ClusterDataPlane, ClusterDataPlaneSpec},
    component::{Component, ComponentSpec, ComponentStatus},
    component_release::{ComponentRelease, ComponentReleaseSpec, ComponentReleaseStatus},
    component_trait::{ClusterTrait, ClusterTraitSpec, Trait, TraitSpec, TraitStatus},
    component_type::{
        ClusterComponentType, ClusterComponentTypeSpec, ComponentType, ComponentTypeSpec,
        ComponentTypeStatus,
    },
    configuration_group::{ConfigurationGroup, ConfigurationGroupSpec},
    data_plane::{DataPlane, DataPlaneSpec, DataPlaneStatus},
    deployable_artifact::{DeployableArtifact, DeployableArtifactSpec},
    deployed_status::DeployedStatus,
    deployment::{Deployment, DeploymentSpec},
    deployment_pipeline::{DeploymentPipeline, DeploymentPipelineSpec, DeploymentPipelineStatus},
    deployment_track::{DeploymentTrack, DeploymentTrackSpec},
    endpoint::{Endpoint, EndpointSpec, EndpointStatus, EndpointTemplate},
    environment::{Environment, EnvironmentSpec, EnvironmentStatus},
    exposed_endpoint::BoundStatus,
    judged_status::JudgedStatus,
    organization::{Organization, OrganizationSpec, OrganizationStatus},
    problem::Problem,
    project::{Project, ProjectSpec, ProjectStatus},
    raw_object::RawObject,
    release::{Release, ReleaseSpec, ReleaseStatus},
    release_binding::{ReleaseBinding, ReleaseBindingSpec, ReleaseBindingStatus},
    scheduled_task::{ScheduledTask, ScheduledTaskSpec},
    scheduled_task_binding::{ScheduledTaskBinding, ScheduledTaskBindingSpec},
    scheduled_task_class::{ScheduledTaskClass, ScheduledTaskClassSpec},
    secret_reference::{SecretReference, SecretReferenceSpec, SecretReferenceStatus},
    service::{Service, ServiceSpec},
    service_binding::{ServiceBinding, ServiceBindingSpec},
    service_class::{ServiceClass, ServiceClassSpec},
    web_application::{WebApplication, WebApplicationSpec},
    web_application_binding::{WebApplicationBinding, WebApplicationBindingSpec},
    web_application_class::{WebApplicationClass, WebApplicationClassSpec},
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
        crd::of::<Approval>(),
        crd::of::<Endpoint>(),
        crd::of::<PublishedApi>(),
        crd::of::<ApiClass>(),
        crd::of::<ApiBinding>(),
        crd::of::<DeploymentTrack>(),
        crd::of::<DeployableArtifact>(),
        crd::of::<Deployment>(),
        crd::of::<ConfigurationGroup>(),
        crd::of::<Build>(),
        crd::of::<Service>(),
        crd::of::<WebApplication>(),
        crd::of::<ScheduledTask>(),
        crd::of::<ServiceClass>(),
        crd::of::<WebApplicationClass>(),
        crd::of::<ScheduledTaskClass>(),
        crd::of::<ServiceBinding>(),
        crd::of::<WebApplicationBinding>(),
        crd::of::<ScheduledTaskBinding>(),
    ]
}

/// [`crds`] as JSON documents, computed from the Rust types. That takes a while: whoever only needs the definitions
/// reads [`definitions`].
pub fn crd_documents() -> Vec<Value> {
    crds().iter().map(crd::document).collect()
}

/// The definitions of all kinds as they were generated into a file: a JSON document per line, with a spec as a server
/// stores it.
pub const DEFINITIONS: &str = include_str!("../definitions.jsonl");

/// [`DEFINITIONS`], read.
pub fn definitions() -> Vec<Value> {
    let document = |line| serde_json::from_str(line).expect("what is generated is JSON");
    DEFINITIONS.lines().map(document).collect()
}

#[cfg(test)]
mod tests;
