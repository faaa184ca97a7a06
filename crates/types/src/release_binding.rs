//! `ReleaseBinding`: this component release runs in this environment, with these settings of its own.

mod status;

use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
pub use status::{
    ConnectionTarget, EndpointStatus, EndpointUrl, EndpointUrls, LONGEST_HISTORY,
    PendingConnection, PendingResourceDependency, Ran, ReleaseBindingStatus, ResolvedConnection,
    ResourceDependencyTarget,
};

use crate::{
    names::EnvironmentName,
    problem::Problem,
    schema,
    workload::{self, EnvVar, FileVar, Setting, SettingFile, WorkloadOwner},
};

/// What is asked of a binding.
#[derive(CustomResource, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "openchoreo.dev",
    version = "v1alpha1",
    kind = "ReleaseBinding",
    plural = "releasebindings",
    namespaced,
    category = "openchoreo",
    status = "ReleaseBindingStatus",
    derive = "PartialEq",
    doc = "This component release runs in this environment, with these settings of its own.",
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
    printcolumn(name = "Release", type_ = "string", json_path = ".spec.releaseName"),
    printcolumn(
        name = "State",
        type_ = "string",
        json_path = ".spec.state",
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
pub struct ReleaseBindingSpec {
    /// Whose binding it is; cannot change.
    pub owner: WorkloadOwner,
    /// The environment; cannot change.
    #[schemars(extend("x-kubernetes-validations" = schema::rules(&[
        ("self == oldSelf", "environment is immutable; make another object"),
    ])))]
    pub environment: EnvironmentName,
    /// The component release that runs there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release_name: Option<String>,
    /// Whether it runs (`Active`, meant where nothing is said) or was taken away (`Undeploy`).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["Active", "Undeploy"]))]
    pub state: Option<String>,
    /// What the component type is told for this environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::any_object")]
    pub component_type_environment_configs: Option<Value>,
    /// What traits are told for this environment, by instance.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(schema_with = "schema::objects_by_name")]
    pub trait_environment_configs: BTreeMap<String, Value>,
    /// Settings of the workload for this environment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload_overrides: Option<WorkloadOverrides>,
}

/// Settings of a workload for one environment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct WorkloadOverrides {
    /// Settings of the container.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<ContainerOverrides>,
    /// Fields of other generations, kept as they are; they mean nothing here.
    #[serde(flatten)]
    #[schemars(skip)]
    pub others: BTreeMap<String, Value>,
}

/// Settings of a container for one environment. An entry takes the place of the workload's entry of the same key as a
/// whole; entries with new keys come after those of the workload.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContainerOverrides {
    /// Environment variables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1000))]
    pub env: Vec<EnvVar>,
    /// Files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1000))]
    pub files: Vec<FileVar>,
}

/// Settings of a workload for one environment, as everybody else sees them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResolvedOverrides {
    /// Environment variables.
    pub env: Vec<Setting>,
    /// Files.
    pub files: Vec<SettingFile>,
}

impl ReleaseBindingSpec {
    /// Whether it was taken away.
    pub fn is_undeployed(&self) -> bool {
        self.state.as_deref() == Some("Undeploy")
    }

    /// Reads the settings of the workload.
    pub fn overrides(&self) -> Result<ResolvedOverrides, Problem> {
        let field = "spec.workloadOverrides";
        let Some(written) = &self.workload_overrides else {
            return Ok(ResolvedOverrides::default());
        };
        if let Some(unknown) = written.others.keys().next() {
            return Err(Problem::new(
                format!("{field}.{unknown}"),
                "cannot be set for one environment: container.env and container.files can",
            ));
        }
        let Some(container) = &written.container else {
            return Ok(ResolvedOverrides::default());
        };
        Ok(ResolvedOverrides {
            env: workload::settings(&container.env, &format!("{field}.container.env"))?,
            files: workload::files(&container.files, &format!("{field}.container.files"))?,
        })
    }
}
