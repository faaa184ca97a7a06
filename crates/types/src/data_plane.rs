//! `DataPlane`: a Kubernetes cluster that releases are delivered to, and how it is reached.

mod cluster;
mod resolve;
mod sensitive;

pub use cluster::{
    ClusterAuth, ClusterTls, FeatureFlags, KubernetesCluster, MutualTls, SecretKeyRef, ValueFrom,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::CustomResource;
pub use resolve::{Auth, Connection, Credential, Resolved, SecretKey};
use schemars::JsonSchema;
pub use sensitive::Sensitive;
use serde::{Deserialize, Serialize};

use crate::{gateway::GatewayNetwork, names::PlaneId, schema};

/// What is asked of a data plane.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "openchoreo.dev",
    version = "v1alpha1",
    kind = "DataPlane",
    plural = "dataplanes",
    namespaced,
    shortname = "dp",
    shortname = "dps",
    category = "openchoreo",
    status = "DataPlaneStatus",
    derive = "PartialEq",
    derive = "Default",
    doc = "A Kubernetes cluster that releases are delivered to, and how it is reached.",
    printcolumn(name = "Reached By", type_ = "string", json_path = ".status.reachedBy"),
    printcolumn(
        name = "Reachable",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Reachable')].status"
    ),
    printcolumn(name = "Version", type_ = "string", json_path = ".status.version"),
    printcolumn(
        name = "Server",
        type_ = "string",
        json_path = ".spec.kubernetesCluster.server",
        priority = 1
    ),
    printcolumn(
        name = "Agents",
        type_ = "integer",
        json_path = ".status.agentConnection.connectedAgents",
        priority = 1
    )
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = schema::rules(&[ONE_WAY])))]
pub struct DataPlaneSpec {
    /// How to reach the cluster directly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kubernetes_cluster: Option<KubernetesCluster>,
    /// The agent in the cluster, which dials in to us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_agent: Option<ClusterAgent>,
    /// The name by which the agent knows the plane; the object's own name where nothing is said.
    #[serde(rename = "planeID", skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = schema::DNS_LABEL))]
    pub plane_id: Option<PlaneId>,
    /// Where images are pulled from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub registry: Option<Registry>,
    /// How what runs on the plane is reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gateway: Option<DataPlaneGateway>,
    /// Where logs of the plane are queried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observer: Option<Observer>,
    /// The secret store of the plane that secrets are taken from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_store_ref: Option<SecretStoreRef>,
    /// The plane that observes this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observability_plane_ref: Option<ObservabilityPlaneRef>,
}

/// A plane is reached in one way.
pub(crate) const ONE_WAY: (&str, &str) = (
    "has(self.kubernetesCluster) != has(self.clusterAgent)",
    "a plane is reached either directly (kubernetesCluster) or by its agent (clusterAgent)",
);

/// The agent of a plane.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClusterAgent {
    /// The authority that signs the agent's certificates.
    #[serde(rename = "clientCA")]
    pub client_ca: ValueFrom,
}

/// Where images are pulled from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Registry {
    /// The first part of image names.
    pub prefix: String,
    /// The Secret with the credentials to pull.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<String>,
}

/// How what runs on a plane is reached: the older fields and the newer ones.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = schema::rules(&[(
    "has(self.publicVirtualHost) == has(self.organizationVirtualHost)",
    "publicVirtualHost and organizationVirtualHost go together"
)])))]
pub struct DataPlaneGateway {
    /// The domain for the outside world.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public_virtual_host: Option<String>,
    /// The domain within the organization.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub organization_virtual_host: Option<String>,
    /// Gateways for traffic that comes in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ingress: Option<GatewayNetwork>,
    /// Gateways for traffic that goes out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub egress: Option<GatewayNetwork>,
}

/// Where logs of a plane are queried.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Observer {
    /// The address of the service.
    pub url: String,
    /// How to identify to it.
    pub authentication: ObserverAuthentication,
}

/// How to identify to an observer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObserverAuthentication {
    /// User name and password.
    pub basic_auth: BasicAuth,
}

/// A user name and a password.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BasicAuth {
    /// The user name.
    pub username: String,
    /// The password.
    pub password: Sensitive,
}

/// A `ClusterSecretStore` of the External Secrets operator.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SecretStoreRef {
    /// The name of the store.
    pub name: String,
}

/// The plane that observes another one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ObservabilityPlaneRef {
    /// `ObservabilityPlane` in the same namespace, or `ClusterObservabilityPlane`.
    #[schemars(extend("enum" = ["ObservabilityPlane", "ClusterObservabilityPlane"]))]
    pub kind: String,
    /// The name of the plane.
    #[schemars(
        length(min = 1, max = 63),
        regex(pattern = schema::DNS_LABEL)
    )]
    pub name: String,
}

/// What was seen of a data plane.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DataPlaneStatus {
    /// The generation that was last acted upon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// How the plane is doing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::conditions")]
    pub conditions: Vec<Condition>,
    /// How the plane is reached: `local`, `push` or `pull`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reached_by: Option<String>,
    /// The version of Kubernetes that the plane runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// How long the plane took to answer when it was last connected to, roughly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency: Option<String>,
    /// When the credentials for the plane expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::time")]
    pub credentials_expire: Option<Time>,
    /// The agent's side of the story.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_connection: Option<AgentConnection>,
}

/// Whether and since when agents of a plane are connected.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentConnection {
    /// Whether at least one agent is connected.
    pub connected: bool,
    /// How many agents are connected.
    pub connected_agents: i32,
    /// When an agent last connected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::time")]
    pub last_connected_time: Option<Time>,
    /// When the last agent left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::time")]
    pub last_disconnected_time: Option<Time>,
    /// When an agent was last heard of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::time")]
    pub last_heartbeat_time: Option<Time>,
    /// What is to be said about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}
