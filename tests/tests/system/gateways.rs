//! Gateways for the routes of a test, and whoever says of routes and policies that they are in force. On a cluster of the
//! test's own they are its own; a shared one has one gateway controller for all tests.

use std::{sync::Arc, thread};

use futures::StreamExt as _;
use kube::{
    Api, Client, ResourceExt as _,
    api::{DynamicObject, Patch, PatchParams},
    core::{ApiResource, GroupVersionKind},
    runtime::{WatchStreamExt as _, watcher},
};
use quadrille_node::{SystemClock, gateway, third_party};
use quadrille_testkit::{Cluster, ClusterKind, definitions, real};
use serde_json::{Value, json};
use tokio::{sync::OnceCell, task::JoinSet};

/// Kinds that gateways report on beside routes. Nobody gives them life in a test but this.
const REPORTED: [(&str, bool); 3] = [
    ("SecurityPolicy", true),
    ("BackendTrafficPolicy", true),
    ("Backend", false),
];

/// The kinds of other projects that releases of the deployment system are made of.
fn others() -> Vec<Value> {
    let groups = [
        "gateway.networking.k8s.io",
        "gateway.envoyproxy.io",
        "cilium.io",
        "secrets-store.csi.x-k8s.io",
        "external-secrets.io",
        "keda.sh",
    ];
    let text = third_party::definitions();
    let all = text.lines().map(|line| serde_json::from_str(line).unwrap());
    all.filter(|one: &Value| groups.iter().any(|group| one["spec"]["group"] == *group))
        .collect()
}

/// Gives a cluster the kinds of other projects, and two gateways in the test's namespace: `external` and `internal`.
pub(crate) async fn open(cluster: &Cluster) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    let client = cluster.client();
    if cluster.kind() == ClusterKind::Embedded {
        definitions::install(&client, &others()).await.unwrap();
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
    for (kind, has_ancestors) in REPORTED {
        tasks.spawn(report(
            client.clone(),
            cluster.unique("acme"),
            kind,
            has_ancestors,
        ));
    }
    tasks
}

/// One gateway controller for a cluster that tests share: as long as their process runs, whichever of them ends first.
async fn attend() {
    static ATTENDED: OnceCell<()> = OnceCell::const_new();
    let begin = async || {
        let client = real::shared_client().await.unwrap();
        definitions::install(&client, &others()).await.unwrap();
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

/// Says of everything of a kind that an organization has that it is in force, as its gateway would.
async fn report(client: Client, org: String, kind: &'static str, has_ancestors: bool) {
    let gvk = GroupVersionKind::gvk("gateway.envoyproxy.io", "v1alpha1", kind);
    let resource = ApiResource::from_gvk(&gvk);
    let all: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
    let own = format!("openchoreo.dev/release-namespace={org}");
    let config = watcher::Config::default().labels(&own);
    let mut seen = watcher(all, config)
        .default_backoff()
        .applied_objects()
        .boxed();
    while let Some(object) = seen.next().await {
        let Ok(object) = object else { continue };
        let accepted = json!({
            "type": "Accepted", "status": "True", "reason": "Accepted", "message": "it is in force",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
            "observedGeneration": object.metadata.generation,
        });
        let status = if has_ancestors {
            json!({ "ancestors": [{
                "ancestorRef": { "name": "external" },
                "controllerName": gateway::CONTROLLERS[1], "conditions": [accepted],
            }]})
        } else {
            json!({ "conditions": [accepted] })
        };
        if object.data["status"] == status {
            continue;
        }
        let namespace = object.namespace().unwrap_or_default();
        let api: Api<DynamicObject> = Api::namespaced_with(client.clone(), &namespace, &resource);
        let patch = json!({ "status": status });
        // One that is gone by now needs no word.
        let _ = api
            .patch_status(
                &object.name_any(),
                &PatchParams::default(),
                &Patch::Merge(&patch),
            )
            .await;
    }
}
