//! Services: addresses and ports survive an update that does not mention them, and a change of type drops
//! what the new type has no use for.

use serde_json::{Map, Value, json};

use super::restore;
use crate::builtin::fields::{count, object_or_new, objects, text, unset};

type Object = Map<String, Value>;

/// A new service: its families on a server that has only IPv4, and its address both ways.
pub(super) fn new(service: &mut Object) {
    let spec = object_or_new(service, "spec");
    address_list(spec);
    families(spec);
}

/// A single cluster IP is also the list of them.
fn address_list(spec: &mut Object) {
    if !unset(spec, "clusterIP") && count(spec, "clusterIPs") == 0 {
        let address = spec["clusterIP"].clone();
        spec.insert("clusterIPs".into(), json!([address]));
    }
}

fn families(spec: &mut Object) {
    if text(spec, "type") == "ExternalName" {
        return;
    }
    let everywhere = text(spec, "clusterIP") == "None" && count(spec, "selector") == 0;
    if count(spec, "ipFamilies") == 0 {
        let families = if everywhere && unset(spec, "ipFamilyPolicy") {
            json!(["IPv4", "IPv6"])
        } else {
            json!(["IPv4"])
        };
        spec.insert("ipFamilies".into(), families);
    }
    if unset(spec, "ipFamilyPolicy") {
        let policy = if everywhere {
            "RequireDualStack"
        } else {
            "SingleStack"
        };
        spec.insert("ipFamilyPolicy".into(), json!(policy));
    }
}

/// Carries over allocated values, then drops those that the type no longer needs.
pub(super) fn update(service: &mut Object, old: &Value) {
    let old_spec = &old["spec"];
    let spec = object_or_new(service, "spec");
    let old_type = old_spec["type"].as_str().unwrap_or_default().to_owned();
    let new_type = text(spec, "type").to_owned();
    one_address_two_fields(spec, old_spec);
    if has_address(&old_type) && has_address(&new_type) {
        if unset(spec, "clusterIP") && count(spec, "clusterIPs") == 0 {
            restore(spec, old_spec, "clusterIP");
            restore(spec, old_spec, "clusterIPs");
        }
        for field in ["ipFamilies", "ipFamilyPolicy"] {
            if count(spec, field) == 0 && unset(spec, field) {
                restore(spec, old_spec, field);
            }
        }
    }
    if has_node_ports(&old_type) && has_node_ports(&new_type) {
        carry_node_ports(spec, old_spec);
        if unset(spec, "healthCheckNodePort") && text(spec, "externalTrafficPolicy") == "Local" {
            restore(spec, old_spec, "healthCheckNodePort");
        }
    }
    drop_unused(spec, old_spec, &new_type, &old_type);
    address_list(spec);
    families(spec);
    if old_type == "LoadBalancer" && new_type != "LoadBalancer" {
        object_or_new(service, "status").insert("loadBalancer".into(), json!({}));
    }
}

/// A change of the one field is a change of the other.
fn one_address_two_fields(spec: &mut Object, old: &Value) {
    let changed = |spec: &Object, field: &str| spec.get(field) != old.get(field);
    if changed(spec, "clusterIP") && !changed(spec, "clusterIPs") {
        match spec.get("clusterIP").filter(|address| *address != "") {
            Some(address) => {
                let list = json!([address]);
                spec.insert("clusterIPs".into(), list);
            }
            None => {
                spec.remove("clusterIPs");
            }
        }
    }
}

fn has_address(ty: &str) -> bool {
    matches!(ty, "ClusterIP" | "NodePort" | "LoadBalancer")
}

fn has_node_ports(ty: &str) -> bool {
    matches!(ty, "NodePort" | "LoadBalancer")
}

fn carry_node_ports(spec: &mut Object, old: &Value) {
    let before: Vec<Value> = old["ports"].as_array().cloned().unwrap_or_default();
    let used: Vec<Value> = objects(spec, "ports")
        .filter_map(|port| port.get("nodePort").cloned())
        .collect();
    for port in objects(spec, "ports") {
        let given = port.get("nodePort").and_then(Value::as_i64).unwrap_or(0);
        if given != 0 {
            continue;
        }
        let same = before.iter().find(|known| {
            known.get("port") == port.get("port") && known.get("protocol") == port.get("protocol")
        });
        if let Some(number) = same.and_then(|known| known.get("nodePort"))
            && !used.contains(number)
        {
            port.insert("nodePort".into(), number.clone());
        }
    }
}

/// A field that the old type needed and the new one does not goes, if the update left it as it was.
fn drop_unused(spec: &mut Object, old: &Value, new_type: &str, old_type: &str) {
    let unchanged = |spec: &Object, field: &str| spec.get(field) == old.get(field);
    if has_address(old_type) && !has_address(new_type) {
        for field in ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
            if unchanged(spec, field) {
                spec.remove(field);
            }
        }
        spec.remove("internalTrafficPolicy");
    }
    if has_node_ports(old_type) && !has_node_ports(new_type) {
        let before: Vec<Value> = old["ports"].as_array().cloned().unwrap_or_default();
        let node_ports: Vec<&Value> = before
            .iter()
            .filter_map(|port| port.get("nodePort"))
            .collect();
        for port in objects(spec, "ports") {
            if port
                .get("nodePort")
                .is_some_and(|number| node_ports.contains(&number))
            {
                port.remove("nodePort");
            }
        }
        if count(spec, "externalIPs") == 0 && unchanged(spec, "externalTrafficPolicy") {
            spec.remove("externalTrafficPolicy");
        }
        if unchanged(spec, "healthCheckNodePort") {
            spec.remove("healthCheckNodePort");
        }
    }
    if old_type == "LoadBalancer" && new_type != "LoadBalancer" {
        for field in ["allocateLoadBalancerNodePorts", "loadBalancerClass"] {
            if unchanged(spec, field) {
                spec.remove(field);
            }
        }
    }
    if old_type == "ExternalName" && new_type != "ExternalName" && unchanged(spec, "externalName") {
        spec.remove("externalName");
    }
}
