//! Policies for whatever knows the standard ones.

use std::collections::BTreeSet;

use quadrille_types::labels::{SYSTEM_COMPONENT, hierarchy};
use serde_json::{Map, Value, json};

use super::{OWNING_GATEWAY, Peer, Port, Reach};

pub(super) fn spec(pods: Value, ingress: &Reach<'_>, egress: Option<&Reach<'_>>) -> Value {
    let types = match egress {
        None => json!(["Ingress"]),
        Some(_) => json!(["Ingress", "Egress"]),
    };
    let mut spec = Map::from_iter([
        ("podSelector".to_owned(), pods),
        ("policyTypes".to_owned(), types),
    ]);
    if !ingress.is_empty() {
        spec.insert("ingress".to_owned(), rules(ingress, "from"));
    }
    if let Some(egress) = egress.filter(|egress| !egress.is_empty()) {
        spec.insert("egress".to_owned(), rules(egress, "to"));
    }
    Value::Object(spec)
}

/// Each peer with its ports. Where there is none, the direction is named and has no rules: nobody gets through. (An empty
/// list would say the same, but a server counts it as a change each time.)
fn rules(reach: &Reach<'_>, direction: &str) -> Value {
    let rule = |(peer, ports): (&Peer<'_>, &BTreeSet<Port>)| {
        let mut rule = Value::from_iter([(direction, Value::from(vec![selector(peer)?]))]);
        if !ports.is_empty() {
            rule["ports"] = written(ports);
        }
        Some(rule)
    };
    reach.iter().filter_map(rule).collect()
}

fn written(ports: &BTreeSet<Port>) -> Value {
    let ports: BTreeSet<(i32, &str)> = ports
        .iter()
        .map(|(port, transport, _)| (*port, *transport))
        .collect();
    let ports = ports.into_iter();
    ports
        .map(|(port, transport)| json!({ "port": port, "protocol": transport }))
        .collect()
}

/// Who is meant; nobody for a name, which nothing here can express: it is refused before, and opens nothing in any case.
fn selector(peer: &Peer<'_>) -> Option<Value> {
    Some(match *peer {
        Peer::OwnCell => json!({ "podSelector": {} }),
        Peer::Organization {
            organization,
            environment,
        } => json!({ "namespaceSelector": { "matchLabels": {
            hierarchy::NAMESPACE: organization,
            hierarchy::ENVIRONMENT: environment,
        }}}),
        Peer::Gateways => {
            let exists = json!([{ "key": SYSTEM_COMPONENT, "operator": "Exists" }]);
            json!({ "namespaceSelector": {}, "podSelector": { "matchExpressions": exists } })
        }
        Peer::Gateway { name, namespace } => json!({
            "namespaceSelector": { "matchExpressions": [
                { "key": hierarchy::PROJECT, "operator": "DoesNotExist" },
            ]},
            "podSelector": { "matchLabels": {
                OWNING_GATEWAY[0]: name,
                OWNING_GATEWAY[1]: namespace,
            }},
        }),
        Peer::NameService => json!({
            "namespaceSelector": { "matchLabels": { "kubernetes.io/metadata.name": "kube-system" } },
            "podSelector": { "matchLabels": { "k8s-app": "kube-dns" } },
        }),
        Peer::Component {
            organization,
            project,
            component,
            environment,
        } => json!({
            "namespaceSelector": { "matchLabels": {
                hierarchy::NAMESPACE: organization,
                hierarchy::PROJECT: project,
                hierarchy::ENVIRONMENT: environment,
            }},
            "podSelector": { "matchLabels": {
                hierarchy::NAMESPACE: organization,
                hierarchy::PROJECT: project,
                hierarchy::COMPONENT: component,
                hierarchy::ENVIRONMENT: environment,
            }},
        }),
        Peer::Range(range) => json!({ "ipBlock": { "cidr": range } }),
        Peer::Host(_) => return None,
    })
}
