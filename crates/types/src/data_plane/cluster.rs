//! How a cluster is reached directly, in every form that was ever written down.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{data_plane::Sensitive, schema};

/// How a cluster is reached directly: with credentials written here (`server`, `tls`, `auth`), with a
/// kubeconfig in a Secret (`secretRef`, or the older `connectionConfigRef`), or not at all because it is
/// the cluster that we run in (`inCluster`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = schema::rules(&[
    (
        "[has(self.server), has(self.secretRef), has(self.connectionConfigRef), \
          has(self.inCluster) && self.inCluster].filter(way, way).size() == 1",
        "say in exactly one way how the cluster is reached: server, secretRef, \
         connectionConfigRef or inCluster: true",
    ),
    (
        "has(self.server) || (!has(self.tls) && !has(self.auth))",
        "tls and auth belong to server",
    ),
    (
        "!has(self.server) || (has(self.auth) && (has(self.auth.mtls) || has(self.auth.bearerToken)))",
        "server needs auth.mtls or auth.bearerToken",
    ),
])))]
pub struct KubernetesCluster {
    /// What people call the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whether it is the cluster that the control plane itself runs in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_cluster: Option<bool>,
    /// The address of the cluster's API server.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub server: Option<String>,
    /// How the API server proves who it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls: Option<ClusterTls>,
    /// How we prove who we are. With both present, the certificate is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auth: Option<ClusterAuth>,
    /// The Secret that holds a kubeconfig.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub secret_ref: Option<String>,
    /// The Secret that holds a kubeconfig, by its older name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub connection_config_ref: Option<String>,
    /// What the cluster can do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feature_flags: Option<FeatureFlags>,
}

/// How an API server proves who it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClusterTls {
    /// The authority that signed its certificate; the system's where nothing is given.
    pub ca: ValueFrom,
}

/// How we prove who we are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterAuth {
    /// With a certificate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mtls: Option<MutualTls>,
    /// With a token; as it is, not in base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bearer_token: Option<ValueFrom>,
}

/// A client certificate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MutualTls {
    /// The certificate, PEM or PEM in base64.
    pub client_cert: ValueFrom,
    /// Its key, PEM or PEM in base64.
    pub client_key: ValueFrom,
}

/// A value, or where to find it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = schema::rules(&[(
    "[has(self.value) && self.value != '', has(self.secretRef) && self.secretRef != '', \
      has(self.secretKeyRef)].filter(given, given).size() <= 1",
    "give value, secretRef or secretKeyRef, not several of them",
)])))]
pub struct ValueFrom {
    /// The value itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Sensitive>,
    /// The Secret that holds the value under its usual key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<String>,
    /// The Secret and the key that hold the value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_key_ref: Option<SecretKeyRef>,
}

/// One key of a Secret.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SecretKeyRef {
    /// The name of the Secret.
    pub name: String,
    /// The key within it.
    pub key: String,
    /// Its namespace; the plane's own where nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
}

/// What a cluster can do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FeatureFlags {
    /// Cilium enforces its network policies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cilium: Option<bool>,
    /// Workloads can be scaled to zero.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale_to_zero: Option<bool>,
    /// What kind of gateway there is, such as `envoy`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gateway_type: Option<String>,
}
