//! `DeploymentTrack`: a line of versions of a component that is deployed on its own.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{judged_status::JudgedStatus, optional_spec::optional_spec};

/// What is asked of a deployment track.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "openchoreo.dev",
    version = "v1alpha1",
    kind = "DeploymentTrack",
    plural = "deploymenttracks",
    namespaced,
    shortname = "deptrack",
    shortname = "deptracks",
    category = "openchoreo",
    status = "JudgedStatus",
    derive = "PartialEq",
    derive = "Default",
    doc = "A line of versions of a component that is deployed on its own.",
    printcolumn(
        name = "Component",
        type_ = "string",
        json_path = ".metadata.labels.openchoreo\\.dev/component"
    )
)]
#[serde(rename_all = "camelCase", remote = "Self")]
pub struct DeploymentTrackSpec {
    /// Whether every new artifact is deployed at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_deploy: Option<bool>,
    /// How the track is built from source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build_template_spec: Option<BuildTemplateSpec>,
}

optional_spec!(DeploymentTrackSpec);

/// How a track is built from source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BuildTemplateSpec {
    /// The branch that the source is on.
    pub branch: String,
    /// The folder of the component.
    pub path: String,
    /// What makes an image of the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build_configuration: Option<BuildConfiguration>,
}

/// What makes an image of source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BuildConfiguration {
    /// A Dockerfile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub docker: Option<DockerConfiguration>,
    /// A buildpack.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buildpack: Option<BuildpackConfiguration>,
}

/// Building by a Dockerfile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DockerConfiguration {
    /// The folder that the build sees.
    pub context: String,
    /// The Dockerfile.
    pub dockerfile_path: String,
}

/// Building by a buildpack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BuildpackConfiguration {
    /// The language: `Go`, `Node.js`, `Python` …
    pub name: String,
    /// Its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}
