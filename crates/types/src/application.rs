//! How an image runs: the part of an artifact's configuration that a deployment can change for its environment.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    schema,
    workload::{EnvVar, ONE_VALUE, ValueSource},
};

const ONE_PLACE: (&str, &str) = (
    "!has(self.configurationGroupRef) || !has(self.secretRef)",
    "give configurationGroupRef or secretRef, not both",
);

/// How an image runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = schema::rules(&[(
    "!has(self.scaling) || !has(self.task)",
    "give scaling or task, not both: a task does not scale",
)])))]
pub struct Application {
    /// Arguments of its command.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Environment variables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1000))]
    pub env: Vec<EnvVar>,
    /// All keys of groups or secrets as environment variables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    pub env_from: Vec<EnvFrom>,
    /// Files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1000))]
    pub file_mounts: Vec<FileMount>,
    /// All keys of groups or secrets as files of a folder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    pub file_mounts_from: Vec<FileMountsFrom>,
    /// The most that it may use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_limits: Option<ResourceLimits>,
    /// How it is seen to be well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probes: Option<Probes>,
    /// How many of it run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scaling: Option<Scaling>,
    /// When it runs, if not all the time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<Task>,
}

/// All keys of a group or secret as environment variables.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = schema::rules(&[ONE_PLACE])))]
pub struct EnvFrom {
    /// A `ConfigurationGroup`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configuration_group_ref: Option<NameRef>,
    /// A `SecretReference`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<NameRef>,
}

/// An object by its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NameRef {
    /// Its name.
    #[schemars(length(min = 1))]
    pub name: String,
}

/// A file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = schema::rules(&[ONE_VALUE])))]
pub struct FileMount {
    /// Its whole path.
    pub mount_path: String,
    /// Its content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Where its content is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_from: Option<ValueSource>,
}

/// All keys of a group or secret as files of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = schema::rules(&[ONE_PLACE])))]
pub struct FileMountsFrom {
    /// A `ConfigurationGroup`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configuration_group_ref: Option<FolderRef>,
    /// A `SecretReference`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<FolderRef>,
}

/// An object, and the folder that its keys are files of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FolderRef {
    /// Its name.
    #[schemars(length(min = 1))]
    pub name: String,
    /// The folder.
    pub mount_path: String,
}

/// The most that something may use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResourceLimits {
    /// How much of processors, such as `500m`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<String>,
    /// How much memory, such as `256Mi`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<String>,
}

/// How something is seen to be well. Each probe is one as Kubernetes has it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Probes {
    /// Whether it can be asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::any_object")]
    pub readiness_probe: Option<Value>,
    /// Whether it must be started anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::any_object")]
    pub liveness_probe: Option<Value>,
}

/// How many of something run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-kubernetes-validations" = schema::rules(&[(
    "!has(self.hpa) || !has(self.s2z)",
    "give hpa or s2z, not both",
)])))]
pub struct Scaling {
    /// As many as processors and memory ask for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hpa: Option<HorizontalScaling>,
    /// None while nobody asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub s2z: Option<ScaleToZero>,
}

/// As many as processors and memory ask for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HorizontalScaling {
    /// At least.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_replicas: Option<i32>,
    /// At most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_replicas: Option<i32>,
    /// How busy processors may be, in percent of what was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_threshold: Option<i32>,
    /// How full memory may be, in percent of what was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_threshold: Option<i32>,
}

/// None while nobody asks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScaleToZero {
    /// At most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_replicas: Option<i32>,
    /// How many requests may wait for each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_length: Option<i32>,
}

/// When something runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Task {
    /// Whether it does not run at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disabled: Option<bool>,
    /// At which times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<TaskSchedule>,
}

/// The times at which something runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskSchedule {
    /// Five fields as cron has them.
    pub cron: String,
    /// Whose clock; `Etc/UTC` where nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
}
