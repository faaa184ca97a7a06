//! How `NetworkPolicies` are read by those who enforce them.
//!
//! A pod is closed in a direction by any policy that selects it and is about that direction; then it takes what any rule
//! of any of them allows. A rule without peers is about everybody, one without ports about all of them.

use std::net::IpAddr;

use serde_json::Value;

use crate::{
    selector::{items, only, selects},
    world::{Direction, Party, Pod, Port, World},
};

/// Whether a policy is about this pod and direction.
pub(crate) fn closes(policy: &Value, pod: &Pod, direction: Direction) -> bool {
    let spec = &policy["spec"];
    only(spec, &["podSelector", "policyTypes", "ingress", "egress"]);
    let word = match direction {
        Direction::Ingress => "Ingress",
        Direction::Egress => "Egress",
    };
    policy["metadata"]["namespace"] == pod.namespace.as_str()
        && selects(&spec["podSelector"], &pod.labels)
        && items(&spec["policyTypes"]).any(|kind| kind == word)
}

/// Whether one of its rules allows the peer.
pub(crate) fn allows(
    policy: &Value,
    direction: Direction,
    peer: &Party,
    port: Port,
    world: &World,
) -> bool {
    let (rules, peers) = match direction {
        Direction::Ingress => ("ingress", "from"),
        Direction::Egress => ("egress", "to"),
    };
    items(&policy["spec"][rules]).any(|rule| {
        only(rule, &[peers, "ports"]);
        let is_peer = |entry| means(entry, &policy["metadata"]["namespace"], peer, world);
        let everybody = items(&rule[peers]).next().is_none();
        let all_ports = items(&rule["ports"]).next().is_none();
        (everybody || items(&rule[peers]).any(is_peer))
            && (all_ports || items(&rule["ports"]).any(|entry| is_port(entry, port)))
    })
}

fn is_port(entry: &Value, port: Port) -> bool {
    only(entry, &["port", "protocol"]);
    entry["port"] == port.number && entry["protocol"] == port.transport
}

fn means(entry: &Value, own: &Value, peer: &Party, world: &World) -> bool {
    only(entry, &["podSelector", "namespaceSelector", "ipBlock"]);
    if let Some(block) = entry.get("ipBlock") {
        only(block, &["cidr"]);
        // Plugins differ in whether they look at pods here: the wider reading is judged.
        return contains(block["cidr"].as_str().unwrap(), peer.address());
    }
    let Party::Pod(pod) = peer else {
        return false;
    };
    let in_namespace = match entry.get("namespaceSelector") {
        Some(selector) => selects(selector, world.namespace(&pod.namespace)),
        None => own == pod.namespace.as_str(),
    };
    let is_selected = entry
        .get("podSelector")
        .is_none_or(|selector| selects(selector, &pod.labels));
    in_namespace && is_selected
}

/// Whether a range has an address.
pub(crate) fn contains(range: &str, address: IpAddr) -> bool {
    let (start, bits) = range.split_once('/').unwrap();
    let bits: u32 = bits.parse().unwrap();
    match (start.parse().unwrap(), address) {
        (IpAddr::V4(start), IpAddr::V4(address)) => {
            (start.to_bits() ^ address.to_bits()).leading_zeros() >= bits
        }
        (IpAddr::V6(start), IpAddr::V6(address)) => {
            (start.to_bits() ^ address.to_bits()).leading_zeros() >= bits
        }
        _ => false,
    }
}

#[test]
fn a_range_has_the_addresses_that_start_like_it() {
    let has = |range: &str, address: &str| contains(range, address.parse().unwrap());
    assert!(has("203.0.113.0/24", "203.0.113.255"));
    assert!(!has("203.0.113.0/24", "203.0.114.0"));
    assert!(has("0.0.0.0/0", "8.8.8.8"));
    assert!(!has("0.0.0.0/0", "::1"));
    assert!(has("2001:db8::/32", "2001:db8:1::1"));
}
