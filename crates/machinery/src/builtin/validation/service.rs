//! Services.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{
    container::protocol,
    report::{Report, list, text},
};
use crate::{field_error::Kind, names};

const ONLY_BALANCER: &str = "may only be used when `type` is 'LoadBalancer'";

pub(super) fn service(report: &mut Report, service: &Value) {
    let spec = &service["spec"];
    let ty = text(&spec["type"]);
    let headless = list(&spec["clusterIPs"])
        .first()
        .is_some_and(|ip| ip == "None");
    if list(&spec["ports"]).is_empty() && !headless && ty != "ExternalName" {
        report.required("spec.ports");
    }
    if ty == "LoadBalancer" && headless {
        let why = "may not be set to 'None' for LoadBalancer services";
        report.invalid("spec.clusterIPs[0]", &json!("None"), why);
    }
    if ty == "NodePort" && headless {
        let why = "may not be set to 'None' for NodePort services";
        report.invalid("spec.clusterIPs[0]", &json!("None"), why);
    }
    if ty == "ExternalName" {
        external_name(report, spec);
    }
    ports(report, spec);
    report.errors.extend(names::validate_labels(
        spec.get("selector"),
        "spec.selector",
    ));
    if text(&spec["sessionAffinity"]).is_empty() {
        report.required("spec.sessionAffinity");
    } else {
        let known = ["ClientIP", "None"];
        report.one_of("spec.sessionAffinity", &spec["sessionAffinity"], &known);
    }
    session_timeout(report, spec);
    addresses(report, spec);
    for (index, ip) in list(&spec["externalIPs"]).iter().enumerate() {
        let path = format!("spec.externalIPs[{index}]");
        if matches!(text(ip), "0.0.0.0" | "::") {
            let why = format!("may not be unspecified ({})", text(ip));
            report.invalid(path, ip, &why);
            continue;
        }
        report.ip(path, ip);
    }
    if ty.is_empty() {
        report.required("spec.type");
    } else {
        let known = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
        report.one_of("spec.type", &spec["type"], &known);
    }
    node_ports(report, spec, ty);
    duplicate_node_ports(report, spec);
    duplicate_ports(report, spec);
    source_ranges(report, spec, ty);
    if spec["allocateLoadBalancerNodePorts"].is_boolean() && ty != "LoadBalancer" {
        report.forbidden("spec.allocateLoadBalancerNodePorts", ONLY_BALANCER);
    }
    balancer_class(report, spec);
    traffic_policies(report, spec, ty);
}

fn external_name(report: &mut Report, spec: &Value) {
    if !list(&spec["clusterIPs"]).is_empty() {
        report.forbidden(
            "spec.clusterIPs",
            "may not be set for ExternalName services",
        );
    }
    let name = text(&spec["externalName"]);
    if name.is_empty() {
        report.required("spec.externalName");
    } else {
        let bare = name.strip_suffix('.').unwrap_or(name);
        report.names("spec.externalName", name, names::dns_1123_subdomain(bare));
    }
}

fn ports(report: &mut Report, spec: &Value) {
    let ports = list(&spec["ports"]);
    let mut seen = BTreeSet::new();
    for (index, port) in ports.iter().enumerate() {
        let path = format!("spec.ports[{index}]");
        let name = text(&port["name"]);
        if name.is_empty() {
            if ports.len() > 1 {
                report.required(format!("{path}.name"));
            }
        } else {
            let complaints = names::dns_1123_label(name);
            report.names(&format!("{path}.name"), name, complaints);
            if !seen.insert(name) {
                report.duplicate(format!("{path}.name"), &port["name"]);
            }
        }
        report.port(
            format!("{path}.port"),
            port["port"].as_i64().unwrap_or_default(),
        );
        protocol(report, &port["protocol"], &format!("{path}.protocol"));
        report.port_or_name(&format!("{path}.targetPort"), &port["targetPort"]);
        let application = text(&port["appProtocol"]);
        if !application.is_empty() {
            let complaints = names::qualified_name(application);
            report.names(&format!("{path}.appProtocol"), application, complaints);
        }
    }
}

fn session_timeout(report: &mut Report, spec: &Value) {
    let timeout = &spec["sessionAffinityConfig"]["clientIP"]["timeoutSeconds"];
    if spec["sessionAffinity"] == "ClientIP"
        && timeout
            .as_i64()
            .is_some_and(|seconds| !(1..=86400).contains(&seconds))
    {
        let path = "spec.sessionAffinityConfig.clientIP.timeoutSeconds";
        report.invalid(path, timeout, "must be greater than 0 and less than 86400");
    }
}

