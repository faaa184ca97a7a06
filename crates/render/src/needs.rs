//! What has to be fetched before a snapshot can be rendered for an environment.

use std::collections::BTreeMap;

use quadrille_types::{
    ReleaseBindingSpec,
    release_binding::{ConnectionTarget, ResourceDependencyTarget},
};

use crate::{
    dependencies::{connection_targets, resource_targets},
    error::RenderError,
    prepared::{Prepared, container, secret_references},
};

/// What a snapshot needs in an environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// `SecretReferences`, by name.
    pub secrets: Vec<String>,
    /// Endpoints of other components without which it does not start.
    pub connections: Vec<ConnectionTarget>,
    /// Endpoints of other components without which it does.
    pub optional_connections: Vec<ConnectionTarget>,
    /// Resources.
    pub resources: Vec<ResourceDependencyTarget>,
    /// Who may reach its own endpoints, by name.
    pub visibility: BTreeMap<String, Vec<String>>,
}

/// What a snapshot needs with the settings of a binding.
pub fn needs(
    prepared: &Prepared,
    binding: &ReleaseBindingSpec,
    organization: &str,
) -> Result<Needs, RenderError> {
    let mut workload = prepared.workload.clone();
    let secrets = secret_references(&*container(&workload, binding)?);
    let project = binding.owner.project_name.as_str();
    let environment = binding.environment.as_str();
    let targets = |workload: &quadrille_types::workload::Resolved| {
        connection_targets(workload, organization, project, environment)
    };
    let (optional, needed): (Vec<_>, Vec<_>) = std::mem::take(&mut workload.connections)
        .into_iter()
        .partition(|connection| connection.is_optional);
    workload.connections = optional;
    let optional_connections = targets(&workload);
    workload.connections = needed;
    let visibility = workload.endpoints.iter().map(|(name, endpoint)| {
        let seen = endpoint.visibility.iter();
        (
            name.clone(),
            seen.map(|one| one.as_str().to_owned()).collect(),
        )
    });
    Ok(Needs {
        secrets,
        connections: targets(&workload),
        optional_connections,
        resources: resource_targets(&workload, organization, project, environment),
        visibility: visibility.collect(),
    })
}
