//! How `CiliumNetworkPolicies` are read by Cilium: the part that we render.
//!
//! A pod is closed in a direction by any policy that selects it and has at least one rule for that direction; an empty list
//! closes nothing. A rule that names nobody allows nobody. Selectors are about the policy's own namespace, unless they
//! speak of one. Ranges and names never mean pods, and names mean nothing unless the pod's questions about them are read.

use serde_json::Value;

use crate::{
    selector::{Labels, fields, items, only, selects},
    standard::contains,
    world::{Direction, Party, Pod, Port, World},
};

const NAMESPACE: &str = "io.kubernetes.pod.namespace";
const NAMESPACE_LABELS: &str = "io.cilium.k8s.namespace.labels.";
/// More in one entry are refused.
const MOST_PORTS: usize = 40;

fn rules(direction: Direction) -> &'static str {
    match direction {
        Direction::Ingress => "ingress",
        Direction::Egress => "egress",
    }
}

/// Whether a policy is about this pod and direction.
pub(crate) fn closes(policy: &Value, pod: &Pod, direction: Direction, world: &World) -> bool {
    only(&policy["spec"], &["endpointSelector", "ingress", "egress"]);
    is_selected(&policy["spec"]["endpointSelector"], policy, pod, world)
        && policy["metadata"]["namespace"] == pod.namespace.as_str()
        && items(&policy["spec"][rules(direction)]).next().is_some()
}

/// Whether one of its rules allows the peer. `reads_names`: whether the pod's questions about names are read.
pub(crate) fn allows(
    policy: &Value,
    direction: Direction,
    peer: &Party,
    port: Port,
    reads_names: bool,
    world: &World,
) -> bool {
    let peers: &[&str] = match direction {
        Direction::Ingress => &["fromEndpoints"],
        Direction::Egress => &["toEndpoints", "toCIDR", "toFQDNs"],
    };
    items(&policy["spec"][rules(direction)]).any(|rule| {
        only(rule, &[peers, &["toPorts"]].concat());
        let named: Vec<&&str> = peers
            .iter()
            .filter(|kind| rule.get(**kind).is_some())
            .collect();
        assert!(named.len() <= 1, "several kinds of peers: {rule}");
        let Some(kind) = named.first() else {
            assert!(rule.get("toPorts").is_none(), "ports for everybody: {rule}");
            return false;
        };
        let is_peer = items(&rule[**kind]).any(|entry| match (**kind, peer) {
            ("toCIDR", Party::Outside { address, .. }) => {
                contains(entry.as_str().unwrap(), *address)
            }
            ("toFQDNs", Party::Outside { name, .. }) => {
                reads_names && name.is_some_and(|name| is_name(entry, name))
            }
            ("fromEndpoints" | "toEndpoints", Party::Pod(pod)) => {
                is_selected(entry, policy, pod, world)
            }
            _ => false,
        });
        let all_ports = rule.get("toPorts").is_none();
        is_peer && (all_ports || items(&rule["toPorts"]).any(|entry| has_port(entry, port)))
    })
}

/// Whether a policy has the questions of its pods about names read.
pub(crate) fn reads_names(policy: &Value) -> bool {
    let ports = items(&policy["spec"]["egress"]).flat_map(|rule| items(&rule["toPorts"]));
    ports
        .flat_map(|entry| items(&entry["rules"]["dns"]))
        .any(|rule| rule["matchPattern"] == "*")
}

fn has_port(entry: &Value, port: Port) -> bool {
    only(entry, &["ports", "rules"]);
    only(&entry["rules"], &["http", "dns"]);
    for (_, allowed) in fields(&entry["rules"]) {
        // Anything else would allow some requests only.
        let all = [
            serde_json::json!([{}]),
            serde_json::json!([{ "matchPattern": "*" }]),
        ];
        assert!(all.contains(allowed), "{entry}");
    }
    assert!(items(&entry["ports"]).count() <= MOST_PORTS, "{entry}");
    items(&entry["ports"]).any(|written| {
        only(written, &["port", "protocol"]);
        written["port"].as_str().unwrap().parse() == Ok(port.number)
            && written["protocol"] == port.transport
    })
}

fn is_name(entry: &Value, name: &str) -> bool {
    only(entry, &["matchName", "matchPattern"]);
    if let Some(pattern) = entry["matchPattern"].as_str() {
        let rest = name.split_once('.').map(|(_, rest)| rest);
        return rest == Some(pattern.strip_prefix("*.").unwrap());
    }
    entry["matchName"] == name
}

fn is_selected(selector: &Value, policy: &Value, pod: &Pod, world: &World) -> bool {
    let plain = |key: &str| key.strip_prefix("k8s:").unwrap_or(key).to_owned();
    let mut labels: Labels = pod.labels.clone();
    labels.insert(NAMESPACE.to_owned(), pod.namespace.clone());
    for (key, value) in world.namespace(&pod.namespace) {
        labels.insert(format!("{NAMESPACE_LABELS}{key}"), value.clone());
    }
    let mut plainly = selector.clone();
    if let Some(written) = plainly["matchLabels"].as_object_mut() {
        *written = std::mem::take(written)
            .into_iter()
            .map(|(key, value)| (plain(&key), value))
            .collect();
    }
    for expression in plainly["matchExpressions"]
        .as_array_mut()
        .into_iter()
        .flatten()
    {
        expression["key"] = plain(expression["key"].as_str().unwrap()).into();
    }
    let keys = fields(&plainly["matchLabels"]).map(|(key, _)| key.as_str());
    let asked = items(&plainly["matchExpressions"]).filter_map(|asked| asked["key"].as_str());
    let speaks_of_a_namespace = keys
        .chain(asked)
        .any(|key| key == NAMESPACE || key.starts_with(NAMESPACE_LABELS));
    let is_near = policy["metadata"]["namespace"] == pod.namespace.as_str();
    plainly
        .as_object_mut()
        .unwrap()
        .retain(|_, part| !part.is_null());
    (speaks_of_a_namespace || is_near) && selects(&plainly, &labels)
}
