//! Environment variables of containers.

use serde_json::{Value, json};

use super::report::{Report, list, text};
use crate::names;

const ENVIRONMENT: &str = "a valid environment variable name must consist only of printable ASCII characters other than '='";
const ONE_ONLY: &str = "may not have more than one field specified at a time";
const SOURCES: [&str; 5] = [
    "fieldRef",
    "resourceFieldRef",
    "configMapKeyRef",
    "secretKeyRef",
    "fileKeyRef",
];
const FIELDS: [&str; 9] = [
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];
const AMOUNTS: [&str; 6] = [
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
];

/// `env`.
pub(super) fn variables(report: &mut Report, variables: &Value, path: &str) {
    for (index, variable) in list(variables).iter().enumerate() {
        let path = format!("{path}[{index}]");
        let name = text(&variable["name"]);
        if name.is_empty() {
            report.required(format!("{path}.name"));
        } else if !is_name(name) {
            report.invalid(format!("{path}.name"), &variable["name"], ENVIRONMENT);
        }
        if variable["valueFrom"].is_object() {
            value_from(report, variable, &format!("{path}.valueFrom"));
        }
    }
}

fn is_name(name: &str) -> bool {
    name.chars().all(|c| (' '..='~').contains(&c) && c != '=')
}

fn value_from(report: &mut Report, variable: &Value, path: &str) {
    let source = &variable["valueFrom"];
    let set = SOURCES
        .iter()
        .filter(|field| source[**field].is_object())
        .count();
    let field = &source["fieldRef"];
    if field.is_object() {
        field_reference(report, field, &format!("{path}.fieldRef"), false);
    }
    let amount = &source["resourceFieldRef"];
    if amount.is_object() {
        amount_reference(report, amount, &format!("{path}.resourceFieldRef"));
    }
    for kind in ["configMapKeyRef", "secretKeyRef"] {
        if source[kind].is_object() {
            key_reference(report, &source[kind], &format!("{path}.{kind}"));
        }
    }
    if set == 0 {
        let why = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`";
        report.invalid(path, &json!(""), why);
    } else if !text(&variable["value"]).is_empty() {
        report.invalid(
            path,
            &json!(""),
            "may not be specified when `value` is not empty",
        );
    } else if set > 1 {
        report.invalid(path, &json!(""), ONE_ONLY);
    }
}

/// A field of the pod itself; volumes may also name all labels or annotations.
pub(super) fn field_reference(report: &mut Report, field: &Value, path: &str, in_volume: bool) {
    let place = text(&field["fieldPath"]);
    if place.is_empty() {
        report.required(format!("{path}.fieldPath"));
        return;
    }
    let known = FIELDS.contains(&place)
        || place.starts_with("metadata.labels['")
        || place.starts_with("metadata.annotations['")
        || (in_volume && matches!(place, "metadata.labels" | "metadata.annotations"));
    if !known {
        let why = format!("error converting fieldPath: field label not supported: {place}");
        report.invalid(format!("{path}.fieldPath"), &field["fieldPath"], &why);
    }
}

/// An amount of a container's resources.
pub(super) fn amount_reference(report: &mut Report, amount: &Value, path: &str) {
    let name = text(&amount["resource"]);
    if name.is_empty() {
        report.required(format!("{path}.resource"));
    } else if !name.contains("hugepages-") {
        report.one_of(format!("{path}.resource"), &amount["resource"], &AMOUNTS);
    }
}

fn key_reference(report: &mut Report, reference: &Value, path: &str) {
    let key = text(&reference["key"]);
    if key.is_empty() {
        report.required(format!("{path}.key"));
    } else {
        report.names(&format!("{path}.key"), key, config_key(key));
    }
}

/// What is wrong with a key of a config map or secret.
pub(super) fn config_key(key: &str) -> Vec<String> {
    let mut found = Vec::new();
    if key.len() > 253 {
        found.push("must be no more than 253 characters".to_owned());
    }
    let valid = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    if key.is_empty() || !key.chars().all(valid) {
        found.push("a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')".to_owned());
    }
    if key == "." {
        found.push("must not be '.'".to_owned());
    } else if key == ".." {
        found.push("must not be '..'".to_owned());
    } else if key.starts_with("..") {
        found.push("must not start with '..'".to_owned());
    }
    found
}

/// `envFrom`.
pub(super) fn sources(report: &mut Report, sources: &Value, path: &str) {
    for (index, source) in list(sources).iter().enumerate() {
        let at = format!("{path}[{index}]");
        let prefix = text(&source["prefix"]);
        if !prefix.is_empty() && !is_name(prefix) {
            report.invalid(format!("{at}.prefix"), &source["prefix"], ENVIRONMENT);
        }
        let mut set = 0;
        for kind in ["configMapRef", "secretRef"] {
            if source[kind].is_object() {
                set += 1;
                let name = text(&source[kind]["name"]);
                let at = format!("{at}.{kind}.name");
                if name.is_empty() {
                    report.required(at);
                } else {
                    report.names(&at, name, names::dns_1123_subdomain(name));
                }
            }
        }
        match set {
            0 => {
                let why = "must specify one of: `configMapRef` or `secretRef`";
                report.invalid(path, &json!(""), why);
            }
            1 => {}
            _ => report.invalid(path, &json!(""), ONE_ONLY),
        }
    }
}
