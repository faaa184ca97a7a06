//! The quality-of-service class of a pod.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::quantity::Quantity;

/// `Guaranteed`, `Burstable` or `BestEffort`, from a pod's requests and limits of processor and memory.
pub fn class(pod: &Value) -> &'static str {
    let spec = &pod["spec"];
    let mut resources: Vec<&Value> = Vec::new();
    if spec["resources"].is_object() {
        resources.push(&spec["resources"]);
    } else {
        for list in ["containers", "initContainers"] {
            let containers = spec[list].as_array().into_iter().flatten();
            resources.extend(containers.map(|container| &container["resources"]));
        }
    }
    let mut requests = BTreeMap::new();
    let mut limits = BTreeMap::new();
    let mut guaranteed = true;
    for resource in resources {
        add(&mut requests, &resource["requests"]);
        guaranteed &= add(&mut limits, &resource["limits"]) == 2;
    }
    if requests.is_empty() && limits.is_empty() {
        "BestEffort"
    } else if guaranteed && requests == limits {
        "Guaranteed"
    } else {
        "Burstable"
    }
}

/// Adds amounts above zero; tells how many there were.
fn add(total: &mut BTreeMap<&'static str, i128>, amounts: &Value) -> usize {
    let mut found = 0;
    for name in ["cpu", "memory"] {
        let Some(text) = amounts[name].as_str() else {
            continue;
        };
        let nanos = match Quantity::parse(text) {
            Ok(Some(quantity)) => quantity.nanos(),
            _ => 0,
        };
        if nanos > 0 {
            *total.entry(name).or_default() += nanos;
            found += 1;
        }
    }
    found
}
