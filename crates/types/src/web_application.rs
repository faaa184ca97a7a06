//! `WebApplication`: a component that people look at, as an instance of its class.

use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{api::default_class, judged_status::JudgedStatus, workload::WorkloadOwner};

/// What is asked of a web application.
#[derive(CustomResource, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "openchoreo.dev",
    version = "v1alpha1",
    kind = "WebApplication",
    plural = "webapplications",
    namespaced,
    category = "openchoreo",
    status = "JudgedStatus",
    derive = "PartialEq",
    doc = "A component that people look at, as an instance of its class.",
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
    printcolumn(name = "Class", type_ = "string", json_path = ".spec.className"),
    printcolumn(
        name = "Message",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Ready')].message",
        priority = 1
    )
)]
#[serde(rename_all = "camelCase")]
pub struct WebApplicationSpec {
    /// Whose it is; cannot change.
    pub owner: WorkloadOwner,
    /// The `Workload` that runs.
    pub workload_name: String,
    /// The `WebApplicationClass` that it is an instance of.
    #[serde(default = "default_class")]
    pub class_name: String,
    /// Kept as it is; nothing asks for it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub overrides: BTreeMap<String, bool>,
}
