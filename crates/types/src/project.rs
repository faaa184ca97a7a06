//! `Project`: a bounded context; in each environment, a cell.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    names::PipelineName,
    problem::Problem,
    reference::{NameOrReference, Reference},
    schema,
};

/// What is asked of a project.
#[derive(CustomResource, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "openchoreo.dev",
    version = "v1alpha1",
    kind = "Project",
    plural = "projects",
    namespaced,
    shortname = "proj",
    shortname = "projs",
    category = "openchoreo",
    status = "ProjectStatus",
    derive = "PartialEq",
    doc = "A bounded context. In each environment it runs as a cell: one namespace with isolation.",
    printcolumn(
        name = "Pipeline",
        type_ = "string",
        json_path = ".status.deploymentPipeline"
    ),
    printcolumn(
        name = "Type",
        type_ = "string",
        json_path = ".spec.type.name",
        priority = 1
    ),
    printcolumn(
        name = "Release",
        type_ = "string",
        json_path = ".status.latestRelease.name",
        priority = 1
    ),
    validation = Rule::new("size(self.metadata.name) <= 63")
        .message("labels hold this name: it has at most 63 characters")
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = schema::rules(&[
    ("!has(oldSelf.type) || has(self.type)", "type cannot be taken away again"),
])))]
pub struct ProjectSpec {
    /// The pipeline that the project's components are promoted along: its name, or kind and name.
    pub deployment_pipeline_ref: NameOrReference,
    /// What kind of project this is; cannot change.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub project_type: Option<ProjectTypeRef>,
    /// Parameters of the project's type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::any_object")]
    pub parameters: Option<Value>,
}

/// The type of a project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = schema::rules(&[(
    "self.name == oldSelf.name && (has(self.kind) ? self.kind : 'ProjectType') == \
     (has(oldSelf.kind) ? oldSelf.kind : 'ProjectType')",
    "type is immutable; make another object"
)])))]
pub struct ProjectTypeRef {
    /// Where the type lives: `ProjectType` in the same namespace (meant where nothing is said), or
    /// `ClusterProjectType`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["ProjectType", "ClusterProjectType"]))]
    pub kind: Option<String>,
    /// The name of the type.
    #[schemars(
        length(min = 1, max = 63),
        regex(pattern = schema::DNS_LABEL)
    )]
    pub name: String,
}

/// What was seen of a project.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProjectStatus {
    /// The generation that was last acted upon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// How the project is doing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::conditions")]
    pub conditions: Vec<Condition>,
    /// The pipeline that the spec was understood to mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deployment_pipeline: Option<String>,
    /// The planes that something was ever put onto for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub planes: Vec<String>,
    /// The newest snapshot of the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latest_release: Option<LatestRelease>,
}

/// The newest snapshot of a project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatestRelease {
    /// The name of the snapshot.
    pub name: String,
    /// The hash over what it holds.
    pub hash: String,
}

/// A project as everybody else sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// The pipeline that components are promoted along.
    pub pipeline: PipelineName,
    /// The project's type, if it has one.
    pub project_type: Option<Reference>,
    /// Parameters of the type; null where there are none.
    pub parameters: Value,
}

impl ProjectSpec {
    /// Reads the variants of all generations into one form.
    pub fn resolve(&self) -> Result<Resolved, Problem> {
        let pipeline = self
            .deployment_pipeline_ref
            .resolve("spec.deploymentPipelineRef", &["DeploymentPipeline"])?;
        let project_type = self
            .project_type
            .as_ref()
            .map(|written| Reference::given(written.kind.as_deref(), "ProjectType", &written.name));
        Ok(Resolved {
            pipeline: PipelineName::new(pipeline.name),
            project_type,
            parameters: self.parameters.clone().unwrap_or(Value::Null),
        })
    }
}
