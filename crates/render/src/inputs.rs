//! What is rendered from: everything, fetched beforehand.

use std::collections::BTreeMap;

use quadrille_types::{
    DataPlaneSpec, EnvironmentSpec, ReleaseBindingSpec, SecretReferenceSpec,
    release_binding::ResolvedConnection, workload::KeyRef,
};

/// Everything that a component in an environment is rendered from.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// The organization: the namespace of the component in the control plane.
    pub organization: &'a str,
    /// The project.
    pub project: Named<'a>,
    /// The component.
    pub component: Named<'a>,
    /// What is said for this environment.
    pub binding: &'a ReleaseBindingSpec,
    /// The environment.
    pub environment: Named<'a>,
    /// What is asked of it.
    pub environment_spec: &'a EnvironmentSpec,
    /// The data plane of the environment.
    pub plane: Named<'a>,
    /// What is asked of it.
    pub plane_spec: &'a DataPlaneSpec,
    /// The annotations of the data plane.
    pub plane_annotations: &'a BTreeMap<String, String>,
    /// Whether only what is declared may leave the cell; [`crate::cell::Asked`] says so.
    pub enforces_egress: bool,
    /// The references to secrets of the organization, by name: at least those that are used.
    pub secrets: &'a BTreeMap<String, SecretReferenceSpec>,
    /// The endpoints of others that were found.
    pub connections: &'a [ResolvedConnection],
    /// The resources that were found.
    pub resources: &'a [ResolvedResource],
    /// Where alerts of the environment go, if nothing else is said.
    pub notification_channel: Option<&'a str>,
    /// When somebody last asked for a restart, as they wrote it.
    pub restarted_at: Option<&'a str>,
}

/// An object by its name and uid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its uid; empty where there is no cluster that gave it one.
    pub uid: &'a str,
}

/// A resource that is needed and was found, with what it offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedResource {
    /// The name of the resource.
    pub reference: String,
    /// What it offers, by name.
    pub outputs: BTreeMap<String, Output>,
}

/// What a resource offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Text for everybody to see.
    Value(String),
    /// One key of a Secret in the cell.
    SecretKey(KeyRef),
    /// One key of a `ConfigMap` in the cell.
    ConfigMapKey(KeyRef),
}
