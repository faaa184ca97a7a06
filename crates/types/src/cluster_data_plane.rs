//! `ClusterDataPlane`: a data plane for every organization.

use kube::CustomResource;
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    data_plane::{self, DataPlaneSpec, DataPlaneStatus},
    schema,
};

/// What is asked of a data plane of the whole cluster: the same as of any other. Credentials in Secrets need their
/// namespace, since the plane has none of its own.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "openchoreo.dev",
    version = "v1alpha1",
    kind = "ClusterDataPlane",
    plural = "clusterdataplanes",
    shortname = "cdp",
    shortname = "cdps",
    category = "openchoreo",
    status = "DataPlaneStatus",
    derive = "PartialEq",
    derive = "Default",
    doc = "A data plane for every organization.",
    printcolumn(name = "Reached By", type_ = "string", json_path = ".status.reachedBy"),
    printcolumn(
        name = "Reachable",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Reachable')].status"
    ),
    printcolumn(name = "Version", type_ = "string", json_path = ".status.version"),
    printcolumn(
        name = "Agents",
        type_ = "integer",
        json_path = ".status.agentConnection.connectedAgents",
        priority = 1
    )
)]
#[serde(transparent)]
#[schemars(transform = only_cluster_wide_references)]
pub struct ClusterDataPlaneSpec(pub DataPlaneSpec);

/// In a definition, leaves only the kinds that belong to no namespace, and demands the name of the agent's plane:
/// planes of namespaces have it from their own name.
fn only_cluster_wide_references(definition: &mut Schema) {
    if let Some(kinds) =
        definition.pointer_mut("/properties/observabilityPlaneRef/properties/kind/enum")
    {
        *kinds = json!(["ClusterObservabilityPlane"]);
    }
    let agents_are_named = (
        "!has(self.clusterAgent) || has(self.planeID)",
        "a plane with an agent needs planeID",
    );
    let rules = [data_plane::ONE_WAY, agents_are_named];
    definition.insert("x-kubernetes-validations".to_owned(), schema::rules(&rules));
}
