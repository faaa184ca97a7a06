//! Who and where a rendered component is: names and labels.

use quadrille_types::{
    labels::{hierarchy, uids},
    names::generate,
};
use serde_json::{Map, Value};

use crate::inputs::Inputs;

/// Who and where a rendered component is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Metadata {
    /// The name of what runs.
    pub(crate) name: String,
    /// The cell: its namespace in the data plane.
    pub(crate) namespace: String,
    /// On every object; its pods are selected by the same.
    pub(crate) labels: Map<String, Value>,
}

impl Metadata {
    pub(crate) fn of(inputs: &Inputs<'_>) -> Self {
        let (component, environment) = (inputs.component, inputs.environment);
        let labels = [
            (hierarchy::NAMESPACE, inputs.organization),
            (hierarchy::PROJECT, inputs.project.name),
            (hierarchy::COMPONENT, component.name),
            (hierarchy::ENVIRONMENT, environment.name),
            (uids::COMPONENT, component.uid),
            (uids::ENVIRONMENT, environment.uid),
            (uids::PROJECT, inputs.project.uid),
        ];
        Self {
            name: generate::name(&[component.name, environment.name]),
            namespace: generate::cell_namespace(
                &inputs.organization.into(),
                &inputs.project.name.into(),
                &environment.name.into(),
            ),
            labels: labels
                .map(|(key, value)| (key.to_owned(), Value::from(value)))
                .into_iter()
                .collect(),
        }
    }
}