/// Cluster addresses and their families. Addresses are given out before anything else is looked at, so that what is
/// wrong here is told alone.
pub(super) fn addresses(report: &mut Report, spec: &Value) {
    if spec["type"] == "ExternalName" {
        return;
    }
    let path = "spec.clusterIPs";
    let given = &spec["clusterIPs"];
    let ips = list(given);
    let first = text(&spec["clusterIP"]);
    match ips.first() {
        None if !first.is_empty() => report.required(path),
        Some(ip) if first.is_empty() && !text(ip).is_empty() => {
            let why = "must be empty when `clusterIP` is not specified";
            report.invalid(path, given, why);
        }
        Some(ip) if text(ip) != first => {
            report.invalid(path, given, "first value must match `clusterIP`");
        }
        _ => {}
    }
    let families = list(&spec["ipFamilies"]);
    for (index, family) in families.iter().enumerate() {
        let at = format!("spec.ipFamilies[{index}]");
        report.one_of(at.as_str(), family, &["IPv4", "IPv6"]);
        if families[..index].contains(family) {
            report.duplicate(at, family);
        }
    }
    report.one_of_if_set(
        "spec.ipFamilyPolicy",
        &spec["ipFamilyPolicy"],
        &["PreferDualStack", "RequireDualStack", "SingleStack"],
    );
    let before = report.errors.len();
    for (index, ip) in ips.iter().enumerate() {
        if index > 0 || ip != "None" {
            report.ip(format!("{path}[{index}]"), ip);
        } else if ips.len() > 1 {
            report.invalid(path, given, "'None' must be the first and only value");
        }
    }
    let valid = report.errors.len() == before;
    if ips.len() > 2 {
        report.invalid(path, given, "may only hold up to 2 values");
    }
    if valid {
        matching_families(report, given, families);
    }
}

fn matching_families(report: &mut Report, given: &Value, families: &[Value]) {
    let path = "spec.clusterIPs";
    let ips = list(given);
    let is_six = |ip: &Value| text(ip).contains(':');
    let both = ips.iter().any(is_six) && !ips.iter().all(is_six);
    if ips.len() > 1 && !both {
        let why = "may specify no more than one IP for each IP family";
        report.invalid(path, given, why);
    }
    for (index, (ip, family)) in ips.iter().zip(families).enumerate() {
        let known = matches!(text(family), "IPv4" | "IPv6");
        if ip != "None" && known && is_six(ip) != (family == "IPv6") {
            let why = format!(
                "expected an {} value as indicated by `ipFamilies[{index}]`",
                text(family)
            );
            report.invalid(format!("{path}[{index}]"), ip, &why);
        }
    }
}

/// What may change in a service: a second address and family can come and go, the first ones stay.
pub(super) fn update(report: &mut Report, new: &Value, old: &Value) {
    let has_address = |spec: &Value| {
        matches!(
            text(&spec["type"]),
            "ClusterIP" | "NodePort" | "LoadBalancer"
        )
    };
    let headless = |spec: &Value| spec["clusterIPs"][0] == "None";
    if has_address(new) && has_address(old) {
        if !headless(new) || !headless(old) {
            once_set(report, new, old, "clusterIPs", "clusterIP");
        }
        if !headless(new) && !headless(old) {
            once_set(report, new, old, "ipFamilies", "ipFamily");
        }
    }
    let balances = |spec: &Value| spec["type"] == "LoadBalancer";
    let class = &new["loadBalancerClass"];
    if balances(new) && balances(old) && *class != old["loadBalancerClass"] {
        report.invalid("spec.loadBalancerClass", class, "may not change once set");
    }
    balancer_class(report, new);
    let needs_check = |spec: &Value| balances(spec) && spec["externalTrafficPolicy"] == "Local";
    if needs_check(new)
        && needs_check(old)
        && new["healthCheckNodePort"] != old["healthCheckNodePort"]
    {
        report.forbidden("spec.healthCheckNodePort", "field is immutable");
    }
}

