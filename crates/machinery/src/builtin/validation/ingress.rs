//! Ingresses and their classes.

use serde_json::{Value, json};

use super::report::{Report, list, text};
use crate::names;

pub(super) fn ingress(report: &mut Report, object: &Value, is_new: bool) {
    let spec = &object["spec"];
    for (index, tls) in list(&spec["tls"]).iter().enumerate() {
        for (at, name) in list(&tls["hosts"]).iter().enumerate() {
            let path = format!("spec.tls[{index}].hosts[{at}]");
            host_name(report, name, &path);
        }
    }
    let backend_given = spec["defaultBackend"].is_object();
    if list(&spec["rules"]).is_empty() && !backend_given {
        let why = "either `defaultBackend` or `rules` must be specified";
        report.invalid("spec", &Value::Null, why);
    }
    if backend_given {
        backend(report, &spec["defaultBackend"], "spec.defaultBackend");
    }
    for (index, rule) in list(&spec["rules"]).iter().enumerate() {
        host(report, &rule["host"], &format!("spec.rules[{index}].host"));
        if rule["http"].is_object() {
            paths(
                report,
                &rule["http"]["paths"],
                &format!("spec.rules[{index}].http.paths"),
            );
        }
    }
    report.subdomain_if_set("spec.ingressClassName", &spec["ingressClassName"]);
    let annotated = &object["metadata"]["annotations"]["kubernetes.io/ingress.class"];
    let class = &spec["ingressClassName"];
    if is_new && annotated.is_string() && class.is_string() && annotated != class {
        let why = "must match `ingressClassName` when both are specified";
        report.invalid("annotations.kubernetes.io/ingress.class", annotated, why);
    }
}

fn host(report: &mut Report, host: &Value, path: &str) {
    let name = text(host);
    if name.is_empty() {
        return;
    }
    if name.parse::<std::net::IpAddr>().is_ok() {
        report.invalid(path, host, "must be a DNS name, not an IP address");
        return;
    }
    host_name(report, host, path);
}

fn host_name(report: &mut Report, host: &Value, path: &str) {
    let name = text(host);
    if name.contains('*') {
        let rest = name.strip_prefix("*.");
        let valid = rest.is_some_and(|rest| names::dns_1123_subdomain(rest).is_empty());
        if !valid {
            let why = "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
            report.invalid(path, host, why);
        }
    } else {
        report.names(path, name, names::dns_1123_subdomain(name));
    }
}

fn paths(report: &mut Report, paths: &Value, path: &str) {
    let entries = list(paths);
    if entries.is_empty() {
        report.required(path);
    }
    for (index, entry) in entries.iter().enumerate() {
        let at = format!("{path}[{index}]");
        match text(&entry["pathType"]) {
            "" => report.required_because(format!("{at}.pathType"), "pathType must be specified"),
            "Exact" | "Prefix" => absolute(report, &entry["path"], &format!("{at}.path")),
            "ImplementationSpecific" => {
                let place = text(&entry["path"]);
                if !place.is_empty() && !place.starts_with('/') {
                    let why = "must be an absolute path";
                    report.invalid(format!("{at}.path"), &entry["path"], why);
                }
            }
            _ => report.one_of(
                format!("{at}.pathType"),
                &entry["pathType"],
                &["Exact", "ImplementationSpecific", "Prefix"],
            ),
        }
        backend(report, &entry["backend"], &format!("{at}.backend"));
    }
}

fn absolute(report: &mut Report, value: &Value, path: &str) {
    let place = text(value);
    if !place.starts_with('/') {
        report.invalid(path, &json!(place), "must be an absolute path");
    }
    for (part, name) in [
        ("//", "//"),
        ("/./", "/./"),
        ("/../", "/../"),
        ("%2f", "%2f"),
        ("%2F", "%2F"),
    ] {
        if place.contains(part) {
            report.invalid(path, value, &format!("must not contain '{name}'"));
        }
    }
    for suffix in ["/..", "/."] {
        if place.ends_with(suffix) {
            report.invalid(path, value, &format!("cannot end with '{suffix}'"));
        }
    }
}

fn backend(report: &mut Report, backend: &Value, path: &str) {
    let (service, resource) = (&backend["service"], &backend["resource"]);
    match (service.is_object(), resource.is_object()) {
        (true, true) => {
            let why = "cannot set both resource and service backends";
            report.invalid(path, &json!(""), why);
        }
        (false, false) => {
            report.invalid(path, &json!(""), "resource or service backend is required");
        }
        (false, true) => {}
        (true, false) => {
            report.label_name(&format!("{path}.service.name"), &service["name"]);
            let port = &service["port"];
            let (name, number) = (
                text(&port["name"]),
                port["number"].as_i64().unwrap_or_default(),
            );
            if !name.is_empty() && number != 0 {
                report.invalid(path, &json!(""), "cannot set both port name & port number");
            } else if !name.is_empty() {
                report.port_or_name(&format!("{path}.service.port.name"), &port["name"]);
            } else if number != 0 {
                report.port(format!("{path}.service.port.number"), number);
            } else {
                report.required_because(path, "port name or number is required");
            }
        }
    }
}

pub(super) fn class(report: &mut Report, spec: &Value) {
    let controller = text(&spec["controller"]);
    if controller.is_empty() {
        report.required("spec.controller");
    } else if controller
        .split_once('/')
        .is_none_or(|(domain, rest)| domain.is_empty() || rest.is_empty())
    {
        let why = "must be a domain-prefixed path (such as \"acme.io/foo\")";
        report.invalid("spec.controller", &spec["controller"], why);
    }
    let parameters = &spec["parameters"];
    if parameters.is_object() {
        for field in ["kind", "name"] {
            if text(&parameters[field]).is_empty() {
                report.required(format!("spec.parameters.{field}"));
            }
        }
        report.one_of_if_set(
            "spec.parameters.scope",
            &parameters["scope"],
            &["Cluster", "Namespace"],
        );
    }
}
