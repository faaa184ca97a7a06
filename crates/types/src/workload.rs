//! `Workload`: the image that a component runs, what it listens on, and what it needs.
//!
//! One generation has a map of containers and of connections, the other one container and a list of
//! dependencies. Both end in [`Resolved`].

mod container;
mod dependency;
mod endpoint;
mod external;
mod resolve;

use std::collections::BTreeMap;

pub(crate) use container::ONE_VALUE;
pub use container::{Container, EnvVar, FileVar, KeyRef, ValueSource};
pub use dependency::{
    Dependencies, EndpointDependency, EnvBindings, InjectedEnv, Injection, OlderConnection,
    ResourceDependency,
};
pub use endpoint::{Endpoint, EndpointSchema, EndpointType, Visibility};
pub use external::{ExternalDependency, ExternalPort, Outside, Place};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
pub use resolve::{
    Connection, ConnectionPart, EndpointPort, Resolved, ResolvedContainer, Setting, SettingFile,
    Source,
};
pub(crate) use resolve::{files, settings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    names::{ComponentName, ProjectName},
    schema,
};

/// What is asked of a workload.
#[derive(CustomResource, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "openchoreo.dev",
    version = "v1alpha1",
    kind = "Workload",
    plural = "workloads",
    namespaced,
    category = "openchoreo",
    status = "WorkloadStatus",
    derive = "PartialEq",
    doc = "The image that a component runs, what it listens on, and what it needs.",
    selectable = ".spec.owner.projectName",
    selectable = ".spec.owner.componentName",
    printcolumn(
        name = "Project",
        type_ = "string",
        json_path = ".spec.owner.projectName"
    ),
    printcolumn(
        name = "Component",
        type_ = "string",
        json_path = ".spec.owner.componentName"
    ),
    printcolumn(
        name = "Image",
        type_ = "string",
        json_path = ".spec.container.image",
        priority = 1
    )
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = schema::rules(&TEMPLATE_RULES)))]
pub struct WorkloadSpec {
    /// Whose workload it is; cannot change.
    pub owner: WorkloadOwner,
    /// What runs.
    #[serde(flatten)]
    pub template: WorkloadTemplate,
}

const TEMPLATE_RULES: [(&str, &str); 2] = [
    (
        "!has(self.container) || !has(self.containers)",
        "give container, or the older containers, not both",
    ),
    (
        "!has(self.dependencies) || !has(self.connections)",
        "give dependencies, or the older connections, not both",
    ),
];

/// Whose workload it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = schema::rules(&[("self == oldSelf", "owner is immutable; make another object")])))]
pub struct WorkloadOwner {
    /// The project.
    pub project_name: ProjectName,
    /// The component.
    pub component_name: ComponentName,
}

/// What runs: the part of a workload that snapshots keep.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = schema::rules(&TEMPLATE_RULES)))]
pub struct WorkloadTemplate {
    /// The container.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<Container>,
    /// The container by its name, in the older form.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 16))]
    pub containers: BTreeMap<String, Container>,
    /// What it listens on, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 100))]
    pub endpoints: BTreeMap<String, Endpoint>,
    /// What it needs of other components and of resources.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dependencies: Option<Dependencies>,
    /// What it needs of other components by name, in the older form.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub connections: BTreeMap<String, OlderConnection>,
}

/// What was seen of a workload.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkloadStatus {
    /// The generation that was last acted upon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// How the workload is doing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::conditions")]
    pub conditions: Vec<Condition>,
}
