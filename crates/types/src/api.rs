//! `API`: what a component offers to others in an environment, and the class whose rules it is offered under.
//!
//! A Service writes the same for each of its endpoints: [`ServiceApi`].

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{names::EnvironmentName, schema, words::written_words, workload::WorkloadOwner};

/// What is asked of an API.
#[derive(CustomResource, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "openchoreo.dev",
    version = "v1alpha1",
    kind = "API",
    root = "PublishedApi",
    plural = "apis",
    namespaced,
    category = "openchoreo",
    status = "ApiStatus",
    derive = "PartialEq",
    doc = "What a component offers to others in an environment, and the class whose rules it is offered under.",
    printcolumn(
        name = "Component",
        type_ = "string",
        json_path = ".spec.owner.componentName"
    ),
    printcolumn(
        name = "Environment",
        type_ = "string",
        json_path = ".spec.environmentName"
    ),
    printcolumn(name = "Address", type_ = "string", json_path = ".status.address")
)]
#[serde(rename_all = "camelCase")]
pub struct ApiSpec {
    /// Whose API it is; cannot change.
    pub owner: WorkloadOwner,
    /// The environment that it is offered in.
    pub environment_name: EnvironmentName,
    /// What is offered.
    #[serde(flatten)]
    pub offered: ServiceApi,
}

/// What is offered to others, and under whose rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServiceApi {
    /// The `APIClass` with the rules.
    #[serde(default = "default_class")]
    pub class_name: String,
    /// What is spoken there; of `REST` the routes are made.
    #[serde(rename = "type")]
    pub protocol: String,
    /// What is offered, where `REST` is spoken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rest: Option<RestApi>,
}

pub(crate) fn default_class() -> String {
    "default".to_owned()
}

/// What is offered, where `REST` is spoken.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RestApi {
    /// What answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend: Option<RestBackend>,
    /// Who it is offered to: `Project`, `Organization`, `Public`. The project alone where nothing is said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expose_levels: Vec<String>,
}

/// What answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RestBackend {
    /// The port of the component's Service.
    #[schemars(range(min = 1, max = 65535))]
    pub port: i32,
    /// The path that its own addresses start with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_path: Option<String>,
}

written_words! {
    /// Who something is offered to.
    ExposeLevel {
        /// The project's own components: always.
        Project = "Project",
        /// Whoever comes by the organization's gateway.
        Organization = "Organization",
        /// The world.
        Public = "Public",
    }
}

impl ExposeLevel {
    /// The level that a document's word means.
    pub fn read(word: &str) -> Option<Self> {
        let levels = [Self::Project, Self::Organization, Self::Public];
        levels.into_iter().find(|level| level.as_str() == word)
    }
}

/// What was seen of an API.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApiStatus {
    /// The generation that was last acted upon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// How the API is doing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::conditions")]
    pub conditions: Vec<Condition>,
    /// Where it is reached from furthest away.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
}
