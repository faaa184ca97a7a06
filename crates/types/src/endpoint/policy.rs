//! Rules for those who reach an endpoint: who they must be, how often they may come, from which pages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words::written_words;

/// A rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EndpointPolicy {
    /// What people call it.
    pub name: String,
    /// Which part of `policySpec` is meant: `oauth2`, `api-key`, `basic-auth`, `rate-limit` or `cors`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The rule itself.
    pub policy_spec: PolicySpec,
}

/// A rule itself: the part that its type names.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicySpec {
    /// Callers have a key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key_auth: Option<ApiKeyAuth>,
    /// Callers have a name and a password.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub basic_auth: Option<BasicAuth>,
    /// Callers have a token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oauth2: Option<OAuth2>,
    /// How often callers may come.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_limit: Option<RateLimits>,
    /// From which pages callers may come.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cors: Option<Cors>,
}

/// Callers have a key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApiKeyAuth {
    /// Where they send it.
    pub key_source: KeySource,
    /// Secrets in the data plane with the keys: in each, every entry is a client and its key.
    pub secret_refs: Vec<String>,
}

/// Where a key is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeySource {
    /// The header.
    pub header: String,
    /// What stands before the key in it, such as `Bearer`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header_auth_scheme: Option<String>,
}

/// Callers have a name and a password.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BasicAuth {
    /// Who may come.
    pub users: Vec<BasicAuthUser>,
    /// The header that name and password are sent in.
    pub header: String,
    /// What stands before them in it.
    pub header_auth_scheme: String,
}

/// Somebody who may come.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BasicAuthUser {
    /// Their name.
    pub username: String,
    /// The Secret in the data plane that has their password, as a line of an `.htpasswd` file.
    pub password_from_secret: String,
}

/// Callers have a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OAuth2 {
    /// What the token must say.
    pub jwt: Jwt,
}

/// What a token must say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Jwt {
    /// Claims that it must have, whatever is called.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<JwtClaim>,
    /// What it must have for which operation.
    pub authorization: Authorization,
}

/// A claim that a token must have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JwtClaim {
    /// Its name.
    pub key: String,
    /// What it may say: one of these.
    pub values: Vec<String>,
}

written_words! {
    /// What kind of operations tokens are checked for.
    AuthorizedApi {
        /// Paths and methods.
        Rest = "REST",
        /// Services and methods.
        Grpc = "GRPC",
        /// Queries and mutations.
        GraphQl = "GraphQL",
    }
}

/// What a token must have for which operation: the part that `apiType` names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Authorization {
    /// What kind of operations.
    pub api_type: AuthorizedApi,
    /// Paths and methods.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rest: Option<RestAuthorization>,
    /// Services and methods.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grpc: Option<GrpcAuthorization>,
    /// Queries and mutations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub graphql: Option<GraphQlAuthorization>,
}

/// What a token must have for which path and method.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RestAuthorization {
    /// Claims that the backend is told.
    pub claims_to_headers: Vec<ClaimToHeader>,
    /// The operations.
    pub operations: Vec<RestOperation>,
}

/// A claim that the backend is told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClaimToHeader {
    /// The claim.
    pub name: String,
    /// The header that it is told in.
    pub header: String,
}

written_words! {
    /// A method of HTTP.
    HttpMethod {
        /// `GET`.
        Get = "GET",
        /// `HEAD`.
        Head = "HEAD",
        /// `POST`.
        Post = "POST",
        /// `PUT`.
        Put = "PUT",
        /// `DELETE`.
        Delete = "DELETE",
        /// `CONNECT`.
        Connect = "CONNECT",
        /// `OPTIONS`.
        Options = "OPTIONS",
        /// `TRACE`.
        Trace = "TRACE",
        /// `PATCH`.
        Patch = "PATCH",
    }
}

/// A path and a method.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RestOperation {
    /// The path, with `{…}` for parts that vary.
    pub target: String,
    /// The method.
    pub method: HttpMethod,
    /// What the token must allow: all of these.
    pub scopes: Vec<String>,
}

/// What a token must have for which service and method.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GrpcAuthorization {
    /// Claims that the backend is told.
    pub claims_to_headers: Vec<ClaimToHeader>,
    /// The services.
    pub operations: Vec<GrpcOperation>,
}

/// A service.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GrpcOperation {
    /// Its full name, such as `shop.v1.Cart`.
    pub name: String,
    /// Its methods.
    pub methods: Vec<GrpcMethod>,
}

/// A method of a service.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GrpcMethod {
    /// Its name.
    pub name: String,
    /// What the token must allow: all of these.
    pub scopes: Vec<String>,
}

/// What a token must have for which query or mutation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GraphQlAuthorization {
    /// Claims that the backend is told.
    pub claims_to_headers: Vec<ClaimToHeader>,
    /// The operations.
    pub operations: Vec<GraphQlOperation>,
}

/// A query or mutation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GraphQlOperation {
    /// Which of them it is.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its name.
    pub name: String,
    /// What the token must allow: all of these.
    pub scopes: Vec<String>,
}

/// How often callers may come.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RateLimits {
    /// To the endpoint as a whole.
    pub api_level: RateLimit,
    /// To single operations.
    pub operation_level: OperationRateLimits,
}

/// How often within a time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RateLimit {
    /// The time: `Second`, `Minute`, `Hour` or `Day`.
    pub time_unit: String,
    /// How often within it.
    pub request_limit: i64,
}

/// How often callers may come to single operations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OperationRateLimits {
    /// Paths and methods.
    pub rest: Vec<OperationRateLimit>,
}

/// How often callers may come to one path and method.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OperationRateLimit {
    /// The path, with `{…}` for parts that vary.
    pub target: String,
    /// The method.
    pub method: String,
    /// How often.
    #[serde(flatten)]
    pub limit: RateLimit,
}

/// From which pages callers may come.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cors {
    /// The pages' origins.
    pub allow_origins: Vec<String>,
    /// The methods that their scripts may use.
    pub allow_methods: Vec<String>,
    /// The headers that their scripts may send.
    pub allow_headers: Vec<String>,
    /// The headers that their scripts may read.
    pub expose_headers: Vec<String>,
    /// For how many seconds a browser may remember all this.
    pub max_age: i64,
    /// Whether cookies and the like may come along.
    pub allow_credentials: bool,
}
