//! Services, ingresses and endpoints.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::cells::{NONE, join, labels, len, list, number, some_of, text, text_or};

pub(super) fn service(object: &Value, name: Value, age: Value) -> Vec<Value> {
    let spec = &object["spec"];
    let ports: Vec<String> = list(&spec["ports"]).iter().map(port).collect();
    let ports = if ports.is_empty() {
        NONE.to_owned()
    } else {
        ports.join(",")
    };
    vec![
        name,
        text(&spec["type"]),
        json!(spec["clusterIPs"][0].as_str().unwrap_or(NONE)),
        json!(external_ip(object)),
        json!(ports),
        age,
        json!(labels(&spec["selector"])),
    ]
}

fn port(port: &Value) -> String {
    let (number, protocol) = (&port["port"], text_or(&port["protocol"], ""));
    match port["nodePort"].as_i64() {
        Some(node_port) if node_port > 0 => format!("{number}:{node_port}/{protocol}"),
        _ => format!("{number}/{protocol}"),
    }
}

fn external_ip(service: &Value) -> String {
    let spec = &service["spec"];
    let external = join(&spec["externalIPs"], ",");
    match spec["type"].as_str() {
        Some("ClusterIP" | "NodePort") if external.is_empty() => NONE.to_owned(),
        Some("ClusterIP" | "NodePort") => external,
        Some("LoadBalancer") => {
            let balancer = addresses(&service["status"]);
            match (balancer.is_empty(), external.is_empty()) {
                (true, true) => "<pending>".to_owned(),
                (true, false) => external,
                (false, true) => balancer,
                (false, false) => format!("{balancer},{external}"),
            }
        }
        Some("ExternalName") => text_or(&spec["externalName"], ""),
        _ => "<unknown>".to_owned(),
    }
}

/// Addresses of a load balancer, sorted.
fn addresses(status: &Value) -> String {
    let found: BTreeSet<String> = list(&status["loadBalancer"]["ingress"])
        .iter()
        .map(|ingress| text_or(&ingress["ip"], &text_or(&ingress["hostname"], "")))
        .filter(|address| !address.is_empty())
        .collect();
    found.into_iter().collect::<Vec<_>>().join(",")
}

pub(super) fn ingress(object: &Value, name: Value, age: Value) -> Vec<Value> {
    let spec = &object["spec"];
    let ports = if len(&spec["tls"]) == 0 {
        "80"
    } else {
        "80, 443"
    };
    vec![
        name,
        json!(spec["ingressClassName"].as_str().unwrap_or(NONE)),
        json!(hosts(list(&spec["rules"]))),
        json!(addresses(&object["status"])),
        json!(ports),
        age,
    ]
}

fn hosts(rules: &[Value]) -> String {
    const MAX: usize = 3;
    let mut shown = Vec::new();
    let mut more = false;
    for rule in rules {
        more |= shown.len() == MAX;
        let host = text_or(&rule["host"], "");
        if !more && !host.is_empty() {
            shown.push(host);
        }
    }
    match (shown.is_empty(), more) {
        (true, _) => "*".to_owned(),
        (false, false) => shown.join(","),
        (false, true) => format!("{} + {} more...", shown.join(","), rules.len() - MAX),
    }
}

pub(super) fn ingress_class(object: &Value, age: Value) -> Vec<Value> {
    let metadata = &object["metadata"];
    let mut name = text_or(&metadata["name"], "");
    if metadata["annotations"]["ingressclass.kubernetes.io/is-default-class"] == "true" {
        name += " (default)";
    }
    let parameters = &object["spec"]["parameters"];
    let parameters = if parameters.is_object() {
        let group = parameters["apiGroup"].as_str();
        let group = group.map_or(String::new(), |group| format!(".{group}"));
        let (kind, name) = (
            text_or(&parameters["kind"], ""),
            text_or(&parameters["name"], ""),
        );
        format!("{kind}{group}/{name}")
    } else {
        NONE.to_owned()
    };
    vec![
        json!(name),
        text(&object["spec"]["controller"]),
        json!(parameters),
        age,
    ]
}

pub(super) fn endpoints(object: &Value, name: Value, age: Value) -> Vec<Value> {
    let subsets = list(&object["subsets"]);
    let mut found = Vec::new();
    for subset in subsets {
        let ports = list(&subset["ports"]);
        let addresses = list(&subset["addresses"]);
        let ip = |address: &Value| text_or(&address["ip"], "");
        if ports.is_empty() {
            found.extend(addresses.iter().map(ip));
        }
        for port in ports {
            let port = number(&port["port"]);
            found.extend(addresses.iter().map(|address| {
                let ip = ip(address);
                if ip.contains(':') {
                    format!("[{ip}]:{port}")
                } else {
                    format!("{ip}:{port}")
                }
            }));
        }
    }
    let shown = if subsets.is_empty() {
        NONE.to_owned()
    } else {
        some_of(&found, 3, ",")
    };
    vec![name, json!(shown), age]
}

pub(super) fn endpoint_slice(object: &Value, name: Value, age: Value) -> Vec<Value> {
    let ports: Vec<String> = list(&object["ports"])
        .iter()
        .map(
            |port| match (port["port"].as_i64(), port["name"].as_str()) {
                (Some(number), _) => number.to_string(),
                (None, Some(name)) => name.to_owned(),
                (None, None) => "*".to_owned(),
            },
        )
        .collect();
    let addresses: Vec<String> = list(&object["endpoints"])
        .iter()
        .flat_map(|endpoint| list(&endpoint["addresses"]))
        .map(|address| text_or(address, ""))
        .collect();
    let shown = |entries: &[String]| match some_of(entries, 3, ",") {
        text if text.is_empty() => json!("<unset>"),
        text => json!(text),
    };
    vec![
        name,
        text(&object["addressType"]),
        shown(&ports),
        shown(&addresses),
        age,
    ]
}

pub(super) fn address(object: &Value, name: Value, age: Value) -> Vec<Value> {
    let parent = &object["spec"]["parentRef"];
    let shown = if parent.is_object() {
        let part = |field: &str| text_or(&parent[field], "");
        let mut shown = part("resource");
        if !part("group").is_empty() {
            shown = format!("{shown}.{}", part("group"));
        }
        shown = shown.to_lowercase();
        if !part("namespace").is_empty() {
            shown = format!("{shown}/{}", part("namespace"));
        }
        format!("{shown}/{}", part("name"))
    } else {
        NONE.to_owned()
    };
    vec![name, json!(shown), age]
}
