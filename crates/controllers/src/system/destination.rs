//! Where a binding goes: its environment, and the plane of that.

use std::sync::Arc;

use kube::ResourceExt as _;
use quadrille_render::deployment_system::{Plane, Stage, Whose};
use quadrille_types::{DataPlane, Environment, conditions::Reason, workload::WorkloadOwner};

use super::hierarchy::Problem;
use crate::{
    chain::{inputs::plane, shelves::name},
    releases::Inner,
};

/// An environment with its plane.
pub(super) struct Destination {
    pub(super) environment: Arc<Environment>,
    pub(super) plane: Arc<DataPlane>,
}

impl Destination {
    /// The environment of a name; `field` is where that is written.
    pub(super) fn of(
        world: &Inner,
        here: &str,
        environment: &str,
        field: &str,
    ) -> Result<Self, Problem> {
        let found = world.shelves.environments.find(here, environment);
        let found = found.ok_or_else(|| {
            let words = format!(
                "{field}: there is no Environment {environment:?} in namespace {here:?}: create it, or name another"
            );
            (Reason::EnvironmentNotFound, words)
        })?;
        let plane = plane(&world.shelves, here, environment)
            .map_err(|words| (Reason::DataPlaneNotFound, words))?;
        Ok(Self {
            environment: Arc::clone(found),
            plane,
        })
    }

    /// The environment, as it is rendered for.
    pub(super) fn stage(&self) -> Stage<'_> {
        Stage {
            name: name(&*self.environment),
            spec: &self.environment.spec,
        }
    }

    /// The plane, as it is rendered for.
    pub(super) fn plane(&self) -> Plane<'_> {
        Plane {
            name: name(&*self.plane),
            spec: &self.plane.spec,
            annotations: self.plane.annotations(),
        }
    }
}

/// Whose a binding is, as it is rendered.
pub(super) fn whose<'a>(organization: &'a str, owner: &'a WorkloadOwner) -> Whose<'a> {
    Whose {
        organization,
        project: owner.project_name.as_str(),
        component: owner.component_name.as_str(),
    }
}

/// What is said where there is no project of a name.
pub(super) fn no_project(here: &str, owner: &WorkloadOwner) -> Problem {
    let project = &owner.project_name;
    let words = format!(
        "spec.owner.projectName: there is no Project \"{project}\" in namespace {here:?}: create it, or name another"
    );
    (Reason::ProjectNotFound, words)
}
