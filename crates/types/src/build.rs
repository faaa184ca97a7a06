//! `Build`: source becomes an image. Here is only what a deployment needs to know of it: whose it is, of which source,
//! and which image came of it.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{component::BuildTemplateRef, schema, workload::WorkloadOwner};

/// What is asked of a build.
#[derive(CustomResource, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "openchoreo.dev",
    version = "v1alpha1",
    kind = "Build",
    plural = "builds",
    namespaced,
    category = "openchoreo",
    status = "BuildStatus",
    derive = "PartialEq",
    doc = "Source becomes an image.",
    printcolumn(
        name = "Component",
        type_ = "string",
        json_path = ".spec.owner.componentName"
    ),
    printcolumn(
        name = "Image",
        type_ = "string",
        json_path = ".status.imageStatus.image"
    )
)]
#[serde(rename_all = "camelCase")]
pub struct BuildSpec {
    /// Whose build it is; cannot change.
    pub owner: WorkloadOwner,
    /// The source.
    pub repository: BuildRepository,
    /// What builds it.
    pub template_ref: BuildTemplateRef,
}

/// The source of a build.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BuildRepository {
    /// The address of the repository.
    pub url: String,
    /// The folder of the component.
    pub app_path: String,
    /// What of it.
    pub revision: BuildRevision,
}

/// A revision of source: a commit, or the newest of a branch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BuildRevision {
    /// The branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// What was seen of a build.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BuildStatus {
    /// The generation that was last acted upon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// How the build is doing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::conditions")]
    pub conditions: Vec<Condition>,
    /// The image that came of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_status: Option<ImageStatus>,
}

/// The image that came of a build.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImageStatus {
    /// Its reference, with or without a registry.
    pub image: String,
}

impl Build {
    /// The image that came of it, if there is one yet.
    pub fn image(&self) -> Option<&str> {
        let made = self.status.as_ref()?.image_status.as_ref()?;
        Some(made.image.as_str()).filter(|image| !image.is_empty())
    }
}
