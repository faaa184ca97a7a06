//! `Endpoint`: what of a deployment is reached from beyond its project, by whom, and under which rules.
//!
//! Deployments make them from the templates of their artifact ([`EndpointTemplate`]); an endpoint is exposed to whom its
//! visibilities name, and to nobody where they name nobody.

mod policy;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta};
use kube::CustomResource;
pub use policy::{
    ApiKeyAuth, Authorization, AuthorizedApi, BasicAuth, BasicAuthUser, ClaimToHeader, Cors,
    EndpointPolicy, GraphQlAuthorization, GraphQlOperation, GrpcAuthorization, GrpcMethod,
    GrpcOperation, HttpMethod, Jwt, JwtClaim, KeySource, OAuth2, OperationRateLimit,
    OperationRateLimits, PolicySpec, RateLimit, RateLimits, RestAuthorization, RestOperation,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{schema, words::written_words, workload::EndpointType};

/// What is asked of an endpoint.
#[derive(CustomResource, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "openchoreo.dev",
    version = "v1alpha1",
    kind = "Endpoint",
    plural = "endpoints",
    namespaced,
    category = "openchoreo",
    status = "EndpointStatus",
    derive = "PartialEq",
    doc = "What of a deployment is reached from beyond its project, by whom, and under which rules.",
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    ),
    printcolumn(name = "Address", type_ = "string", json_path = ".status.address"),
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Ready')].status"
    ),
    printcolumn(
        name = "Type",
        type_ = "string",
        json_path = ".spec.type",
        priority = 1
    )
)]
#[serde(rename_all = "camelCase")]
pub struct EndpointSpec {
    /// What is spoken there.
    #[serde(rename = "type")]
    pub protocol: EndpointType,
    /// What answers.
    pub backend_ref: BackendRef,
    /// Who may reach it, beyond the project itself; nobody where nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_visibilities: Option<NetworkVisibilities>,
}

/// An endpoint that a deployment makes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EndpointTemplate {
    /// Its name, labels and annotations.
    #[schemars(schema_with = "schema::any_object")]
    pub metadata: ObjectMeta,
    /// What is asked of it.
    pub spec: EndpointSpec,
}

written_words! {
    /// What kind of thing answers.
    BackendKind {
        /// The pods of the endpoint's own deployment.
        Component = "componentRef",
        /// Something elsewhere.
        Target = "target",
    }
}

/// What answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = schema::rules(&[
    (
        "self.type != 'componentRef' || has(self.componentRef)",
        "type componentRef needs componentRef.port: the port that the component listens on",
    ),
    (
        "self.type != 'target' || has(self.target)",
        "type target needs target.url: where the endpoint leads to",
    ),
])))]
pub struct BackendRef {
    /// The path that its own addresses start with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_path: Option<String>,
    /// What kind of thing it is.
    #[serde(rename = "type")]
    pub kind: BackendKind,
    /// The pods of the endpoint's own deployment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub component_ref: Option<ComponentBackend>,
    /// Something elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<TargetBackend>,
}

/// The pods of the endpoint's own deployment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComponentBackend {
    /// The port that they listen on.
    #[schemars(range(min = 1, max = 65535))]
    pub port: i32,
}

/// Something elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TargetBackend {
    /// Where it is.
    pub url: String,
}

/// Who may reach an endpoint, beyond the project itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NetworkVisibilities {
    /// Whoever comes by the organization's gateway.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub organization: Option<VisibilitySpec>,
    /// The world.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public: Option<VisibilitySpec>,
}

/// Whether somebody may reach an endpoint, and under which rules.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VisibilitySpec {
    /// Whether they may at all.
    pub enable: bool,
    /// The rules.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    pub policies: Vec<EndpointPolicy>,
}

/// What was seen of an endpoint.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EndpointStatus {
    /// The generation that was last acted upon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// How the endpoint is doing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::conditions")]
    pub conditions: Vec<Condition>,
    /// Where it is reached from furthest away: by the world, or else by the organization.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Where it is reached, by whom.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub urls: Option<EndpointAddresses>,
}

/// Where an endpoint is reached, by whom.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EndpointAddresses {
    /// By whoever comes by the organization's gateway.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub organization: Option<String>,
    /// By the world.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public: Option<String>,
}
