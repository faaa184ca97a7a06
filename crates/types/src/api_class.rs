//! `APIClass`: the rules that APIs are offered under, to the organization and to the world.

use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{judged_status::JudgedStatus, optional_spec::optional_spec};

/// What is asked of a class.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "openchoreo.dev",
    version = "v1alpha1",
    kind = "APIClass",
    root = "ApiClass",
    plural = "apiclasses",
    namespaced,
    category = "openchoreo",
    status = "JudgedStatus",
    derive = "PartialEq",
    derive = "Default",
    doc = "The rules that APIs are offered under, to the organization and to the world."
)]
#[serde(rename_all = "camelCase", remote = "Self")]
pub struct ApiClassSpec {
    /// The rules for `REST`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rest_policy: Option<RestPolicies>,
    /// The rules for gRPC; there are none yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grpc_policy: Option<GrpcPolicies>,
}

optional_spec!(ApiClassSpec);

/// The rules for `REST`, by whom they are for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RestPolicies {
    /// For everybody.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub defaults: Option<RestPolicy>,
    /// For the world, over those for everybody.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public: Option<RestPolicy>,
    /// For the organization, over those for everybody.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub organization: Option<RestPolicy>,
}

/// The rules for gRPC.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GrpcPolicies {}

/// Rules for `REST`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RestPolicy {
    /// How often callers may come.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_limit: Option<ClassRateLimit>,
    /// Who callers must be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authentication: Option<Authentication>,
    /// From which pages callers may come.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cors: Option<ClassCors>,
    /// Where callers may come from, and how.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub security: Option<Security>,
    /// What is changed about requests and answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mediation: Option<Mediation>,
    /// When the backend is spared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub circuit_breaker: Option<CircuitBreaker>,
}

/// How often callers may come.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClassRateLimit {
    /// How often within the window.
    pub requests: i64,
    /// How long the window is, such as `30s`, `1m` or `1h`.
    pub window: String,
}

/// Who callers must be: the part that `type` names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Authentication {
    /// `jwt`, `apikey`, `oauth2` or `basic`. Names and passwords are in the Secret `<class>-basic-auth` of the cell, as an
    /// `.htpasswd` file.
    #[serde(rename = "type")]
    pub kind: String,
    /// Callers have a token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jwt: Option<JwtAuthentication>,
    /// Callers have a key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub apikey: Option<ApiKeyAuthentication>,
    /// Callers have a token that allows something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oauth2: Option<OAuth2Authentication>,
}

/// Callers have a token.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JwtAuthentication {
    /// Where the key set is that tokens are checked with.
    pub jwks: String,
    /// Who must have issued them.
    pub issuer: String,
    /// Whom they must be for: one of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub audience: Vec<String>,
}

/// Callers have a key. The keys are in the Secret `<class>-api-keys` of the cell: every entry is a client and its key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApiKeyAuthentication {
    /// The header that they send it in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// The query parameter that they send it in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query_param: Option<String>,
}

/// Callers have a token that allows something.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OAuth2Authentication {
    /// Where tokens are got.
    pub token_url: String,
    /// What a token must allow: all of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
}

/// From which pages callers may come.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClassCors {
    /// The pages' origins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow_origins: Vec<String>,
    /// The methods that their scripts may use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow_methods: Vec<String>,
    /// The headers that their scripts may send.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow_headers: Vec<String>,
    /// The headers that their scripts may read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expose_headers: Vec<String>,
    /// For how many seconds a browser may remember all this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_age: Option<i64>,
}

/// Where callers may come from, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Security {
    /// Addresses that may come; anybody where there are none.
    #[serde(rename = "allowedIPs", default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_ips: Vec<String>,
    /// Addresses that may not come, whatever else is said.
    #[serde(rename = "blockedIPs", default, skip_serializing_if = "Vec::is_empty")]
    pub blocked_ips: Vec<String>,
    /// Whether they must come encrypted.
    #[serde(rename = "requireTLS", skip_serializing_if = "Option::is_none")]
    pub require_tls: Option<bool>,
    /// The oldest encryption that they may come with.
    #[serde(rename = "minTLSVersion", skip_serializing_if = "Option::is_none")]
    pub min_tls_version: Option<String>,
}

/// What is changed about requests and answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Mediation {
    /// About requests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub request_transformations: Vec<Transformation>,
    /// About answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub response_transformations: Vec<Transformation>,
}

/// One change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Transformation {
    /// What of the message is changed.
    #[serde(rename = "type")]
    pub kind: String,
    /// What is done.
    pub action: String,
    /// Fields, with their values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, String>,
    /// Headers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<String>,
    /// One header.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header_name: Option<String>,
    /// Its value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header_value: Option<String>,
}

/// When the backend is spared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CircuitBreaker {
    /// Whether it is at all.
    pub enabled: bool,
    /// The most connections.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_connections: Option<i32>,
    /// The most requests that wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_pending_requests: Option<i32>,
    /// The most requests at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_parallel_requests: Option<i32>,
    /// The most repeated requests at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_parallel_retries: Option<i32>,
}
