//! `Approval`: somebody's word about one release in one environment. It cannot change: another word is another object,
//! and taking it back is deleting it.

use k8s_openapi::{
    apimachinery::pkg::apis::meta::v1::{Condition, Time},
    jiff::Timestamp,
};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{names::EnvironmentName, schema, workload::WorkloadOwner};

/// What somebody says about a release in an environment.
#[derive(CustomResource, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "openchoreo.dev",
    version = "v1alpha1",
    kind = "Approval",
    plural = "approvals",
    namespaced,
    category = "openchoreo",
    status = "ApprovalStatus",
    derive = "PartialEq",
    doc = "Somebody's word about one release of a component in one environment.",
    selectable = ".spec.environment",
    selectable = ".spec.owner.projectName",
    selectable = ".spec.owner.componentName",
    printcolumn(
        name = "Component",
        type_ = "string",
        json_path = ".spec.owner.componentName"
    ),
    printcolumn(
        name = "Environment",
        type_ = "string",
        json_path = ".spec.environment"
    ),
    printcolumn(name = "Release", type_ = "string", json_path = ".spec.releaseName"),
    printcolumn(name = "Decision", type_ = "string", json_path = ".spec.decision"),
    printcolumn(name = "By", type_ = "string", json_path = ".spec.by"),
    printcolumn(
        name = "Comment",
        type_ = "string",
        json_path = ".spec.comment",
        priority = 1
    )
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = schema::rules(&[
    ("self == oldSelf", "an Approval is immutable: delete it, and make another"),
])))]
pub struct ApprovalSpec {
    /// The component that it is about.
    pub owner: WorkloadOwner,
    /// The environment that it is about.
    pub environment: EnvironmentName,
    /// The component release that it is about, and no other.
    #[schemars(length(min = 1, max = 253))]
    pub release_name: String,
    /// The uid of that component release; needed where its name is not that of its content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub release_uid: Option<String>,
    /// What is said: `Approve` (meant where nothing is said) or `Reject`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["Approve", "Reject"]))]
    pub decision: Option<String>,
    /// Who says so: the name that the API server knows them by. It checks that.
    #[schemars(length(min = 1, max = 512))]
    pub by: String,
    /// Why, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub comment: Option<String>,
    /// Until when the word counts; for ever where nothing is said. What runs by then goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::time")]
    pub expires_at: Option<Time>,
}

/// What became of an approval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalStatus {
    /// The generation that was last acted upon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Whether it counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::conditions")]
    pub conditions: Vec<Condition>,
}

/// What is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It may run there.
    Approve,
    /// It may not.
    Reject,
}

impl ApprovalSpec {
    /// What is said.
    pub fn decision(&self) -> Decision {
        match self.decision.as_deref() {
            Some("Reject") => Decision::Reject,
            _ => Decision::Approve,
        }
    }

    /// Whether it counts at a moment.
    pub fn counts_at(&self, now: Timestamp) -> bool {
        self.expires_at.as_ref().is_none_or(|end| now < end.0)
    }
}
