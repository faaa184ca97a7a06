//! `Deployment`: this artifact runs in that environment, which its labels name.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{application::Application, deployed_status::DeployedStatus, schema};

/// What is asked of a deployment.
#[derive(CustomResource, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "openchoreo.dev",
    version = "v1alpha1",
    kind = "Deployment",
    plural = "deployments",
    namespaced,
    category = "openchoreo",
    status = "DeployedStatus",
    derive = "PartialEq",
    doc = "This artifact runs in that environment, which its labels name.",
    selectable = ".spec.deploymentArtifactRef",
    printcolumn(
        name = "Artifact",
        type_ = "string",
        json_path = ".spec.deploymentArtifactRef"
    ),
    printcolumn(
        name = "Environment",
        type_ = "string",
        json_path = ".metadata.labels.openchoreo\\.dev/environment"
    ),
    printcolumn(
        name = "Message",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Ready')].message",
        priority = 1
    )
)]
#[serde(rename_all = "camelCase")]
pub struct DeploymentSpec {
    /// The artifact that runs: a `DeployableArtifact` of the same track.
    pub deployment_artifact_ref: String,
    /// How many earlier versions can be gone back to; ten where nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub revision_history_limit: Option<i32>,
    /// What is other than the artifact says, in this environment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configuration_overrides: Option<ConfigurationOverrides>,
}

/// What is other than an artifact says. Settings take the place of the artifact's one by one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConfigurationOverrides {
    /// Changes to endpoint templates, each under the `metadata.name` of the artifact's template: what is written is merged
    /// into it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::list_of_objects")]
    pub endpoint_templates: Vec<Value>,
    /// Kept as it is; nobody knows fields of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::any_object")]
    pub dependencies: Option<Value>,
    /// How it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub application: Option<Application>,
}
