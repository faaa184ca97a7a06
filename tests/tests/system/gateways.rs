//! Gateways for the routes of a test, and whoever says of routes and policies that they are in force. On a cluster of the
//! test's own they are its own; a shared one has one gateway controller for all tests.

use std::{sync::Arc, thread};

use kube::{
    Api,
    api::{DynamicObject, Patch, PatchParams},
    core::{ApiResource, GroupVersionKind},
};
use quadrille_node::{SystemClock, gateway};
use quadrille_testkit::{Cluster, ClusterKind, real};
use serde_json::{Value, json};
use tokio::{sync::OnceCell, task::JoinSet};

/// Gives a cluster two gateways in the test's namespace: `external` and `internal`.
pub(crate) async fn open(cluster: &Cluster) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    let client = cluster.client();
    if cluster.kind() == ClusterKind::Embedded {
        tasks.spawn(gateway::run(client.clone(), Arc::new(SystemClock)));
    } else {
        attend().await;
    }
    let class = cluster.unique("local");
    let object = json!({
        "apiVersion": "gateway.networking.k8s.io/v1", "kind": "GatewayClass",
        "metadata": { "name": class }, "spec": { "controllerName": gateway::CONTROLLERS[0] },
    });
    apply(Api::all_with(client.clone(), &kind("GatewayClass")), object).await;
    let listener = |protocol: &str, port: u16| {
        json!({
            "name": protocol.to_lowercase(), "protocol": protocol, "port": port,
            "allowedRoutes": { "namespaces": { "from": "All" } },
        })
    };
    let inside = [
        listener("HTTP", 8081),
        listener("TCP", 5672),
        listener("UDP", 5353),
    ];
    for (name, listeners) in [
        ("external", vec![listener("HTTP", 8080)]),
        ("internal", inside.to_vec()),
    ] {
        let object = json!({
            "apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway",
            "metadata": { "name": name },
            "spec": { "gatewayClassName": class, "listeners": listeners },
        });
        let api = Api::namespaced_with(client.clone(), cluster.namespace(), &kind("Gateway"));
        apply(api, object).await;
    }
    tasks
}

/// One gateway controller for a cluster that tests share: as long as their process runs, whichever of them ends first.
async fn attend() {
    static ATTENDED: OnceCell<()> = OnceCell::const_new();
    let begin = async || {
        thread::spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                let client = real::shared_client().await.unwrap();
                gateway::run(client, Arc::new(SystemClock)).await;
            });
        });
    };
    ATTENDED.get_or_init(begin).await;
}

fn kind(kind: &str) -> ApiResource {
    ApiResource::from_gvk(&GroupVersionKind::gvk(
        "gateway.networking.k8s.io",
        "v1",
        kind,
    ))
}

async fn apply(api: Api<DynamicObject>, object: Value) {
    let name = object["metadata"]["name"].as_str().unwrap().to_owned();
    let how = PatchParams::apply("test").force();
    api.patch(&name, &how, &Patch::Apply(&object))
        .await
        .unwrap();
}
