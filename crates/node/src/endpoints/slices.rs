//! Which endpoints a service has, and how they are spread over slices. Pure.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Value, json};

use crate::{
    read::{self, int, is_true, list, text},
    seen::Pod,
};

/// How many endpoints a slice has at most.
const FULL: usize = 100;
/// How many addresses an Endpoints object has at most.
pub(super) const MOST_ADDRESSES: usize = 1000;

/// Endpoints that share their ports.
pub(super) type Groups = BTreeMap<String, (Value, Vec<Value>)>;

/// The pods behind a service.
pub(super) fn is_behind(service: &Value, pod: &Pod) -> bool {
    let selector = service["spec"]["selector"].as_object();
    let is_selected = selector.is_some_and(|selector| {
        selector
            .iter()
            .all(|(key, value)| pod.labels.get(key) == value.as_str())
    });
    is_selected && pod.ip.is_some() && !pod.is_over()
}

/// A service's ports as a pod has them; a named one that the pod lacks is left out.
fn ports(service: &Value, pod: &Pod) -> Value {
    let resolved = list(&service["spec"]["ports"]).iter().filter_map(|port| {
        let target = &port["targetPort"];
        let protocol = match text(&port["protocol"]) {
            "" => "TCP",
            protocol => protocol,
        };
        let number = match target.as_i64() {
            Some(number) if number != 0 => number,
            _ => match target.as_str() {
                Some(name) => {
                    let plan = pod.plan.as_deref()?;
                    let found = plan
                        .named_ports
                        .iter()
                        .find(|known| &*known.name == name && &*known.protocol == protocol)?;
                    i64::from(found.number)
                }
                None => int(&port["port"]),
            },
        };
        let mut told = json!({ "name": text(&port["name"]), "port": number, "protocol": protocol });
        if !port["appProtocol"].is_null() {
            told["appProtocol"] = port["appProtocol"].clone();
        }
        Some(told)
    });
    Value::Array(resolved.collect())
}

fn endpoint(service: &Value, pod: &Pod) -> Value {
    let is_ready = pod.is_ready();
    let is_ending = pod.deleting.is_some();
    let publishes = is_true(&service["spec"]["publishNotReadyAddresses"]);
    let mut endpoint = json!({
        "addresses": [pod.ip.as_deref().unwrap_or_default()],
        "conditions": {
            "ready": publishes || is_ready && !is_ending,
            "serving": is_ready,
            "terminating": is_ending,
        },
        "targetRef": {
            "kind": "Pod",
            "namespace": &*pod.place.namespace,
            "name": &*pod.place.name,
            "uid": &*pod.uid,
        },
    });
    if let Some(node) = &pod.node {
        endpoint["nodeName"] = json!(&**node);
    }
    endpoint
}

/// The endpoints of a service, by their ports.
pub(super) fn groups(service: &Value, pods: &[Arc<Pod>]) -> Groups {
    let mut groups = Groups::new();
    for pod in pods {
        let ports = ports(service, pod);
        let group = groups
            .entry(ports.to_string())
            .or_insert((ports, Vec::new()));
        group.1.push(endpoint(service, pod));
    }
    groups
}

/// What happens to slices.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Ports and endpoints of new slices.
    pub(super) create: Vec<(Value, Vec<Value>)>,
    /// Slices that get these endpoints.
    pub(super) update: Vec<(Arc<Value>, Vec<Value>)>,
    pub(super) delete: Vec<Arc<Value>>,
}

/// Spreads endpoints over slices so that few slices change: endpoints stay where they are, new ones fill up.
pub(super) fn spread(groups: Groups, slices: &[Arc<Value>]) -> Changes {
    let mut changes = Changes::default();
    let mut groups = groups;
    if groups.is_empty() {
        // One empty slice says that there is nothing, rather than that nobody has looked.
        groups.insert(String::new(), (json!([]), Vec::new()));
    }
    let key = |endpoint: &Value| text(&endpoint["targetRef"]["uid"]).to_owned();
    let mut rest = slices.to_vec();
    for (ports, endpoints) in groups.into_values() {
        let (mine, others): (Vec<_>, Vec<_>) = rest
            .into_iter()
            .partition(|slice| same_ports(&slice["ports"], &ports));
        rest = others;
        let mut left: BTreeMap<String, Value> = endpoints
            .into_iter()
            .map(|endpoint| (key(&endpoint), endpoint))
            .collect();
        let mut kept: Vec<(Arc<Value>, Vec<Value>)> = Vec::new();
        for slice in mine {
            let stay = list(&slice["endpoints"])
                .iter()
                .filter_map(|known| left.remove(&key(known)))
                .collect();
            kept.push((slice, stay));
        }
        let mut new = left.into_values();
        for (_, endpoints) in &mut kept {
            let room = FULL.saturating_sub(endpoints.len());
            endpoints.extend(new.by_ref().take(room));
        }
        let new: Vec<Value> = new.collect();
        for chunk in new.chunks(FULL) {
            changes.create.push((ports.clone(), chunk.to_vec()));
        }
        if kept.is_empty() && new.is_empty() {
            changes.create.push((ports.clone(), Vec::new()));
        }
        let is_only = kept.iter().all(|(_, endpoints)| endpoints.is_empty()) && new.is_empty();
        for (at, (slice, endpoints)) in kept.into_iter().enumerate() {
            if endpoints.is_empty() && !(is_only && at == 0) {
                changes.delete.push(slice);
            } else if list(&slice["endpoints"]) != endpoints {
                changes.update.push((slice, endpoints));
            }
        }
    }
    changes.delete.extend(rest);
    changes
}

