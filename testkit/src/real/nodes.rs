//! Nodes that kwok brings to life: ready, with room for pods.

use k8s_openapi::api::core::v1::Node;
use kube::{
    Api, Client,
    api::{ListParams, PostParams},
};
use serde_json::json;

/// Creates `count` nodes named `node-0`, `node-1`, …
pub(super) async fn create(client: &Client, count: usize) -> anyhow::Result<()> {
    let api = Api::<Node>::all(client.clone());
    for index in 0..count {
        api.create(&PostParams::default(), &node(index)?).await?;
    }
    Ok(())
}

/// Whether that many nodes are ready and may take pods.
pub(super) async fn are_ready(client: &Client, count: usize) -> anyhow::Result<bool> {
    let nodes = Api::<Node>::all(client.clone())
        .list(&ListParams::default())
        .await?;
    Ok(nodes.items.iter().filter(|node| takes_pods(node)).count() >= count)
}

fn takes_pods(node: &Node) -> bool {
    let conditions = node
        .status
        .as_ref()
        .and_then(|status| status.conditions.as_deref());
    let is_ready = conditions
        .unwrap_or_default()
        .iter()
        .any(|condition| condition.type_ == "Ready" && condition.status == "True");
    let is_tainted = node
        .spec
        .as_ref()
        .and_then(|spec| spec.taints.as_ref())
        .is_some_and(|taints| !taints.is_empty());
    is_ready && !is_tainted
}

fn node(index: usize) -> anyhow::Result<Node> {
    let name = format!("node-{index}");
    // Room for what all tests of a run leave behind.
    let room = json!({
        "cpu": "10k", "memory": "100Ti", "pods": "100k", "ephemeral-storage": "1Pi",
    });
    Ok(serde_json::from_value(json!({
        "metadata": {
            "name": name,
            "labels": {
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
                "kubernetes.io/arch": "amd64",
            },
        },
        "status": { "allocatable": room, "capacity": room },
    }))?)
}
