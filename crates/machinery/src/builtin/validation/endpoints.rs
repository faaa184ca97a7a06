//! Endpoints and endpoint slices.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    container::protocol,
    report::{Report, list, text},
};
use crate::names;

const MOST_ENDPOINTS: usize = 1000;
const MOST_ADDRESSES: usize = 100;
const MOST_PORTS: usize = 20_000;
const MOST_HINTS: usize = 8;

pub(super) fn slice(report: &mut Report, slice: &Value) {
    match text(&slice["addressType"]) {
        "" => report.required("addressType"),
        _ => report.one_of(
            "addressType",
            &slice["addressType"],
            &["FQDN", "IPv4", "IPv6"],
        ),
    }
    ports(report, &slice["ports"]);
    let endpoints = list(&slice["endpoints"]);
    report.at_most("endpoints", endpoints, MOST_ENDPOINTS);
    if endpoints.len() > MOST_ENDPOINTS {
        return;
    }
    for (index, endpoint) in endpoints.iter().enumerate() {
        let path = format!("endpoints[{index}]");
        addresses(report, endpoint, text(&slice["addressType"]), &path);
        let node = &endpoint["nodeName"];
        if let Some(node) = node.as_str() {
            let complaints = names::dns_1123_subdomain(node);
            report.names(&format!("{path}.nodeName"), node, complaints);
        }
        if let Some(host) = endpoint["hostname"].as_str() {
            let complaints = names::dns_1123_label(host);
            report.names(&format!("{path}.hostname"), host, complaints);
        }
        hints(report, &endpoint["hints"], &format!("{path}.hints"));
    }
}

fn addresses(report: &mut Report, endpoint: &Value, kind: &str, path: &str) {
    let addresses = list(&endpoint["addresses"]);
    let path = format!("{path}.addresses");
    if addresses.is_empty() {
        report.required_because(path, "must contain at least 1 address");
        return;
    }
    report.at_most(path.as_str(), addresses, MOST_ADDRESSES);
    for (number, address) in addresses.iter().enumerate() {
        let at = format!("{path}[{number}]");
        match kind {
            "FQDN" => qualified(report, address, &at),
            "IPv4" | "IPv6" if report.ip(at.as_str(), address) => {
                if text(address).contains(':') != (kind == "IPv6") {
                    let why = format!("must be an {kind} address");
                    report.invalid(path.as_str(), address, &why);
                }
                special(report, address, &at);
            }
            _ => {}
        }
    }
}

/// A name with its domain.
fn qualified(report: &mut Report, address: &Value, path: &str) {
    let name = text(address);
    if name.is_empty() {
        return report.required(path);
    }
    let name = name.strip_suffix('.').unwrap_or(name);
    let complaints = names::dns_1123_subdomain(name);
    if !complaints.is_empty() {
        report.invalid(path, &name.into(), &complaints.join(","));
    } else if !name.contains('.') {
        let why = "should be a domain with at least two segments separated by dots";
        report.invalid(path, &name.into(), why);
    } else if let Some((label, complaints)) = name
        .split('.')
        .map(|label| (label, names::dns_1123_label(label)))
        .find(|(_, complaints)| !complaints.is_empty())
    {
        report.invalid(path, &label.into(), &complaints.join(","));
    }
}

/// From where an endpoint should be used.
fn hints(report: &mut Report, hints: &Value, path: &str) {
    for field in ["forZones", "forNodes"] {
        let entries = list(&hints[field]);
        let path = format!("{path}.{field}");
        report.at_most(path.as_str(), entries, MOST_HINTS);
        if entries.len() > MOST_HINTS {
            return;
        }
        for (index, entry) in entries.iter().enumerate() {
            let at = format!("{path}[{index}].name");
            let repeated = |other: &Value| other["name"] == entry["name"];
            if entries[..index].iter().any(repeated) {
                report.duplicate(at.as_str(), &entry["name"]);
            }
            let name = text(&entry["name"]);
            let complaints = match field {
                "forZones" => names::label_value(name),
                _ => names::dns_1123_subdomain(name),
            };
            report.names(&at, name, complaints);
        }
    }
}

fn ports(report: &mut Report, ports: &Value) {
    let ports = list(ports);
    report.at_most("ports", ports, MOST_PORTS);
    if ports.len() > MOST_PORTS {
        return;
    }
    let mut seen = BTreeSet::new();
    for (index, port) in ports.iter().enumerate() {
        let path = format!("ports[{index}]");
        let name = text(&port["name"]);
        if !name.is_empty() {
            report.names(&format!("{path}.name"), name, names::dns_1123_label(name));
        }
        if !seen.insert(name) {
            report.duplicate(format!("{path}.name"), &port["name"]);
        }
        protocol(report, &port["protocol"], &format!("{path}.protocol"));
        if let Some(application) = port["appProtocol"].as_str() {
            let complaints = names::qualified_name(application);
            report.names(&format!("{path}.appProtocol"), application, complaints);
        }
    }
}

pub(super) fn endpoints(report: &mut Report, endpoints: &Value) {
    for (index, subset) in list(&endpoints["subsets"]).iter().enumerate() {
        let path = format!("subsets[{index}]");
        let lists = ["addresses", "notReadyAddresses"];
        if lists.iter().all(|field| list(&subset[*field]).is_empty()) {
            let why = "must specify `addresses` or `notReadyAddresses`";
            report.required_because(path.clone(), why);
        }
        for field in lists {
            for (number, address) in list(&subset[field]).iter().enumerate() {
                let path = format!("{path}.{field}[{number}].ip");
                if report.ip(path.clone(), &address["ip"]) {
                    special(report, &address["ip"], &path);
                } else {
                    report.invalid(path, &address["ip"], "must be a valid IP address");
                }
            }
        }
        let ports = list(&subset["ports"]);
        for (number, port) in ports.iter().enumerate() {
            let path = format!("{path}.ports[{number}]");
            let name = text(&port["name"]);
            if name.is_empty() && ports.len() > 1 {
                report.required(format!("{path}.name"));
            } else if !name.is_empty() {
                report.names(&format!("{path}.name"), name, names::dns_1123_label(name));
            }
            report.port(
                format!("{path}.port"),
                port["port"].as_i64().unwrap_or_default(),
            );
            protocol(report, &port["protocol"], &format!("{path}.protocol"));
        }
    }
}

/// Addresses that nobody else can reach.
fn special(report: &mut Report, address: &Value, path: &str) {
    let Ok(ip) = text(address).parse::<std::net::IpAddr>() else {
        return;
    };
    let link_local = match ip {
        std::net::IpAddr::V4(ip) => ip.is_link_local(),
        std::net::IpAddr::V6(ip) => ip.is_unicast_link_local(),
    };
    if ip.is_unspecified() {
        let why = format!("may not be unspecified ({ip})");
        report.invalid(path, address, &why);
    }
    if ip.is_loopback() {
        let why = "may not be in the loopback range (127.0.0.0/8, ::1/128)";
        report.invalid(path, address, why);
    }
    if link_local {
        let why = "may not be in the link-local range (169.254.0.0/16, fe80::/10)";
        report.invalid(path, address, why);
    }
}
