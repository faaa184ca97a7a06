//! Who may reach what.

use quadrille_types::{
    ComponentReleaseSpec, DataPlaneSpec, EnvironmentSpec, ReleaseBindingSpec,
    workload::WorkloadTemplate,
};

use super::*;
use crate::inputs::Named;

/// The policy of a workload with these endpoints.
fn policy(endpoints: &Value, provider: PolicyProvider) -> Value {
    let template: WorkloadTemplate =
        serde_json::from_value(json!({ "container": { "image": "i" }, "endpoints": endpoints }))
            .unwrap();
    let endpoints = template.resolve("spec").unwrap().endpoints;
    let owner = json!({ "projectName": "shop", "componentName": "cart" });
    let release: ComponentReleaseSpec = serde_json::from_value(json!({
        "owner": owner, "workload": template,
        "componentType": { "kind": "ComponentType", "name": "proxy/x", "spec": { "workloadType": "proxy", "resources": [] } },
    }))
    .unwrap();
    let binding: ReleaseBindingSpec =
        serde_json::from_value(json!({ "owner": owner, "environment": "dev" })).unwrap();
    let named = |name| Named { name, uid: "u" };
    let inputs = Inputs {
        organization: "acme",
        project: named("shop"),
        component: named("cart"),
        release: &release,
        binding: &binding,
        environment: named("dev"),
        environment_spec: &EnvironmentSpec::default(),
        plane: named("default"),
        plane_spec: &DataPlaneSpec::default(),
        plane_annotations: &BTreeMap::new(),
        secrets: &BTreeMap::new(),
        connections: &[],
        resources: &[],
        notification_channel: None,
        restarted_at: None,
    };
    of(&endpoints, &Metadata::of(&inputs), &inputs, provider)
}

fn three_endpoints() -> Value {
    json!({
        "web": { "type": "HTTP", "port": 80, "targetPort": 8080, "visibility": ["external"] },
        "rpc": { "type": "gRPC", "port": 90, "visibility": ["namespace"] },
        "dns": { "type": "UDP", "port": 8080 },
    })
}

#[test]
fn the_cell_reaches_all_ports_others_what_is_visible_to_them() {
    let policy = policy(&three_endpoints(), PolicyProvider::Standard);
    let port = |port, protocol: &str| json!({ "port": port, "protocol": protocol });
    let ingress = &policy["spec"]["ingress"];
    assert_eq!(
        ingress[0],
        json!({
            "from": [{ "podSelector": {} }],
            "ports": [port(90, "TCP"), port(8080, "TCP"), port(8080, "UDP")],
        })
    );
    let others = json!({ "openchoreo.dev/namespace": "acme", "openchoreo.dev/environment": "dev" });
    assert_eq!(
        ingress[1],
        json!({ "from": [{ "namespaceSelector": { "matchLabels": others } }], "ports": [port(90, "TCP")] })
    );
    assert_eq!(
        ingress[2]["ports"],
        json!([port(8080, "TCP")]),
        "the port that pods listen on"
    );
    assert_eq!(policy["metadata"]["name"], "openchoreo-cart");
}

#[test]
fn without_endpoints_nobody_gets_in() {
    let standard = policy(&json!({}), PolicyProvider::Standard);
    assert_eq!(standard["spec"]["ingress"], json!([]));
    assert_eq!(standard["spec"]["policyTypes"], json!(["Ingress"]));
    let cilium = policy(&json!({}), PolicyProvider::Cilium);
    assert_eq!(cilium["spec"]["ingress"], json!([{}]));
}

#[test]
fn cilium_gets_http_apart_from_the_rest() {
    let policy = policy(&three_endpoints(), PolicyProvider::Cilium);
    let port = |port: &str, protocol: &str| json!({ "port": port, "protocol": protocol });
    assert_eq!(
        policy["spec"]["ingress"][0],
        json!({ "fromEndpoints": [{}], "toPorts": [
            { "ports": [port("90", "TCP"), port("8080", "TCP")], "rules": { "http": [{}] } },
            { "ports": [port("8080", "UDP")] },
        ]})
    );
}
