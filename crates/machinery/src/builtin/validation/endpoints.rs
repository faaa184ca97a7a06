//! Endpoints and endpoint slices.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    container::protocol,
    report::{Report, list, text},
};
use crate::names;

pub(super) fn slice(report: &mut Report, slice: &Value) {
    match text(&slice["addressType"]) {
        "" => report.required("addressType"),
        _ => report.one_of(
            "addressType",
            &slice["addressType"],
            &["FQDN", "IPv4", "IPv6"],
        ),
    }
    for (index, endpoint) in list(&slice["endpoints"]).iter().enumerate() {
        let addresses = list(&endpoint["addresses"]);
        let path = format!("endpoints[{index}].addresses");
        if addresses.is_empty() {
            report.required_because(path, "must contain at least 1 address");
            continue;
        }
        for (number, address) in addresses.iter().enumerate() {
            let path = format!("{path}[{number}]");
            match text(&slice["addressType"]) {
                "FQDN" => {
                    let name = text(address);
                    report.names(&path, name, names::dns_1123_subdomain(name));
                }
                "IPv4" | "IPv6" if report.ip(path.clone(), address) => {
                    special(report, address, &path);
                }
                _ => {}
            }
        }
    }
    let mut seen = BTreeSet::new();
    for (index, port) in list(&slice["ports"]).iter().enumerate() {
        let path = format!("ports[{index}]");
        let name = text(&port["name"]);
        if !name.is_empty() {
            report.names(&format!("{path}.name"), name, names::dns_1123_label(name));
        }
        if !seen.insert(name) {
            report.duplicate(format!("{path}.name"), &port["name"]);
        }
        protocol(report, &port["protocol"], &format!("{path}.protocol"));
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
