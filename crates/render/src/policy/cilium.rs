//! Policies for Cilium, which also looks into HTTP and knows names.

use std::collections::BTreeSet;

use quadrille_types::labels::{SYSTEM_COMPONENT, hierarchy};
use serde_json::{Map, Value, json};

use super::{OWNING_GATEWAY, Peer, Port, Reach};

/// The most ports that Cilium takes in one entry.
const PORTS_AT_ONCE: usize = 40;

pub(super) fn spec(pods: Value, ingress: &Reach<'_>, egress: Option<&Reach<'_>>) -> Value {
    let mut spec = Map::from_iter([
        ("endpointSelector".to_owned(), pods),
        ("ingress".to_owned(), rules(ingress, "from")),
    ]);
    if let Some(egress) = egress {
        spec.insert("egress".to_owned(), rules(egress, "to"));
    }
    Value::Object(spec)
}

/// Each peer with its ports. A direction is closed by any rule for it, and stays open under an empty list: so where nobody
/// is let through there is one rule that names nobody.
fn rules(reach: &Reach<'_>, direction: &str) -> Value {
    if reach.is_empty() {
        return json!([{}]);
    }
    let rule = |(peer, ports): (&Peer<'_>, &BTreeSet<Port>)| {
        let (kind, selector) = selector(peer);
        let peers = (format!("{direction}{kind}"), Value::from(vec![selector]));
        let mut rule = Value::from_iter([peers]);
        if !ports.is_empty() {
            rule["toPorts"] = Value::from(written(peer, ports));
        }
        rule
    };
    reach.iter().map(rule).collect()
}

/// Ports by what is spoken there. Answers of the name service are read, which is how names become addresses.
fn written(peer: &Peer<'_>, ports: &BTreeSet<Port>) -> Vec<Value> {
    let mut entries = Vec::new();
    for speaks_http in [true, false] {
        let alike: Vec<Value> = ports
            .iter()
            .filter(|(_, _, http)| *http == speaks_http)
            .map(|(port, transport, _)| json!({ "port": port.to_string(), "protocol": transport }))
            .collect();
        for some in alike.chunks(PORTS_AT_ONCE) {
            let mut entry = json!({ "ports": some });
            if speaks_http {
                entry["rules"] = json!({ "http": [{}] });
            } else if *peer == Peer::NameService {
                entry["rules"] = json!({ "dns": [{ "matchPattern": "*" }] });
            }
            entries.push(entry);
        }
    }
    entries
}

/// Who is meant, and by which kind of list. A selector of pods is about the own namespace until it names one.
fn selector(peer: &Peer<'_>) -> (&'static str, Value) {
    let any_namespace =
        || json!({ "key": "k8s:io.kubernetes.pod.namespace", "operator": "Exists" });
    let of_namespace = |key: &str| format!("k8s:io.cilium.k8s.namespace.labels.{key}");
    let of_pod = |key: &str| format!("k8s:{key}");
    let pods = match *peer {
        Peer::OwnCell => json!({}),
        Peer::Organization {
            organization,
            environment,
        } => json!({
            "matchLabels": {
                of_namespace(hierarchy::NAMESPACE): organization,
                of_namespace(hierarchy::ENVIRONMENT): environment,
            },
            "matchExpressions": [any_namespace()],
        }),
        Peer::Gateways => {
            let system = json!({ "key": of_pod(SYSTEM_COMPONENT), "operator": "Exists" });
            json!({ "matchExpressions": [system, any_namespace()] })
        }
        Peer::Gateway { name, namespace } => {
            let no_cell =
                json!({ "key": of_namespace(hierarchy::PROJECT), "operator": "DoesNotExist" });
            json!({
                "matchLabels": {
                    of_pod(OWNING_GATEWAY[0]): name,
                    of_pod(OWNING_GATEWAY[1]): namespace,
                },
                "matchExpressions": [any_namespace(), no_cell],
            })
        }
        Peer::NameService => json!({ "matchLabels": {
            "k8s:io.kubernetes.pod.namespace": "kube-system",
            of_pod("k8s-app"): "kube-dns",
        }}),
        Peer::Component {
            organization,
            project,
            component,
            environment,
        } => json!({
            "matchLabels": {
                of_namespace(hierarchy::NAMESPACE): organization,
                of_namespace(hierarchy::PROJECT): project,
                of_namespace(hierarchy::ENVIRONMENT): environment,
                of_pod(hierarchy::NAMESPACE): organization,
                of_pod(hierarchy::PROJECT): project,
                of_pod(hierarchy::COMPONENT): component,
                of_pod(hierarchy::ENVIRONMENT): environment,
            },
            "matchExpressions": [any_namespace()],
        }),
        Peer::Range(range) => return ("CIDR", json!(range)),
        Peer::Host(host) if host.starts_with("*.") => {
            return ("FQDNs", json!({ "matchPattern": host }));
        }
        Peer::Host(host) => return ("FQDNs", json!({ "matchName": host })),
    };
    ("Endpoints", pods)
}
