//! The objects that every cluster has.

pub(crate) mod definitions;
mod roles;

use std::sync::Arc;

use futures::future;
use quadrille_machinery::status::Status;
use serde_json::{Value, json};

use super::{apply, edit};
use crate::{
    clock, lifecycle,
    options::WriteOptions,
    rest::write::{self, Ownership},
    server::{Shared, StartError},
    services::KUBERNETES_IP,
};

/// Who owns what the server writes at its start.
const MANAGER: &str = "quadrille";
/// The name of the one node of an embedded cluster.
const NODE: &str = "quadrille";

/// Writes what is missing.
pub(crate) async fn run(shared: &Arc<Shared>, housekeeping: bool) -> Result<(), StartError> {
    for namespace in ["default", "kube-node-lease", "kube-public", "kube-system"] {
        let object = json!({
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": { "name": namespace },
        });
        ensure(shared, &object).await?;
    }
    let objects: Vec<Value> = furniture().into_iter().chain(roles::objects()).collect();
    // At once: the store writes together what comes together.
    future::try_join_all(objects.iter().map(|object| ensure(shared, object))).await?;
    if housekeeping {
        for component in ["controller-manager", "etcd-0", "scheduler"] {
            ensure(shared, &component_status(component)).await?;
        }
        ensure(shared, &node(&clock::seconds(shared.clock.now()))).await?;
        let failed = |status| StartError::Bootstrap {
            what: format!("Node/{NODE}"),
            status,
        };
        let nodes = shared.resource("", "v1", "nodes").map_err(failed)?;
        // A new node is taken for not ready. This one is.
        edit(shared, &nodes, None, NODE, |node| {
            node["spec"]
                .as_object_mut()
                .is_some_and(|spec| spec.remove("taints").is_some())
        })
        .await
        .map_err(failed)?;
    }
    Ok(())
}

pub(super) fn by_the_server() -> WriteOptions {
    WriteOptions {
        field_manager: Some(MANAGER.to_owned()),
        ..WriteOptions::default()
    }
}

/// Makes objects of the whole cluster what they should be.
pub(crate) async fn apply_all(shared: &Arc<Shared>, objects: &[Value]) -> Result<(), StartError> {
    let apply_one = async |object: &Value| {
        let what = format!("{}/{}", object["kind"], object["metadata"]["name"]).replace('"', "");
        let failed = |status| StartError::Bootstrap { what, status };
        let text = |field: &str| object[field].as_str().unwrap_or_default();
        let catalog = shared.catalog.snapshot();
        let Some(resource) = catalog.of_kind(text("apiVersion"), text("kind")) else {
            return Err(failed(Status::internal("no such kind is served")));
        };
        let code = apply(shared, resource, None, MANAGER, object).await;
        if code.is_success() {
            Ok(())
        } else {
            Err(failed(Status::internal(format!("applied in vain: {code}"))))
        }
    };
    future::try_join_all(objects.iter().map(apply_one)).await?;
    Ok(())
}

async fn ensure(shared: &Arc<Shared>, object: &Value) -> Result<(), StartError> {
    let what = format!("{}/{}", object["kind"], object["metadata"]["name"]).replace('"', "");
    create_missing(shared, object, MANAGER)
        .await
        .map_err(|status| StartError::Bootstrap { what, status })
}

/// Creates an object unless there is one of its name.
pub(crate) async fn create_missing(
    shared: &Arc<Shared>,
    object: &Value,
    manager: &str,
) -> Result<(), Status> {
    let api_version = object["apiVersion"].as_str().unwrap_or_default();
    let kind = object["kind"].as_str().unwrap_or_default();
    let catalog = shared.catalog.snapshot();
    let resource = catalog
        .of_kind(api_version, kind)
        .ok_or_else(|| Status::internal(format!("{kind} is not served")))?;
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let request = shared.request(resource, object["metadata"]["namespace"].as_str(), name);
    if lifecycle::fetch(&request, request.namespace(), name)?.is_some() {
        return Ok(());
    }
    let options = WriteOptions {
        field_manager: Some(manager.to_owned()),
        ..WriteOptions::default()
    };
    match write::create(&request, &options, object.clone(), Ownership::Track).await {
        Err(status) if status.reason == "AlreadyExists" => Ok(()),
        Err(status) => Err(status),
        Ok(_) => Ok(()),
    }
}

fn furniture() -> Vec<Value> {
    vec![
        json!({
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {
                "name": "kubernetes",
                "namespace": "default",
                "labels": { "component": "apiserver", "provider": "kubernetes" },
            },
            "spec": {
                "clusterIP": KUBERNETES_IP.to_string(),
                "clusterIPs": [KUBERNETES_IP.to_string()],
                "ports": [{ "name": "https", "port": 443, "protocol": "TCP", "targetPort": 6443 }],
                "type": "ClusterIP",
            },
        }),
        priority_class("system-cluster-critical", 2_000_000_000),
        priority_class("system-node-critical", 2_000_001_000),
    ]
}

fn priority_class(name: &str, value: i64) -> Value {
    json!({
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": { "name": name },
        "value": value,
        "description": "Pods that the cluster itself needs.",
    })
}

/// The parts of a control plane, which here are one process: if anybody hears this, they are well.
fn component_status(name: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ComponentStatus",
        "metadata": { "name": name },
        "conditions": [{ "type": "Healthy", "status": "True", "message": "ok" }],
    })
}

fn node(now: &str) -> Value {
    let condition = |name: &str, status: &str, reason: &str, message: &str| {
        json!({
            "type": name,
            "status": status,
            "reason": reason,
            "message": message,
            "lastHeartbeatTime": now,
            "lastTransitionTime": now,
        })
    };
    let room = "the embedded cluster's node has room";
    let resources =
        json!({ "cpu": "8", "memory": "32Gi", "pods": "1000", "ephemeral-storage": "100Gi" });
    json!({
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": NODE,
            "labels": {
                "kubernetes.io/arch": "amd64",
                "kubernetes.io/hostname": NODE,
                "kubernetes.io/os": "linux",
            },
        },
        "spec": {},
        "status": {
            "capacity": resources,
            "allocatable": resources,
            "addresses": [
                { "type": "InternalIP", "address": "127.0.0.1" },
                { "type": "Hostname", "address": NODE },
            ],
            "conditions": [
                condition("MemoryPressure", "False", "EmbeddedNodeHasRoom", room),
                condition("DiskPressure", "False", "EmbeddedNodeHasRoom", room),
                condition("PIDPressure", "False", "EmbeddedNodeHasRoom", room),
                condition("Ready", "True", "EmbeddedNodeReady", "the embedded cluster's node is ready"),
            ],
            "nodeInfo": {
                "architecture": "amd64",
                "bootID": "",
                "containerRuntimeVersion": "",
                "kernelVersion": "",
                "kubeProxyVersion": "",
                "kubeletVersion": concat!("v", env!("CARGO_PKG_VERSION"), "-quadrille"),
                "machineID": "",
                "operatingSystem": "linux",
                "osImage": "",
                "systemUUID": "",
            },
        },
    })
}
