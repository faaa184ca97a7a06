//! `Service`: a component that others call, as an instance of its class.

use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    api::ServiceApi, api::default_class, judged_status::JudgedStatus, workload::WorkloadOwner,
};

/// What is asked of a service.
#[derive(CustomResource, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "openchoreo.dev",
    version = "v1alpha1",
    kind = "Service",
    plural = "services",
    namespaced,
    category = "openchoreo",
    status = "JudgedStatus",
    derive = "PartialEq",
    doc = "A component that others call, as an instance of its class.",
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
pub struct ServiceSpec {
    /// Whose it is; cannot change.
    pub owner: WorkloadOwner,
    /// The `Workload` that runs.
    pub workload_name: String,
    /// The `ServiceClass` that it is an instance of.
    #[serde(default = "default_class")]
    pub class_name: String,
    /// Kept as it is; nothing asks for it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub overrides: BTreeMap<String, bool>,
    /// The APIs that it offers, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 100))]
    pub apis: BTreeMap<String, ServiceApi>,
}
