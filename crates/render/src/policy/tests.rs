//! Who may reach what.

use quadrille_types::{
    DataPlaneSpec, EnvironmentSpec, ReleaseBindingSpec, workload::WorkloadTemplate,
};

use super::*;
use crate::inputs::Named;

/// The policy of a workload with these endpoints, where egress is open.
fn policy(endpoints: &Value, provider: PolicyProvider) -> Value {
    let workload = json!({ "container": { "image": "i" }, "endpoints": endpoints });
    render(&workload, None, provider).unwrap()
}

/// The policy of a workload. Where egress is enforced, with the endpoints of others that were found.
fn render(
    workload: &Value,
    enforced: Option<&[ResolvedConnection]>,
    provider: PolicyProvider,
) -> Result<Value, String> {
    let template: WorkloadTemplate = serde_json::from_value(workload.clone()).unwrap();
    let workload = template.resolve("spec").unwrap();
    let owner = json!({ "projectName": "shop", "componentName": "cart" });
    let binding: ReleaseBindingSpec =
        serde_json::from_value(json!({ "owner": owner, "environment": "dev" })).unwrap();
    let named = |name| Named { name, uid: "u" };
    let inputs = Inputs {
        organization: "acme",
        project: named("shop"),
        component: named("cart"),
        binding: &binding,
        environment: named("dev"),
        environment_spec: &EnvironmentSpec::default(),
        plane: named("default"),
        plane_spec: &DataPlaneSpec::default(),
        plane_annotations: &BTreeMap::new(),
        enforces_egress: enforced.is_some(),
        secrets: &BTreeMap::new(),
        connections: enforced.unwrap_or_default(),
        resources: &[],
        notification_channel: None,
        restarted_at: None,
    };
    of(&workload, &Metadata::of(&inputs), &inputs, provider).map_err(|error| error.to_string())
}

/// A dependency on the endpoint `http` of `stock`, and where it was found.
fn stock(project: &str, target_port: Option<i32>) -> (Value, ResolvedConnection) {
    let found = json!({
        "namespace": "acme", "project": project, "component": "stock", "endpoint": "http", "visibility": "namespace",
        "url": { "scheme": "http", "host": "stock", "port": 80 }, "targetPort": target_port,
    });
    let needed = json!({
        "project": project, "component": "stock", "name": "http", "visibility": "namespace", "envBindings": {},
    });
    let workload =
        json!({ "container": { "image": "i" }, "dependencies": { "endpoints": [needed] } });
    (workload, serde_json::from_value(found).unwrap())
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
    assert_eq!(standard["spec"].get("ingress"), None);
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

#[test]
fn cilium_takes_forty_ports_at_once() {
    let endpoints: BTreeMap<String, Value> = (1..=95)
        .map(|number| {
            let written = json!({ "type": "TCP", "port": number });
            (format!("e{number}"), written)
        })
        .collect();
    let policy = policy(&json!(endpoints), PolicyProvider::Cilium);
    let entries = policy["spec"]["ingress"][0]["toPorts"].as_array().unwrap();
    let sizes: Vec<usize> = entries
        .iter()
        .map(|entry| entry["ports"].as_array().unwrap().len())
        .collect();
    assert_eq!(sizes, [40, 40, 15]);
}

#[test]
fn egress_goes_to_the_port_that_the_pods_of_a_dependency_listen_on() {
    for (target_port, expected) in [(Some(8080), 8080), (None, 80)] {
        let (workload, found) = stock("warehouse", target_port);
        let policy = render(&workload, Some(&[found]), PolicyProvider::Standard).unwrap();
        let egress = &policy["spec"]["egress"];
        assert_eq!(egress.as_array().unwrap().len(), 1);
        assert_eq!(
            egress[0]["ports"],
            json!([{ "port": expected, "protocol": "TCP" }])
        );
        let pods = &egress[0]["to"][0]["podSelector"]["matchLabels"];
        assert_eq!(pods["openchoreo.dev/component"], "stock");
        assert_eq!(pods["openchoreo.dev/project"], "warehouse");
    }
}

#[test]
fn what_was_not_found_yet_and_what_is_in_the_own_cell_need_no_rule() {
    let (workload, _) = stock("warehouse", None);
    let (own, found) = stock("shop", None);
    for (workload, found) in [(workload, vec![]), (own, vec![found])] {
        let standard = render(&workload, Some(&found), PolicyProvider::Standard).unwrap();
        assert_eq!(standard["spec"].get("egress"), None);
        assert_eq!(
            standard["spec"]["policyTypes"],
            json!(["Ingress", "Egress"])
        );
        let cilium = render(&workload, Some(&found), PolicyProvider::Cilium).unwrap();
        assert_eq!(cilium["spec"]["egress"], json!([{}]));
    }
}

#[test]
fn names_are_for_cilium_and_elsewhere_only_where_nothing_is_enforced() {
    let workload = json!({ "container": { "image": "i" }, "dependencies": { "external": [
        { "host": "api.example.com", "ports": [{ "port": 443 }] },
        { "host": "*.example.com", "ports": [{ "port": 443 }] },
    ]}});
    let policy = render(&workload, Some(&[]), PolicyProvider::Cilium).unwrap();
    let to_ports = json!([{ "ports": [{ "port": "443", "protocol": "TCP" }] }]);
    assert_eq!(
        policy["spec"]["egress"],
        json!([
            { "toFQDNs": [{ "matchPattern": "*.example.com" }], "toPorts": to_ports },
            { "toFQDNs": [{ "matchName": "api.example.com" }], "toPorts": to_ports },
        ])
    );
    let problem = render(&workload, Some(&[]), PolicyProvider::Standard).unwrap_err();
    assert!(
        problem.contains("external[0].host: is \"api.example.com\""),
        "{problem}"
    );
    let open = render(&workload, None, PolicyProvider::Standard).unwrap();
    assert_eq!(open["spec"].get("egress"), None);
}
