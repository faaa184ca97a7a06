//! The status of what is promoted from environment to environment.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{release_binding::Ran, schema};

/// What runs of an object, what is asked for, and what ran when.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeployedStatus {
    /// The generation that was last acted upon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// How it is doing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::conditions")]
    pub conditions: Vec<Condition>,
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
