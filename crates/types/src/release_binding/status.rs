//! What was seen of a binding.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema;

/// What was seen of a binding.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReleaseBindingStatus {
    /// The generation that was last acted upon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// When the spec last changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::time")]
    pub last_spec_update_time: Option<Time>,
    /// How the binding is doing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::conditions")]
    pub conditions: Vec<Condition>,
    /// Where the component can be reached.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub endpoints: Vec<EndpointStatus>,
    /// The endpoints of others that it needs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub connection_targets: Vec<ConnectionTarget>,
    /// Those of them that were found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resolved_connections: Vec<ResolvedConnection>,
    /// Those of them that were not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pending_connections: Vec<PendingConnection>,
    /// The resources that it needs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resource_dependency_targets: Vec<ResourceDependencyTarget>,
    /// Those of them that were not found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pending_resource_dependencies: Vec<PendingResourceDependency>,
    /// The `SecretReferences` that it uses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secret_reference_names: Vec<String>,
    /// The component release that runs: the one that is asked for, or the one before while that is not let in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_release: Option<String>,
    /// What the Release was last rendered from: what is said here came of that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rendered_from: Option<String>,
    /// What ran when, the newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 50))]
    pub history: Vec<Ran>,
}

/// How many of what ran are remembered.
pub const LONGEST_HISTORY: usize = 50;

/// A component release that ran.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Ran {
    /// The component release.
    pub release_name: String,
    /// Since when.
    #[schemars(schema_with = "schema::time")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Time>,
    /// When it was first ready; nothing if it never was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::time")]
    pub ready_at: Option<Time>,
    /// Who asked for it, if they said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested_by: Option<String>,
    /// Who agreed, where somebody had to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved_by: Option<String>,
}

/// Where an endpoint can be reached.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EndpointStatus {
    /// The endpoint.
    pub name: String,
    /// What is spoken there.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// Who may reach it: `project`, `namespace`, `internal`, `external`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub visibility: Vec<String>,
    /// The port that its pods listen on, where it is another one than that of the address within the cluster. Network
    /// policies see this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_port: Option<i32>,
    /// Within the cluster.
    #[serde(rename = "serviceURL", skip_serializing_if = "Option::is_none")]
    pub service_url: Option<EndpointUrl>,
    /// The one address to tell people.
    #[serde(rename = "invokeURL", skip_serializing_if = "Option::is_none")]
    pub invoke_url: Option<String>,
    /// By the organization's gateway.
    #[serde(rename = "internalURLs", skip_serializing_if = "Option::is_none")]
    pub internal_urls: Option<EndpointUrls>,
    /// By the gateway to the world.
    #[serde(rename = "externalURLs", skip_serializing_if = "Option::is_none")]
    pub external_urls: Option<EndpointUrls>,
}

/// Addresses by a gateway's listeners.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EndpointUrls {
    /// In the clear.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http: Option<EndpointUrl>,
    /// Encrypted up to the gateway.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub https: Option<EndpointUrl>,
    /// Encrypted up to the workload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls: Option<EndpointUrl>,
}

/// An address in parts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EndpointUrl {
    /// How it starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheme: Option<String>,
    /// The host.
    #[schemars(length(min = 1))]
    pub host: String,
    /// The port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<i32>,
    /// The path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// An endpoint that is needed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConnectionTarget {
    /// The organization of the component.
    pub namespace: String,
    /// Its project.
    pub project: String,
    /// The component.
    pub component: String,
    /// The endpoint.
    pub endpoint: String,
    /// By which way it is reached.
    pub visibility: String,
    /// The environment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
    /// Whether it is not waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optional: Option<bool>,
}

/// An endpoint that is needed and was found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResolvedConnection {
    /// The organization of the component.
    pub namespace: String,
    /// Its project.
    pub project: String,
    /// The component.
    pub component: String,
    /// The endpoint.
    pub endpoint: String,
    /// By which way it is reached.
    pub visibility: String,
    /// Where it is.
    pub url: EndpointUrl,
    /// The port that its pods listen on, where it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_port: Option<i32>,
}

/// An endpoint that is needed and was not found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PendingConnection {
    /// The organization of the component.
    pub namespace: String,
    /// Its project.
    pub project: String,
    /// The component.
    pub component: String,
    /// The endpoint.
    pub endpoint: String,
    /// Why it was not found.
    pub reason: String,
}

/// A resource that is needed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResourceDependencyTarget {
    /// The organization of the resource.
    pub namespace: String,
    /// Its project.
    pub project: String,
    /// The resource.
    pub resource_name: String,
    /// The environment.
    pub environment: String,
}

/// A resource that is needed and was not found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PendingResourceDependency {
    /// The organization of the resource.
    pub namespace: String,
    /// Its project.
    pub project: String,
    /// The resource.
    pub resource_name: String,
    /// Why it was not found.
    pub reason: String,
}
