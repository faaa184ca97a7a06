//! `ScheduledTaskBinding`: a scheduled task in one environment.

use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    api::default_class,
    deployed_status::DeployedStatus,
    names::EnvironmentName,
    release_state::ReleaseState,
    schema,
    workload::{WorkloadOwner, WorkloadTemplate},
};

/// What is asked of the binding of a scheduled task.
#[derive(CustomResource, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "openchoreo.dev",
    version = "v1alpha1",
    kind = "ScheduledTaskBinding",
    plural = "scheduledtaskbindings",
    namespaced,
    category = "openchoreo",
    status = "DeployedStatus",
    derive = "PartialEq",
    doc = "A scheduled task in one environment.",
    selectable = ".spec.environment",
    selectable = ".spec.owner.projectName",
    selectable = ".spec.owner.componentName",
    printcolumn(
        name = "Project",
        type_ = "string",
        json_path = ".spec.owner.projectName"
    ),
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
    printcolumn(
        name = "State",
        type_ = "string",
        json_path = ".spec.releaseState",
        priority = 1
    ),
    printcolumn(
        name = "Message",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Ready')].message",
        priority = 1
    )
)]
#[serde(rename_all = "camelCase")]
pub struct ScheduledTaskBindingSpec {
    /// Whose it is; cannot change.
    pub owner: WorkloadOwner,
    /// The environment; cannot change.
    #[schemars(extend("x-kubernetes-validations" = schema::rules(&[
        ("self == oldSelf", "environment is immutable; make another object"),
    ])))]
    pub environment: EnvironmentName,
    /// The `ScheduledTaskClass` that it is an instance of.
    #[serde(default = "default_class")]
    pub class_name: String,
    /// What runs: a copy of the workload.
    pub workload_spec: WorkloadTemplate,
    /// Kept as it is; nothing asks for it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub overrides: BTreeMap<String, bool>,
    /// Whether it runs, is stopped, or was taken away.
    #[serde(default)]
    pub release_state: ReleaseState,
}
