//! Where objects of the deployment system go, what they are called, and what labels they carry.

use quadrille_types::{labels::data_plane, names::generate};
use serde_json::{Map, Value, json};

/// Labels.
pub(super) type Labels = Map<String, Value>;

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
pub(super) struct Deployed<'a> {
    pub(super) organization: &'a str,
    pub(super) project: &'a str,
    pub(super) environment: &'a str,
    pub(super) component: &'a str,
    pub(super) component_type: &'a str,
    pub(super) track: &'a str,
    pub(super) deployment: &'a str,
}

/// Who is bound by a binding.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound<'a> {
    pub(super) organization: &'a str,
    pub(super) project: &'a str,
    pub(super) environment: &'a str,
    pub(super) component: &'a str,
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
    pub(super) fn of_binding(who: &Bound<'_>) -> Self {
        let labels = map([
            (data_plane::ORGANIZATION_NAME, who.organization),
            (data_plane::PROJECT_NAME, who.project),
            (data_plane::ENVIRONMENT_NAME, who.environment),
            (data_plane::COMPONENT_NAME, who.component),
        ]);
        let mut pods = labels.clone();
        pods.extend(map([(data_plane::BELONG_TO, data_plane::USER_WORKLOADS)]));
        Self {
            namespace: cell(who.organization, who.project, who.environment),
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
