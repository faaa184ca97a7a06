//! Where objects of the deployment system go, what they are called, and what labels they carry.

use quadrille_types::{labels::data_plane, names::generate};
use serde_json::{Map, Value, json};

use super::{Plane, Stage, runs};
use crate::routes;

/// Labels.
pub type Labels = Map<String, Value>;

/// Where objects go, and their labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The cell.
    pub(super) namespace: String,
    /// On every object.
    pub(super) labels: Labels,
    /// What pods are selected by.
    pub(super) selector: Labels,
    /// On pods.
    pub(super) pods: Labels,
}

/// Who is deployed by a Deployment: logical names.
#[derive(Clone, Copy, Debug)]
pub struct Deployed<'a> {
    /// The organization.
    pub organization: &'a str,
    /// The project.
    pub project: &'a str,
    /// The environment.
    pub environment: &'a str,
    /// The component.
    pub component: &'a str,
    /// What kind of component it is, by the older word.
    pub component_type: &'a str,
    /// The track.
    pub track: &'a str,
    /// The Deployment.
    pub deployment: &'a str,
}

/// Whose something is: names of the objects.
#[derive(Clone, Copy, Debug)]
pub struct Whose<'a> {
    /// The organization.
    pub organization: &'a str,
    /// The project.
    pub project: &'a str,
    /// The component.
    pub component: &'a str,
}

fn map<const N: usize>(labels: [(&str, &str); N]) -> Labels {
    labels
        .into_iter()
        .map(|(key, value)| (key.to_owned(), Value::from(value)))
        .collect()
}

fn cell(organization: &str, project: &str, environment: &str) -> String {
    generate::cell_namespace(&organization.into(), &project.into(), &environment.into())
}

/// Where the pods of a Deployment or a binding answer: what routes to it are made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ground {
    /// The cell.
    pub namespace: String,
    /// On every object, and what pods are selected by.
    pub labels: Labels,
    /// The Service before them.
    pub service: String,
}

impl Ground {
    /// The ground of a Deployment. `component` and `track` are the names of the objects, which objects are called after.
    pub fn of_deployment(who: &Deployed<'_>, component: &str, track: &str) -> Self {
        let place = Place::of_deployment(who);
        Self {
            namespace: place.namespace,
            labels: place.labels,
            service: runs::service_name(&[component, track]),
        }
    }

    /// The ground of a binding.
    pub fn of_binding(whose: &Whose<'_>, environment: &str, binding: &str) -> Self {
        let place = Place::of_binding(whose, environment);
        Self {
            namespace: place.namespace,
            labels: place.selector,
            service: runs::service_name(&[binding]),
        }
    }

    /// Where routes lead.
    pub fn place<'a>(
        &'a self,
        whose: Whose<'a>,
        stage: Stage<'a>,
        plane: Plane<'a>,
    ) -> routes::Place<'a> {
        routes::Place {
            organization: whose.organization,
            project: whose.project,
            component: whose.component,
            environment: stage.name,
            environment_spec: stage.spec,
            plane: plane.name,
            plane_spec: plane.spec,
            plane_annotations: plane.annotations,
            namespace: &self.namespace,
            labels: &self.labels,
            pods: &self.labels,
            service: &self.service,
        }
    }
}

impl Place {
    /// The place of a Deployment. Pods are selected by all labels, the deployment's name included: that is what runs
    /// already has, and a selector cannot change. Another Deployment of the same track is refused, not merged.
    pub(super) fn of_deployment(who: &Deployed<'_>) -> Self {
        let labels = map([
            (data_plane::ORGANIZATION_NAME, who.organization),
            (data_plane::PROJECT_NAME, who.project),
            (data_plane::ENVIRONMENT_NAME, who.environment),
            (data_plane::MANAGED_BY, data_plane::DEPLOYMENT_CONTROLLER),
            (data_plane::BELONG_TO, data_plane::USER_WORKLOADS),
            (data_plane::COMPONENT_NAME, who.component),
            (data_plane::COMPONENT_TYPE, who.component_type),
            (data_plane::DEPLOYMENT_TRACK_NAME, who.track),
            (data_plane::DEPLOYMENT_NAME, who.deployment),
        ]);
        Self {
            namespace: cell(who.organization, who.project, who.environment),
            selector: labels.clone(),
            pods: labels.clone(),
            labels,
        }
    }

    /// The place of a binding. Its pods say beyond what selects them that they are somebody's workload: by that word the
    /// policies of the cell and of the plane know them.
    pub(super) fn of_binding(whose: &Whose<'_>, environment: &str) -> Self {
        let labels = map([
            (data_plane::ORGANIZATION_NAME, whose.organization),
            (data_plane::PROJECT_NAME, whose.project),
            (data_plane::ENVIRONMENT_NAME, environment),
            (data_plane::COMPONENT_NAME, whose.component),
        ]);
        let mut pods = labels.clone();
        pods.extend(map([(data_plane::BELONG_TO, data_plane::USER_WORKLOADS)]));
        Self {
            namespace: cell(whose.organization, whose.project, environment),
            selector: labels.clone(),
            pods,
            labels,
        }
    }

    /// The metadata of an object here.
    pub(super) fn metadata(&self, name: &str) -> Value {
        json!({ "name": name, "namespace": self.namespace, "labels": self.labels })
    }
}
