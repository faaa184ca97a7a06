//! Doubts about pods, on their own or in templates.

use std::collections::BTreeMap;

use serde_json::Value;

use super::fraction;

/// Labels of nodes that have new names, and since when.
const NODE_LABELS: [(&str, &str, &str); 5] = [
    ("beta.kubernetes.io/os", "v1.14", "kubernetes.io/os"),
    ("beta.kubernetes.io/arch", "v1.14", "kubernetes.io/arch"),
    (
        "failure-domain.beta.kubernetes.io/region",
        "v1.17",
        "topology.kubernetes.io/region",
    ),
    (
        "failure-domain.beta.kubernetes.io/zone",
        "v1.17",
        "topology.kubernetes.io/zone",
    ),
    (
        "beta.kubernetes.io/instance-type",
        "v1.17",
        "node.kubernetes.io/instance-type",
    ),
];

/// Volumes that no longer work.
const VOLUMES: [(&str, &str); 9] = [
    (
        "gitRepo",
        "deprecated in v1.11, and disabled by default in v1.33+",
    ),
    ("scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    ("flocker", "deprecated in v1.22, non-functional in v1.25+"),
    ("storageos", "deprecated in v1.22, non-functional in v1.25+"),
    ("quobyte", "deprecated in v1.22, non-functional in v1.25+"),
    (
        "photonPersistentDisk",
        "deprecated in v1.11, non-functional in v1.16+",
    ),
    ("glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    ("cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    ("rbd", "deprecated in v1.28, non-functional in v1.31+"),
];

const NO_PODS: &str = "a null labelSelector results in matching no pod";

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

pub(super) fn spec(spec: &Value, path: &str, found: &mut Vec<String>) {
    for (label, since, new) in NODE_LABELS {
        if spec["nodeSelector"].get(label).is_some() {
            found.push(format!(
                "{path}.nodeSelector[{label}]: deprecated since {since}; use {new:?} instead"
            ));
        }
    }
    spreads(spec, path, found);
    unique(
        &spec["hostAliases"],
        "ip",
        &format!("{path}.hostAliases"),
        found,
    );
    unique(
        &spec["imagePullSecrets"],
        "name",
        &format!("{path}.imagePullSecrets"),
        found,
    );
    for (index, volume) in list(&spec["volumes"]).iter().enumerate() {
        for (kind, why) in VOLUMES {
            if volume[kind].is_object() {
                found.push(format!("{path}.volumes[{index}].{kind}: {why}"));
            }
        }
    }
    for field in ["containers", "initContainers"] {
        for (index, container) in list(&spec[field]).iter().enumerate() {
            let path = format!("{path}.{field}[{index}]");
            environment(container, &path, found);
            for side in ["limits", "requests"] {
                for name in ["memory", "ephemeral-storage"] {
                    let amount = &container["resources"][side][name];
                    fraction(amount, &format!("{path}.resources.{side}[{name}]"), found);
                }
            }
        }
    }
    affinities(spec, path, found);
    ports(spec, path, found);
}

fn spreads(spec: &Value, path: &str, found: &mut Vec<String>) {
    for (index, spread) in list(&spec["topologySpreadConstraints"]).iter().enumerate() {
        let path = format!("{path}.topologySpreadConstraints[{index}]");
        for (label, since, new) in NODE_LABELS {
            if spread["topologyKey"] == label {
                found.push(format!(
                    "{path}.topologyKey: {label} is deprecated since {since}; use {new:?} instead"
                ));
            }
        }
        if spread["labelSelector"].is_null() {
            found.push(format!("{path}.labelSelector: {NO_PODS}"));
        }
    }
}

fn unique(entries: &Value, field: &str, path: &str, found: &mut Vec<String>) {
    let mut seen = Vec::new();
    for (index, entry) in list(entries).iter().enumerate() {
        let value = text(&entry[field]);
        if value.is_empty() && field == "name" {
            found.push(format!("{path}[{index}].{field}: invalid empty name \"\""));
        } else if seen.contains(&value) {
            found.push(format!(
                "{path}[{index}].{field}: duplicate {field} {value:?}"
            ));
        } else {
            seen.push(value);
        }
    }
}

fn environment(container: &Value, path: &str, found: &mut Vec<String>) {
    let mut seen: Vec<&str> = Vec::new();
    for (index, variable) in list(&container["env"]).iter().enumerate() {
        let name = text(&variable["name"]);
        if seen.contains(&name) {
            // A value may build on the one it hides.
            let builds_on = text(&variable["value"]).contains(&format!("$({name})"));
            if !builds_on {
                found.push(format!(
                    "{path}.env[{index}]: hides previous definition of {name:?}, which may be dropped when using apply"
                ));
            }
        } else {
            seen.push(name);
        }
    }
}

fn affinities(spec: &Value, path: &str, found: &mut Vec<String>) {
    const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
    const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";
    for kind in ["podAffinity", "podAntiAffinity"] {
        let affinity = &spec["affinity"][kind];
        let path = format!("{path}.affinity.{kind}");
        for (index, term) in list(&affinity[REQUIRED]).iter().enumerate() {
            if term["labelSelector"].is_null() {
                found.push(format!(
                    "{path}.{REQUIRED}[{index}].labelSelector: {NO_PODS}"
                ));
            }
        }
        for (index, term) in list(&affinity[PREFERRED]).iter().enumerate() {
            if term["podAffinityTerm"]["labelSelector"].is_null() {
                found.push(format!(
                    "{path}.{PREFERRED}[{index}].podAffinityTerm.labelSelector: {NO_PODS}"
                ));
            }
        }
    }
}

/// The same port twice, or one name for two ports.
fn ports(spec: &Value, path: &str, found: &mut Vec<String>) {
    let mut numbers: BTreeMap<String, String> = BTreeMap::new();
    let mut names: BTreeMap<&str, String> = BTreeMap::new();
    for (index, container) in list(&spec["containers"]).iter().enumerate() {
        for (at, port) in list(&container["ports"]).iter().enumerate() {
            let place = format!("{path}.containers[{index}].ports[{at}]");
            let key = format!(
                "{}/{}/{}/{}",
                port["containerPort"],
                text(&port["protocol"]),
                port["hostPort"],
                text(&port["hostIP"])
            );
            if let Some(first) = numbers.get(&key) {
                found.push(format!("{place}: duplicate port definition with {first}"));
            } else {
                numbers.insert(key, place.clone());
            }
            let name = text(&port["name"]);
            if name.is_empty() {
                continue;
            }
            if let Some(first) = names.get(name) {
                found.push(format!(
                    "{place}: duplicate port name {name:?} with {first}, services and probes that select ports by name will use {first}"
                ));
            } else {
                names.insert(name, place);
            }
        }
    }
}
