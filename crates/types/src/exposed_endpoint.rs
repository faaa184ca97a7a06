//! Where endpoints of a class's binding are reached, as its status tells.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{release_binding::Ran, schema, workload::EndpointType};

/// What was seen of the binding of a service or web application.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BoundStatus {
    /// The generation that was last acted upon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// How the binding is doing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::conditions")]
    pub conditions: Vec<Condition>,
    /// Where it is reached.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub endpoints: Vec<ExposedEndpoint>,
    /// What is asked for: what people agree to by this name is exactly this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested_release: Option<String>,
    /// What runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_release: Option<String>,
    /// What ran when, the latest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 50))]
    pub history: Vec<Ran>,
}

/// An endpoint, and where it is reached by whom.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExposedEndpoint {
    /// Its name.
    pub name: String,
    /// What is spoken there.
    #[serde(rename = "type")]
    pub protocol: EndpointType,
    /// From within the cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<EndpointAccess>,
    /// By the organization's gateway.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub organization: Option<EndpointAccess>,
    /// By the gateway to the world.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public: Option<EndpointAccess>,
}

/// Where an endpoint is reached.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EndpointAccess {
    /// The host.
    pub host: String,
    /// The port.
    pub port: i32,
    /// How its address starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheme: Option<String>,
    /// The path that its addresses start with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_path: Option<String>,
    /// The whole address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
}
