//! `DeployableArtifact`: an image of a component, with what it is configured by.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    application::Application, endpoint::EndpointTemplate, judged_status::JudgedStatus, schema,
};

/// What is asked of an artifact.
#[derive(CustomResource, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "openchoreo.dev",
    version = "v1alpha1",
    kind = "DeployableArtifact",
    plural = "deployableartifacts",
    namespaced,
    category = "openchoreo",
    status = "JudgedStatus",
    derive = "PartialEq",
    doc = "An image of a component, with what it is configured by.",
    printcolumn(
        name = "Component",
        type_ = "string",
        json_path = ".metadata.labels.openchoreo\\.dev/component"
    ),
    printcolumn(
        name = "Build",
        type_ = "string",
        json_path = ".spec.targetArtifact.fromBuildRef.name",
        priority = 1
    ),
    printcolumn(
        name = "Image",
        type_ = "string",
        json_path = ".spec.targetArtifact.fromImageRef.tag",
        priority = 1
    )
)]
#[serde(rename_all = "camelCase")]
pub struct DeployableArtifactSpec {
    /// Where the image is from.
    pub target_artifact: TargetArtifact,
    /// What it is configured by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configuration: Option<Configuration>,
}

/// Where an image is from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = schema::rules(&[(
    "!has(self.fromBuildRef) || !has(self.fromImageRef)",
    "give fromBuildRef or fromImageRef, not both"
)])))]
pub struct TargetArtifact {
    /// A build of the same track.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_build_ref: Option<FromBuild>,
    /// An image that is there already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_image_ref: Option<FromImage>,
}

/// A build.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FromBuild {
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The commit that it was built from, where it has no name here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git_revision: Option<String>,
}

/// An image.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FromImage {
    /// The image's reference, or only its tag: then it is an image of the plane's registry that is called after project
    /// and component.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// Whether the tag need not be a version. Nothing asks for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skip_version_validation: Option<bool>,
}

/// What an image is configured by.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Configuration {
    /// What it listens on, each an Endpoint to be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    pub endpoint_templates: Vec<EndpointTemplate>,
    /// Kept as it is; nobody knows fields of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::any_object")]
    pub dependencies: Option<Value>,
    /// How it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub application: Option<Application>,
}
