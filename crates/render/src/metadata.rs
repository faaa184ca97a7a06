//! Who and where a rendered component is: names, labels, the variable `metadata`.

use std::collections::BTreeMap;

use quadrille_types::{
    labels::{hierarchy, uids},
    names::generate,
};
use serde_json::{Value, json};

use crate::inputs::Inputs;

/// Who and where a rendered component is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Metadata {
    /// The name of what runs.
    pub(crate) name: String,
    /// The cell: its namespace in the data plane.
    pub(crate) namespace: String,
    /// On every object; its pods are selected by the same.
    pub(crate) labels: BTreeMap<&'static str, String>,
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
            labels: labels.map(|(key, value)| (key, value.to_owned())).into(),
        }
    }

    /// The variable `metadata`.
    pub(crate) fn variable(&self, inputs: &Inputs<'_>) -> Value {
        json!({
            "name": self.name,
            "namespace": self.namespace,
            "componentNamespace": inputs.organization,
            "componentName": inputs.component.name,
            "componentUID": inputs.component.uid,
            "projectName": inputs.project.name,
            "projectUID": inputs.project.uid,
            "dataPlaneName": inputs.plane.name,
            "dataPlaneUID": inputs.plane.uid,
            "environmentName": inputs.environment.name,
            "environmentUID": inputs.environment.uid,
            "labels": self.labels,
            "annotations": {},
            "podSelectors": self.labels,
        })
    }
}