fn once_set(report: &mut Report, new: &Value, old: &Value, field: &str, one: &str) {
    let (now, before) = (list(&new[field]), list(&old[field]));
    let why = "may not change once set";
    let path = format!("spec.{field}[0]");
    if now.len() == before.len() {
        for (index, _) in before
            .iter()
            .enumerate()
            .filter(|(at, ip)| now[*at] != **ip)
        {
            // Families are all blamed on the first.
            let index = if field == "ipFamilies" { 0 } else { index };
            report.invalid(format!("spec.{field}[{index}]"), &new[field], why);
        }
        return;
    }
    if now.is_empty() {
        let why = format!("primary {one} can not be unset");
        report.invalid(path, &new[field], &why);
    } else if !before.is_empty() && now[0] != before[0] {
        report.invalid(path, &new[field], why);
    }
    if now.len() < before.len() && now.len() == 1 && new["ipFamilyPolicy"] != "SingleStack" {
        let why = format!("must be set to 'SingleStack' when releasing the secondary {one}");
        report.invalid("spec.ipFamilyPolicy", &new["ipFamilyPolicy"], &why);
    }
}

fn balancer_class(report: &mut Report, spec: &Value) {
    let path = "spec.loadBalancerClass";
    let Some(class) = spec["loadBalancerClass"].as_str() else {
        return;
    };
    if spec["type"] == "LoadBalancer" {
        report.names(path, class, names::qualified_name(class));
    } else {
        report.forbidden(path, ONLY_BALANCER);
    }
}

fn node_ports(report: &mut Report, spec: &Value, ty: &str) {
    if matches!(ty, "NodePort" | "LoadBalancer") {
        return;
    }
    for (index, port) in list(&spec["ports"]).iter().enumerate() {
        if port["nodePort"].as_i64().unwrap_or_default() != 0 {
            let why = "may not be used when `type` is 'ClusterIP'";
            report.forbidden(format!("spec.ports[{index}].nodePort"), why);
        }
    }
}

fn duplicate_node_ports(report: &mut Report, spec: &Value) {
    let mut seen = BTreeSet::new();
    for (index, port) in list(&spec["ports"]).iter().enumerate() {
        let number = port["nodePort"].as_i64().unwrap_or_default();
        if number != 0 && !seen.insert((number, text(&port["protocol"]))) {
            let path = format!("spec.ports[{index}].nodePort");
            report.duplicate(path, &port["nodePort"]);
        }
    }
}

fn duplicate_ports(report: &mut Report, spec: &Value) {
    let mut seen = BTreeSet::new();
    for (index, port) in list(&spec["ports"]).iter().enumerate() {
        let number = port["port"].as_i64().unwrap_or_default();
        let protocol = text(&port["protocol"]);
        if !seen.insert((number, protocol)) {
            let shown = format!(
                "{{\"Name\":\"\",\"Protocol\":{protocol:?},\"AppProtocol\":null,\"Port\":{number},\"TargetPort\":0,\"NodePort\":0}}"
            );
            report.shown(Kind::Duplicate, format!("spec.ports[{index}]"), &shown, "");
        }
    }
}

fn source_ranges(report: &mut Report, spec: &Value, ty: &str) {
    let ranges = list(&spec["loadBalancerSourceRanges"]);
    if !ranges.is_empty() && ty != "LoadBalancer" {
        report.forbidden("spec.LoadBalancerSourceRanges", ONLY_BALANCER);
    }
    for (index, range) in ranges.iter().enumerate() {
        report.cidr(format!("spec.LoadBalancerSourceRanges[{index}]"), range);
    }
}

fn traffic_policies(report: &mut Report, spec: &Value, ty: &str) {
    let policies = ["Cluster", "Local"];
    let external = &spec["externalTrafficPolicy"];
    let outside = matches!(ty, "NodePort" | "LoadBalancer")
        || (ty == "ClusterIP" && !list(&spec["externalIPs"]).is_empty());
    if !text(external).is_empty() {
        if outside {
            report.one_of("spec.externalTrafficPolicy", external, &policies);
        } else {
            let why = "may only be set for externally-accessible services";
            report.invalid("spec.externalTrafficPolicy", external, why);
        }
    }
    report.one_of_if_set(
        "spec.internalTrafficPolicy",
        &spec["internalTrafficPolicy"],
        &policies,
    );
    report.one_of_if_set(
        "spec.trafficDistribution",
        &spec["trafficDistribution"],
        &["PreferClose", "PreferSameZone", "PreferSameNode"],
    );
}
