//! `ServiceBinding`: a service in one environment.

use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    api::{ServiceApi, default_class},
    exposed_endpoint::BoundStatus,
    names::EnvironmentName,
    release_state::ReleaseState,
    schema,
    workload::{WorkloadOwner, WorkloadTemplate},
};

/// What is asked of the binding of a service.
#[derive(CustomResource, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "openchoreo.dev",
    version = "v1alpha1",
    kind = "ServiceBinding",
    plural = "servicebindings",
    namespaced,
    category = "openchoreo",
    status = "BoundStatus",
    derive = "PartialEq",
    doc = "A service in one environment.",
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
pub struct ServiceBindingSpec {
    /// Whose it is; cannot change.
    pub owner: WorkloadOwner,
    /// The environment; cannot change.
    #[schemars(extend("x-kubernetes-validations" = schema::rules(&[
        ("self == oldSelf", "environment is immutable; make another object"),
    ])))]
    pub environment: EnvironmentName,
    /// The `ServiceClass` that it is an instance of.
    #[serde(default = "default_class")]
    pub class_name: String,
    /// What runs: a copy of the workload.
    pub workload_spec: WorkloadTemplate,
    /// The APIs that it offers, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 100))]
    pub apis: BTreeMap<String, ServiceApi>,
    /// Whether it runs, is stopped, or was taken away.
    #[serde(default)]
    pub release_state: ReleaseState,
}