fn same_ports(one: &Value, other: &Value) -> bool {
    let plain = |ports: &Value| -> Vec<(String, i64, String)> {
        let mut ports: Vec<_> = list(ports)
            .iter()
            .map(|port| {
                (
                    text(&port["name"]).to_owned(),
                    int(&port["port"]),
                    text(&port["protocol"]).to_owned(),
                )
            })
            .collect();
        ports.sort();
        ports
    };
    plain(one) == plain(other)
}

/// The older form: one object with all addresses.
pub(super) fn subsets(groups: &Groups) -> Value {
    let mut room = MOST_ADDRESSES;
    let mut subsets = Vec::new();
    for (ports, endpoints) in groups.values() {
        let mut subset = json!({});
        for (field, is_ready) in [("addresses", true), ("notReadyAddresses", false)] {
            let addresses: Vec<Value> = endpoints
                .iter()
                .filter(|endpoint| is_true(&endpoint["conditions"]["ready"]) == is_ready)
                .filter(|endpoint| !is_true(&endpoint["conditions"]["terminating"]))
                .take(room)
                .map(address)
                .collect();
            room -= addresses.len();
            if !addresses.is_empty() {
                subset[field] = Value::Array(addresses);
            }
        }
        if subset.as_object().is_some_and(serde_json::Map::is_empty) {
            continue;
        }
        let mut ports = ports.clone();
        for port in ports.as_array_mut().into_iter().flatten() {
            if text(&port["name"]).is_empty()
                && let Some(fields) = port.as_object_mut()
            {
                fields.remove("name");
            }
        }
        if !list(&ports).is_empty() {
            subset["ports"] = ports;
        }
        subsets.push(subset);
    }
    Value::Array(subsets)
}

fn address(endpoint: &Value) -> Value {
    let mut address = json!({
        "ip": endpoint["addresses"][0],
        "targetRef": endpoint["targetRef"],
    });
    if !endpoint["nodeName"].is_null() {
        address["nodeName"] = endpoint["nodeName"].clone();
    }
    address
}

/// Whether a service has no address of its own.
pub(super) fn is_headless(service: &Value) -> bool {
    service["spec"]["clusterIP"] == "None"
}

/// Whether endpoints are made for it.
pub(super) fn has_endpoints(service: &Value) -> bool {
    service["spec"]["selector"].is_object()
        && service["spec"]["type"] != "ExternalName"
        && !read::is_deleting(service)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(name: &str, ready: bool) -> Arc<Pod> {
        Arc::new(Pod::read(&json!({
            "metadata": { "name": name, "namespace": "n", "uid": name, "labels": { "app": "web" } },
            "spec": { "nodeName": "node", "containers": [{ "name": "c", "ports": [
                { "name": "http", "containerPort": 8080 },
            ]}]},
            "status": { "phase": "Running", "podIP": "10.0.0.1", "conditions": [
                { "type": "Ready", "status": if ready { "True" } else { "False" } },
            ]},
        })))
    }

    fn service() -> Value {
        json!({ "spec": { "selector": { "app": "web" }, "ports": [
            { "port": 80, "targetPort": "http", "protocol": "TCP" },
        ]}})
    }

    fn slice(name: &str, endpoints: &[Value]) -> Arc<Value> {
        Arc::new(json!({
            "metadata": { "name": name },
            "ports": [{ "name": "", "port": 8080, "protocol": "TCP" }],
            "endpoints": endpoints,
        }))
    }

    #[test]
    fn a_named_port_is_the_pods_own() {
        let groups = groups(&service(), &[pod("a", true)]);
        let (ports, endpoints) = groups.values().next().unwrap();
        assert_eq!(ports[0]["port"], 8080);
        assert_eq!(endpoints[0]["conditions"]["ready"], true);
        let subsets = subsets(&groups);
        assert_eq!(subsets[0]["addresses"][0]["ip"], "10.0.0.1");
    }

    #[test]
    fn endpoints_stay_where_they_are_and_new_ones_fill_up() {
        let pods: Vec<_> = (0..150)
            .map(|number| pod(&format!("p{number:03}"), true))
            .collect();
        let first = spread(groups(&service(), &pods), &[]);
        let sizes: Vec<_> = first
            .create
            .iter()
            .map(|(_, endpoints)| endpoints.len())
            .collect();
        assert_eq!(sizes, [100, 50]);
        let slices: Vec<_> = first
            .create
            .iter()
            .zip(["one", "two"])
            .map(|((_, endpoints), name)| slice(name, endpoints))
            .collect();
        let mut pods = pods;
        pods.remove(0);
        pods.push(pod("q", true));
        let second = spread(groups(&service(), &pods), &slices);
        assert!(second.create.is_empty() && second.delete.is_empty());
        let changed: Vec<_> = second
            .update
            .iter()
            .map(|(slice, _)| read::name(slice))
            .collect();
        assert_eq!(changed, ["one"]);
    }

    #[test]
    fn one_empty_slice_stays_for_a_service_without_pods() {
        let none = spread(Groups::new(), &[]);
        assert_eq!(none.create.len(), 1);
        let empty = Arc::new(json!({ "metadata": { "name": "e" }, "ports": [], "endpoints": [] }));
        let still = spread(Groups::new(), &[empty]);
        assert!(still.create.is_empty() && still.update.is_empty() && still.delete.is_empty());
    }
}
