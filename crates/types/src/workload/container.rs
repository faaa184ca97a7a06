//! What runs: an image and its settings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema;

/// A setting has a value or says where it is.
pub(crate) const ONE_VALUE: (&str, &str) = (
    "!has(self.value) || !has(self.valueFrom)",
    "give value or valueFrom, not both",
);

/// An image and its settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Container {
    /// The image.
    #[schemars(length(min = 1))]
    pub image: String,
    /// The command, instead of the image's own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// Its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Environment variables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1000))]
    pub env: Vec<EnvVar>,
    /// Files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1000))]
    pub files: Vec<FileVar>,
}

/// An environment variable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = schema::rules(&[ONE_VALUE])))]
pub struct EnvVar {
    /// Its name.
    #[schemars(length(min = 1))]
    pub key: String,
    /// Its value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Where its value is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_from: Option<ValueSource>,
}

/// A file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = schema::rules(&[ONE_VALUE])))]
pub struct FileVar {
    /// Its name.
    #[schemars(length(min = 1))]
    pub key: String,
    /// The folder that it is in.
    pub mount_path: String,
    /// Its content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Where its content is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_from: Option<ValueSource>,
}

/// Where a value is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = schema::rules(&[(
    "[has(self.secretKeyRef), has(self.secretRef), has(self.configurationGroupRef)]\
     .filter(given, given).size() <= 1",
    "give secretKeyRef, secretRef or configurationGroupRef, not several of them",
)])))]
pub struct ValueSource {
    /// One key of a `SecretReference`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_key_ref: Option<KeyRef>,
    /// The same, by its older name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<KeyRef>,
    /// One key of a `ConfigurationGroup`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configuration_group_ref: Option<KeyRef>,
}

/// One key of an object.
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct KeyRef {
    /// The object.
    #[schemars(length(min = 1))]
    pub name: String,
    /// The key within it.
    #[schemars(length(min = 1))]
    pub key: String,
}
