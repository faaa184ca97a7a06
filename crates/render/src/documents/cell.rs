//! The cells of documents.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use quadrille_types::{DataPlaneSpec, EnvironmentSpec};

use super::{DocumentError, Documents};
use crate::{
    cell::{self, Asked, CellInputs},
    error::RenderError,
    inputs::Named,
    plan::Planned,
};

impl Documents {
    /// The cell of a project in an environment.
    pub fn cell(&self, project: &str, environment: &str) -> Result<Vec<Planned>, DocumentError> {
        let failed = |error| DocumentError::Cell {
            project: project.to_owned(),
            environment: environment.to_owned(),
            error,
        };
        let owner = self.projects.get(project).map(|found| &found.metadata);
        let stage = self.environments.get(environment);
        let no_stage = EnvironmentSpec::default();
        let wanted = stage.map_or(&no_stage, |stage| &stage.spec).resolve();
        let wanted = wanted.map_err(|problem| {
            failed(RenderError::field(
                format!("Environment {environment}"),
                problem,
            ))
        })?;
        let no_plane = (ObjectMeta::default(), DataPlaneSpec::default());
        let (_, (plane, plane_spec)) =
            self.plane(wanted.data_plane.as_ref(), environment, &no_plane)?;
        let stage = stage.map(|stage| &stage.metadata);
        let asked = Asked::read(
            annotations(owner),
            annotations(stage),
            annotations(Some(plane)),
        )
        .map_err(failed)?;
        let organization = owner.and_then(|owner| owner.namespace.as_deref());
        let inputs = CellInputs {
            organization: organization.unwrap_or("default"),
            project: named(project, owner),
            environment: named(environment, stage),
            asked: &asked,
            plane_spec,
            plane_annotations: annotations(Some(plane)),
            runs_older: false,
        };
        Ok(cell::plan(&inputs))
    }
}

fn named<'a>(name: &'a str, metadata: Option<&'a ObjectMeta>) -> Named<'a> {
    let uid = metadata.and_then(|metadata| metadata.uid.as_deref());
    Named {
        name,
        uid: uid.unwrap_or_default(),
    }
}

/// The annotations of an object; none where there is no object.
pub(super) fn annotations(metadata: Option<&ObjectMeta>) -> &BTreeMap<String, String> {
    static NONE: BTreeMap<String, String> = BTreeMap::new();
    metadata
        .and_then(|metadata| metadata.annotations.as_ref())
        .unwrap_or(&NONE)
}
