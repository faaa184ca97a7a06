//! `SecretReference`: which secrets of a secret store a workload may use, and under which keys. No secret is in it.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{go_duration, schema};

/// What is asked of a reference to secrets.
#[derive(CustomResource, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "openchoreo.dev",
    version = "v1alpha1",
    kind = "SecretReference",
    plural = "secretreferences",
    namespaced,
    category = "openchoreo",
    status = "SecretReferenceStatus",
    derive = "PartialEq",
    doc = "Which secrets of a secret store may be used, and under which keys. No secret is in it.",
    printcolumn(
        name = "Keys",
        type_ = "string",
        json_path = ".spec.data[*].secretKey",
        priority = 1
    )
)]
#[serde(rename_all = "camelCase")]
pub struct SecretReferenceSpec {
    /// The plane that it is meant for; any where nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_plane: Option<SecretPlane>,
    /// What the Secret in the plane looks like.
    pub template: SecretTemplate,
    /// The keys, and where each is in the store.
    #[schemars(length(min = 1))]
    pub data: Vec<SecretEntry>,
    /// How often the store is asked; every hour where nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = go_duration::PATTERN))]
    pub refresh_interval: Option<String>,
}

/// A plane that secrets are meant for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SecretPlane {
    /// The kind of the plane.
    #[schemars(extend("enum" = ["WorkflowPlane", "ClusterWorkflowPlane", "DataPlane", "ClusterDataPlane"]))]
    pub kind: String,
    /// Its name.
    #[schemars(length(min = 1))]
    pub name: String,
}

/// What the Secret in a plane looks like.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SecretTemplate {
    /// The type of the Secret; `Opaque` where nothing is said.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = [
        "Opaque",
        "kubernetes.io/dockercfg",
        "kubernetes.io/dockerconfigjson",
        "kubernetes.io/basic-auth",
        "kubernetes.io/ssh-auth",
        "kubernetes.io/tls",
        "bootstrap.kubernetes.io/token",
    ]))]
    pub secret_type: Option<String>,
    /// Its labels and annotations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<SecretMetadata>,
}

/// Labels and annotations of a Secret.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SecretMetadata {
    /// Its annotations.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
    /// Its labels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

/// One key, and where it is in the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecretEntry {
    /// The key.
    #[schemars(length(min = 1))]
    pub secret_key: String,
    /// Where it is.
    pub remote_ref: RemoteRef,
}

/// Where a secret is in its store.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct RemoteRef {
    /// The name or path in the store.
    #[schemars(length(min = 1))]
    pub key: String,
    /// The part of it, where it has parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub property: Option<String>,
    /// The version of it; the newest where nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// What was seen of a reference to secrets.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecretReferenceStatus {
    /// The generation that was last acted upon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Whether it can be used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::conditions")]
    pub conditions: Vec<Condition>,
    /// When the store was last asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::time")]
    pub last_refresh_time: Option<Time>,
    /// The stores that it is used with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secret_stores: Vec<UsedSecretStore>,
}

/// A store that a reference is used with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UsedSecretStore {
    /// The name of the store.
    pub name: String,
    /// The namespace of what uses it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The kind of the store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}

impl SecretReferenceSpec {
    /// Where a key is in the store.
    pub fn remote(&self, key: &str) -> Option<&RemoteRef> {
        let entry = self.data.iter().find(|entry| entry.secret_key == key)?;
        Some(&entry.remote_ref)
    }
}
