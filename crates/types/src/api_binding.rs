//! `APIBinding`: an API, offered in an environment under the rules of a class.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{judged_status::JudgedStatus, names::EnvironmentName, release_state::ReleaseState};

/// What is asked of a binding of an API.
#[derive(CustomResource, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "openchoreo.dev",
    version = "v1alpha1",
    kind = "APIBinding",
    root = "ApiBinding",
    plural = "apibindings",
    namespaced,
    category = "openchoreo",
    status = "JudgedStatus",
    derive = "PartialEq",
    doc = "An API, offered in an environment under the rules of a class.",
    printcolumn(name = "API", type_ = "string", json_path = ".spec.apiName"),
    printcolumn(
        name = "Environment",
        type_ = "string",
        json_path = ".spec.environmentName"
    )
)]
#[serde(rename_all = "camelCase")]
pub struct ApiBindingSpec {
    /// The `APIClass` with the rules.
    #[schemars(length(min = 1))]
    pub api_class_name: String,
    /// The API.
    #[schemars(length(min = 1))]
    pub api_name: String,
    /// The environment that it is offered in.
    pub environment_name: EnvironmentName,
    /// What is to become of it.
    #[serde(default)]
    pub release_state: ReleaseState,
}
