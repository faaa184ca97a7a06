//! What the control plane holds of the platform's kinds.

use k8s_openapi::api::core::v1::Namespace;
use kube::Resource;
use quadrille_planes::PlaneName;
use quadrille_types::{DataPlane, DeploymentPipeline, Environment, Organization, Project};
use serde::de::DeserializeOwned;
use std::sync::Arc;

use super::step::{Found, Kind, Thing};
use crate::shelf::Shelf;

/// The objects of the platform's kinds.
#[derive(Default)]
pub(crate) struct Shelves {
    pub(crate) organizations: Shelf<Organization>,
    pub(crate) namespaces: Shelf<Namespace>,
    pub(crate) projects: Shelf<Project>,
    pub(crate) environments: Shelf<Environment>,
    pub(crate) planes: Shelf<DataPlane>,
    pub(crate) pipelines: Shelf<DeploymentPipeline>,
}

/// The plane that an environment is on: the one place where that is found out.
pub(crate) struct EnvironmentContext<'a> {
    /// The name of its plane.
    pub(crate) plane_name: PlaneName,
    /// Its plane, if there is one of that name.
    pub(crate) plane: Option<&'a Arc<DataPlane>>,
    /// The plane that something of it was put onto, whatever its spec says by now.
    pub(crate) used: Option<PlaneName>,
}

/// Why an environment cannot be told.
pub(crate) enum NoContext {
    /// There is none of that name.
    Missing,
    /// Its spec cannot be understood.
    Invalid(String),
}

impl Shelves {
    /// Whether everything was read.
    pub(crate) fn are_complete(&self) -> bool {
        self.projects.is_complete()
            && self.environments.is_complete()
            && self.planes.is_complete()
            && self.pipelines.is_complete()
    }

    /// The environment of a name, and its plane.
    pub(crate) fn environment(
        &self,
        namespace: &str,
        name: &str,
    ) -> Result<EnvironmentContext<'_>, NoContext> {
        let environment = self.environments.find(namespace, name);
        let environment = environment.ok_or(NoContext::Missing)?;
        let plane_name = plane_of(environment).map_err(NoContext::Invalid)?;
        Ok(EnvironmentContext {
            plane: self.planes.find(namespace, &plane_name.name),
            plane_name,
            used: used_plane(environment),
        })
    }

    /// Environments on a plane: by what they ask for, or by what was put there for them.
    pub(crate) fn environments_on(&self, plane: &PlaneName) -> Vec<Found> {
        let mut environments: Vec<Found> = self
            .environments
            .within(&plane.namespace)
            .filter(|environment| {
                plane_of(environment).is_ok_and(|name| name == *plane)
                    || used_plane(environment).is_some_and(|name| name == *plane)
            })
            .map(|environment| Found::of(Kind::Environment, &**environment))
            .collect();
        environments.sort_by(|one, other| one.thing.cmp(&other.thing));
        environments
    }

    /// Environments that were used on a plane that is about to go without them, and that have not noted so yet.
    pub(crate) fn unaware(&self, plane: &PlaneName) -> usize {
        self.environments
            .within(&plane.namespace)
            .filter(|one| used_plane(one).is_some_and(|name| name == *plane) && !is_left(one))
            .count()
    }

    /// Everything that a change within a namespace may concern.
    pub(crate) fn around(&self, namespace: &str) -> Vec<Thing> {
        let mut things = self.everything();
        things.retain(|thing| {
            // An organization and its namespace have the same name.
            let space = match thing.kind {
                Kind::Organization => &thing.key.name,
                _ => &thing.key.namespace,
            };
            **space == *namespace
        });
        things
    }

    /// Everything that is looked after.
    pub(crate) fn everything(&self) -> Vec<Thing> {
        let organizations = self
            .organizations
            .keys()
            .map(|key| (Kind::Organization, key));
        let projects = self.projects.keys().map(|key| (Kind::Project, key));
        let environments = self.environments.keys().map(|key| (Kind::Environment, key));
        let pipelines = self
            .pipelines
            .keys()
            .map(|key| (Kind::DeploymentPipeline, key));
        organizations
            .chain(projects)
            .chain(environments)
            .chain(pipelines)
            .map(|(kind, key)| Thing {
                kind,
                key: key.clone(),
            })
            .collect()
    }
}

/// The plane that something of an environment was put onto, whatever its spec says by now.
pub(crate) fn used_plane(environment: &Environment) -> Option<PlaneName> {
    let status = environment.status.as_ref()?;
    let written = status.data_plane.as_deref()?;
    let name = written.strip_prefix(REFERENCE)?;
    (status.used == Some(true)).then(|| PlaneName {
        namespace: environment.metadata.namespace.clone().unwrap_or_default(),
        name: name.to_owned(),
    })
}

/// Whether an environment has noted that the plane it was used on was given up for good.
pub(crate) fn is_left(environment: &Environment) -> bool {
    let status = environment.status.as_ref();
    status.is_some_and(|status| status.abandoned == Some(true))
}

/// What an environment writes down before the name of its plane.
pub(crate) const REFERENCE: &str = "DataPlane/";

/// The plane that an environment asks for, or why nobody can tell.
pub(crate) fn plane_of(environment: &Environment) -> Result<PlaneName, String> {
    let resolved = environment
        .spec
        .resolve()
        .map_err(|problem| problem.to_string())?;
    let name = match resolved.data_plane {
        None => "default".to_owned(),
        Some(reference) if reference.kind == "DataPlane" => reference.name,
        Some(reference) => {
            return Err(format!(
                "spec.dataPlaneRef.kind: {} is not served yet: use a DataPlane of the same namespace",
                reference.kind
            ));
        }
    };
    Ok(PlaneName {
        namespace: environment.metadata.namespace.clone().unwrap_or_default(),
        name,
    })
}

impl<K: Resource<DynamicType = ()> + DeserializeOwned> Shelf<K> {
    /// The objects of a namespace, in order of their names.
    pub(crate) fn found(&self, kind: Kind, namespace: &str) -> Vec<Found> {
        let mut found: Vec<Found> = self
            .within(namespace)
            .map(|object| Found::of(kind, &**object))
            .collect();
        found.sort_by(|one, other| one.thing.cmp(&other.thing));
        found
    }
}
