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
    addresses(report, spec, ty, headless);
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
    duplicate_ports(report, spec);
    source_ranges(report, spec, ty);
    if spec["allocateLoadBalancerNodePorts"].is_boolean() && ty != "LoadBalancer" {
        report.forbidden("spec.allocateLoadBalancerNodePorts", ONLY_BALANCER);
    }
    if spec["loadBalancerClass"].is_string() && ty != "LoadBalancer" {
        report.forbidden("spec.loadBalancerClass", ONLY_BALANCER);
    }
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

fn addresses(report: &mut Report, spec: &Value, ty: &str, headless: bool) {
    if ty != "ExternalName" {
        report.one_of_if_set(
            "spec.ipFamilyPolicy",
            &spec["ipFamilyPolicy"],
            &["PreferDualStack", "RequireDualStack", "SingleStack"],
        );
        let families = list(&spec["ipFamilies"]);
        for (index, family) in families.iter().enumerate() {
            if families[..index].contains(family) {
                report.duplicate(format!("spec.ipFamilies[{index}]"), family);
                continue;
            }
            report.one_of(
                format!("spec.ipFamilies[{index}]"),
                family,
                &["IPv4", "IPv6"],
            );
        }
        if !headless {
            for (index, ip) in list(&spec["clusterIPs"]).iter().enumerate() {
                report.ip(format!("spec.clusterIPs[{index}]"), ip);
            }
        }
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
