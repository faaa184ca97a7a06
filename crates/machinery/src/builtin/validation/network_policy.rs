//! Network policies.

use std::net::IpAddr;

use serde_json::Value;

use super::{
    report::{Report, list, network, text},
    selector,
};

pub(super) fn policy(report: &mut Report, spec: &Value) {
    selector::check(report, &spec["podSelector"], "spec.podSelector");
    for (direction, peers) in [("ingress", "from"), ("egress", "to")] {
        for (index, rule) in list(&spec[direction]).iter().enumerate() {
            let path = format!("spec.{direction}[{index}]");
            for (number, port) in list(&rule["ports"]).iter().enumerate() {
                self::port(report, port, &format!("{path}.ports[{number}]"));
            }
            for (number, peer) in list(&rule[peers]).iter().enumerate() {
                self::peer(report, peer, &format!("{path}.{peers}[{number}]"));
            }
        }
    }
    let types = list(&spec["policyTypes"]);
    if types.len() > 2 {
        let why = "may not specify more than two policyTypes";
        report.invalid("spec.policyTypes", &spec["policyTypes"], why);
        return;
    }
    for (index, ty) in types.iter().enumerate() {
        report.one_of(
            format!("spec.policyTypes[{index}]"),
            ty,
            &["Ingress", "Egress"],
        );
    }
}

fn port(report: &mut Report, port: &Value, path: &str) {
    if !text(&port["protocol"]).is_empty() {
        let known = ["TCP", "UDP", "SCTP"];
        report.one_of(format!("{path}.protocol"), &port["protocol"], &known);
    }
    let (number, end) = (&port["port"], &port["endPort"]);
    let at = format!("{path}.endPort");
    if number.is_null() {
        if end.is_number() {
            report.invalid(at, end, "may not be specified when `port` is not specified");
        }
        return;
    }
    report.port_or_name(&format!("{path}.port"), number);
    let Some(last) = end.as_i64() else {
        return;
    };
    match number.as_i64() {
        Some(first) if last < first => {
            report.invalid(at, number, "must be greater than or equal to `port`");
        }
        Some(_) => report.port(at, last),
        None => {
            report.invalid(at, end, "may not be specified when `port` is non-numeric");
        }
    }
}

fn peer(report: &mut Report, peer: &Value, path: &str) {
    let mut found = 0;
    for field in ["podSelector", "namespaceSelector"] {
        if peer[field].is_object() {
            found += 1;
            selector::check(report, &peer[field], &format!("{path}.{field}"));
        }
    }
    let block = &peer["ipBlock"];
    if block.is_object() {
        self::block(report, block, &format!("{path}.ipBlock"));
        if found > 0 {
            report.forbidden(path, "may not specify both ipBlock and another peer");
        }
    } else if found == 0 {
        report.required_because(path, "must specify a peer");
    }
}

fn block(report: &mut Report, block: &Value, path: &str) {
    if text(&block["cidr"]).is_empty() {
        report.required(format!("{path}.cidr"));
        return;
    }
    if !report.cidr(format!("{path}.cidr"), &block["cidr"]) {
        return;
    }
    let Some(outer) = network(text(&block["cidr"])) else {
        return;
    };
    for (index, exception) in list(&block["except"]).iter().enumerate() {
        let at = format!("{path}.except[{index}]");
        if !report.cidr(at.clone(), exception) {
            continue;
        }
        if network(text(exception)).is_none_or(|inner| !is_inside(inner, outer)) {
            report.invalid(at, exception, "must be a strict subset of `cidr`");
        }
    }
}

fn is_inside(inner: (IpAddr, u8), outer: (IpAddr, u8)) -> bool {
    let bits = |address: IpAddr| match address {
        IpAddr::V4(address) => u128::from(address.to_bits()) << 96,
        IpAddr::V6(address) => address.to_bits(),
    };
    let shift = 128 - u32::from(outer.1);
    let prefix = |address: IpAddr| bits(address).checked_shr(shift).unwrap_or(0);
    inner.0.is_ipv4() == outer.0.is_ipv4()
        && inner.1 > outer.1
        && prefix(inner.0) == prefix(outer.0)
}
