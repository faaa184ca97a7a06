//! `Environment`: a stage such as development or production, on one data plane.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    gateway::{GatewayNetwork, Sides},
    optional_spec::optional_spec,
    problem::Problem,
    reference::{NameOrReference, Reference},
    schema,
};

/// What is asked of an environment.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "openchoreo.dev",
    version = "v1alpha1",
    kind = "Environment",
    plural = "environments",
    namespaced,
    shortname = "env",
    shortname = "envs",
    category = "openchoreo",
    status = "EnvironmentStatus",
    derive = "PartialEq",
    derive = "Default",
    doc = "A stage that components are deployed to, such as development or production.",
    printcolumn(name = "Data Plane", type_ = "string", json_path = ".status.dataPlane"),
    printcolumn(
        name = "Production",
        type_ = "boolean",
        json_path = ".spec.isProduction"
    ),
    validation = Rule::new("size(self.metadata.name) <= 63")
        .message("labels hold this name: it has at most 63 characters")
)]
#[serde(rename_all = "camelCase", remote = "Self")]
pub struct EnvironmentSpec {
    /// The data plane that the environment runs on: its name, or kind and name. The plane called
    /// `default` where nothing is said. Cannot change once set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_plane_ref: Option<NameOrReference>,
    /// Whether real users depend on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_production: Option<bool>,
    /// How the environment is reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gateway: Option<EnvironmentGateway>,
}

optional_spec!(EnvironmentSpec);

/// How an environment is reached: the older fields and the newer ones.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EnvironmentGateway {
    /// The first part of the environment's host names, before the data plane's domain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dns_prefix: Option<String>,
    /// How callers are checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub security: Option<GatewaySecurity>,
    /// Gateways for traffic that comes in; they replace those of the data plane.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ingress: Option<GatewayNetwork>,
    /// Gateways for traffic that goes out; they replace those of the data plane.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub egress: Option<GatewayNetwork>,
}

/// How callers of an environment are checked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GatewaySecurity {
    /// The keys that tokens are checked with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remote_jwks: Option<RemoteJwks>,
}

/// A key set that is fetched.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RemoteJwks {
    /// Where the key set is.
    pub uri: String,
}

/// What was seen of an environment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EnvironmentStatus {
    /// The generation that was last acted upon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// How the environment is doing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::conditions")]
    pub conditions: Vec<Condition>,
    /// The data plane that the spec was understood to mean, as `kind/name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_plane: Option<String>,
    /// Whether anything was ever put onto the plane for it, so that something may be left there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used: Option<bool>,
    /// Whether the plane was given up for good: what is there may be left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub abandoned: Option<bool>,
}

/// An environment as everybody else sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The data plane; where there is none written, the one called `default` is to be looked for: in the
    /// namespace first, then in the cluster.
    pub data_plane: Option<Reference>,
    /// Whether real users depend on it.
    pub is_production: bool,
    /// The first part of host names.
    pub dns_prefix: Option<String>,
    /// Where the key set is that tokens are checked with.
    pub jwks_uri: Option<String>,
    /// The environment's own gateways; see [`Sides::over`].
    pub sides: Sides,
}

impl EnvironmentSpec {
    /// Reads the variants of all generations into one form.
    pub fn resolve(&self) -> Result<Resolved, Problem> {
        let data_plane = self
            .data_plane_ref
            .as_ref()
            .map(|written| written.resolve("spec.dataPlaneRef", &["DataPlane", "ClusterDataPlane"]))
            .transpose()?;
        let gateway = self.gateway.clone().unwrap_or_default();
        let jwks = gateway.security.and_then(|security| security.remote_jwks);
        Ok(Resolved {
            data_plane,
            is_production: self.is_production.unwrap_or_default(),
            dns_prefix: gateway.dns_prefix.filter(|prefix| !prefix.is_empty()),
            jwks_uri: jwks.map(|jwks| jwks.uri),
            sides: Sides::read(
                gateway.ingress.as_ref(),
                gateway.egress.as_ref(),
                None,
                None,
            ),
        })
    }
}
