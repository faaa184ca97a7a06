//! What a workload needs of others.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    names::{ComponentName, ProjectName},
    schema,
    workload::ExternalDependency,
};

/// What a workload needs of other components, of resources, and of the world.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Dependencies {
    /// Endpoints of other components.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 50))]
    pub endpoints: Vec<EndpointDependency>,
    /// Resources: databases, queues …
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 50),
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["ref"])
    )]
    pub resources: Vec<ResourceDependency>,
    /// What lies outside of the cluster: hosts and ranges of addresses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 50))]
    pub external: Vec<ExternalDependency>,
}

/// An endpoint of another component.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EndpointDependency {
    /// The organization of the component; the own one where nothing is said. Another one's endpoints are reached by
    /// gateways only: their visibility is `internal` or `external`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub namespace: Option<String>,
    /// The project of the component; the own one where nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectName>,
    /// The component.
    pub component: ComponentName,
    /// The name of the endpoint.
    #[schemars(length(min = 1))]
    pub name: String,
    /// By which way it is reached.
    #[schemars(extend("enum" = ["project", "namespace", "internal", "external"]))]
    pub visibility: String,
    /// Which environment variables tell the address.
    pub env_bindings: EnvBindings,
    /// Whether the workload may start although nobody offers the endpoint yet; its variables are missing then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optional: Option<bool>,
}

/// Environment variables that tell the address of an endpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EnvBindings {
    /// For the whole address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// For the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// For the port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<String>,
    /// For the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_path: Option<String>,
}

/// A resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = schema::rules(&[
    (
        "!has(self.envBindings) || self.envBindings.all(output, output != '' && self.envBindings[output] != '')",
        "names in envBindings cannot be empty",
    ),
    (
        "!has(self.fileBindings) || self.fileBindings.all(output, output != '' && self.fileBindings[output] != '')",
        "names in fileBindings cannot be empty",
    ),
])))]
pub struct ResourceDependency {
    /// The name of the resource.
    #[serde(rename = "ref")]
    #[schemars(length(min = 1, max = 253))]
    pub reference: String,
    /// Which environment variable gets which output.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 50))]
    pub env_bindings: BTreeMap<String, String>,
    /// Where the file with which output goes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 50))]
    pub file_bindings: BTreeMap<String, String>,
}

/// An API of another component, in the older form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OlderConnection {
    /// Always `api`.
    #[serde(rename = "type")]
    #[schemars(extend("enum" = ["api"]))]
    pub kind: String,
    /// `componentName`, `endpoint` and `projectName`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, String>,
    /// What the workload is told.
    pub inject: Injection,
}

/// What a workload is told of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Injection {
    /// Environment variables.
    pub env: Vec<InjectedEnv>,
}

/// An environment variable about a connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InjectedEnv {
    /// Its name.
    pub name: String,
    /// Its value, with `{{ .host }}`, `{{ .port }}`, `{{ .scheme }}`, `{{ .basePath }}` and `{{ .url }}` in it.
    pub value: String,
}
