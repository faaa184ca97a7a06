//! Gateways and routes on the embedded cluster: said to work when they would, and why not when they would not.

use std::sync::Arc;

use kube::{
    Api,
    api::{Patch, PatchParams},
    core::{ApiResource, DynamicObject, GroupVersionKind},
};
use quadrille_node::{SystemClock, gateway, third_party};
use quadrille_testkit::{Cluster, definitions, eventually};
use serde_json::{Value, json};

const GROUP: &str = "gateway.networking.k8s.io";

/// An embedded cluster with the kinds of gateways and somebody who looks after them.
async fn cluster() -> anyhow::Result<Cluster> {
    let cluster = Cluster::embedded().await?;
    let wanted: Vec<Value> = third_party::definitions()
        .map(|text| serde_json::from_str(&text).unwrap())
        .filter(|definition: &Value| {
            let name = definition["metadata"]["name"].as_str().unwrap();
            definition["spec"]["group"] == GROUP || name == "backends.gateway.envoyproxy.io"
        })
        .collect();
    definitions::install(&cluster.client(), &wanted).await?;
    tokio::spawn(gateway::run(cluster.client(), Arc::new(SystemClock)));
    Ok(cluster)
}

fn api(cluster: &Cluster, api_version: &str, kind: &str) -> Api<DynamicObject> {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
    if kind == "GatewayClass" {
        Api::all_with(cluster.client(), &resource)
    } else {
        Api::namespaced_with(cluster.client(), cluster.namespace(), &resource)
    }
}

async fn apply(cluster: &Cluster, object: &Value) -> anyhow::Result<()> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let api = api(
        cluster,
        &text(&object["apiVersion"]),
        &text(&object["kind"]),
    );
    let how = PatchParams::apply("test").force();
    api.patch(
        &text(&object["metadata"]["name"]),
        &how,
        &Patch::Apply(object),
    )
    .await?;
    Ok(())
}

/// Waits until a place in the status of an object says this.
async fn says(cluster: &Cluster, kind: &str, name: &str, place: &str, wanted: &Value) {
    let api = api(cluster, "gateway.networking.k8s.io/v1", kind);
    eventually(
        &format!("{kind} {name} says {wanted} at {place}"),
        async || {
            let status = api.get(name).await?.data["status"].take();
            let said = status.pointer(place).unwrap_or(&Value::Null);
            anyhow::ensure!(said == wanted, "{status}");
            Ok(())
        },
    )
    .await;
}

#[tokio::test]
async fn a_route_is_accepted_once_its_gateway_and_its_service_are_there() -> anyhow::Result<()> {
    let cluster = cluster().await?;
    let route = json!({
        "apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute",
        "metadata": { "name": "cart" },
        "spec": {
            "parentRefs": [{ "name": "public" }],
            "hostnames": ["cart.example.com"],
            "rules": [{ "backendRefs": [{ "name": "cart", "port": 8080 }] }],
        },
    });
    apply(&cluster, &route).await?;
    let reason = |index: usize| format!("/parents/0/conditions/{index}/reason");
    says(
        &cluster,
        "HTTPRoute",
        "cart",
        &reason(0),
        &json!("NoMatchingParent"),
    )
    .await;
    says(
        &cluster,
        "HTTPRoute",
        "cart",
        &reason(1),
        &json!("BackendNotFound"),
    )
    .await;

    apply(
        &cluster,
        &json!({
            "apiVersion": "gateway.networking.k8s.io/v1", "kind": "GatewayClass",
            "metadata": { "name": "local" },
            "spec": { "controllerName": gateway::CONTROLLERS[1] },
        }),
    )
    .await?;
    apply(&cluster, &json!({
        "apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway",
        "metadata": { "name": "public" },
        "spec": {
            "gatewayClassName": "local",
            "listeners": [{ "name": "web", "port": 80, "protocol": "HTTP", "hostname": "*.example.com" }],
        },
    }))
    .await?;
    apply(
        &cluster,
        &json!({
            "apiVersion": "v1", "kind": "Service", "metadata": { "name": "cart" },
            "spec": { "ports": [{ "port": 8080 }], "selector": { "app": "cart" } },
        }),
    )
    .await?;
    says(
        &cluster,
        "GatewayClass",
        "local",
        "/conditions/0/reason",
        &json!("Accepted"),
    )
    .await;
    says(
        &cluster,
        "Gateway",
        "public",
        "/conditions/1/type",
        &json!("Programmed"),
    )
    .await;
    says(
        &cluster,
        "Gateway",
        "public",
        "/conditions/1/status",
        &json!("True"),
    )
    .await;
    says(
        &cluster,
        "Gateway",
        "public",
        "/listeners/0/attachedRoutes",
        &json!(1),
    )
    .await;
    says(
        &cluster,
        "HTTPRoute",
        "cart",
        &reason(0),
        &json!("Accepted"),
    )
    .await;
    says(
        &cluster,
        "HTTPRoute",
        "cart",
        &reason(1),
        &json!("ResolvedRefs"),
    )
    .await;
    let controller = json!(gateway::CONTROLLERS[1]);
    says(
        &cluster,
        "HTTPRoute",
        "cart",
        "/parents/0/controllerName",
        &controller,
    )
    .await;
    Ok(())
}
