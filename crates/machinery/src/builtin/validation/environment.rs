//! Environment variables of containers.

use serde_json::{Value, json};

use super::{
    container,
    report::{Report, list, text},
};
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
/// The same for volumes, which may name all labels or annotations.
const IN_VOLUMES: [&str; 5] = [
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
];
/// Fields of pods that neither may name.
const ELSEWHERE: [&str; 3] = ["spec.restartPolicy", "spec.schedulerName", "status.phase"];
const AMOUNTS: [&str; 6] = [
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
];

const BYTES: [&str; 13] = [
    "1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei",
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
        let at = format!("{path}.resourceFieldRef");
        amount_reference(report, amount, &at, false);
    }
    for kind in ["configMapKeyRef", "secretKeyRef"] {
        if source[kind].is_object() {
            key_reference(report, &source[kind], &format!("{path}.{kind}"));
        }
    }
    if source["fileKeyRef"].is_object() {
        let at = format!("{path}.fileKeyRef");
        file_reference(report, &source["fileKeyRef"], &at);
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

/// A field of the pod itself.
pub(super) fn field_reference(report: &mut Report, field: &Value, path: &str, in_volume: bool) {
    let place = text(&field["fieldPath"]);
    if place.is_empty() {
        report.required(format!("{path}.fieldPath"));
        return;
    }
    if let Some(version) = field["apiVersion"].as_str().filter(|text| *text != "v1") {
        let why = format!("error converting fieldPath: unsupported pod version: {version}");
        report.invalid(format!("{path}.fieldPath"), &field["fieldPath"], &why);
        return;
    }
    if let Some((map, key)) = subscripted(place) {
        let key = match map {
            "metadata.annotations" => key.to_lowercase(),
            _ => key.to_owned(),
        };
        if matches!(map, "metadata.annotations" | "metadata.labels") {
            report.names(path, &key, names::qualified_name(&key));
        } else {
            let why = format!(
                "error converting fieldPath: field label does not support subscript: {place}"
            );
            report.invalid(format!("{path}.fieldPath"), &field["fieldPath"], &why);
        }
        return;
    }
    let at = format!("{path}.fieldPath");
    if !FIELDS.contains(&place) && !ELSEWHERE.contains(&place) && !IN_VOLUMES.contains(&place) {
        let why = format!("error converting fieldPath: field label not supported: {place}");
        report.invalid(at, &field["fieldPath"], &why);
    } else if in_volume {
        report.one_of(at, &field["fieldPath"], &IN_VOLUMES);
    } else {
        report.one_of(at, &field["fieldPath"], &FIELDS);
    }
}

/// Parts a path such as `metadata.labels['key']`.
fn subscripted(path: &str) -> Option<(&str, &str)> {
    path.strip_suffix("']")?.split_once("['")
}

/// An amount of a container's resources; a volume must say of which container.
pub(super) fn amount_reference(report: &mut Report, amount: &Value, path: &str, in_volume: bool) {
    let name = text(&amount["resource"]);
    let huge = name.starts_with("requests.hugepages-") || name.starts_with("limits.hugepages-");
    if in_volume && text(&amount["containerName"]).is_empty() {
        report.required(format!("{path}.containerName"));
    } else if name.is_empty() {
        report.required(format!("{path}.resource"));
    } else if !huge {
        report.one_of(format!("{path}.resource"), &amount["resource"], &AMOUNTS);
    }
    let divisor = text(&amount["divisor"]);
    if matches!(divisor, "" | "0") {
        return;
    }
    let bytes = BYTES.join(", ");
    let (known, words, what) = match name {
        "limits.cpu" | "requests.cpu" => (&["1m", "1"][..], "1m and 1", "cpu"),
        "limits.memory" | "requests.memory" => (&BYTES[..], bytes.as_str(), "memory"),
        "limits.ephemeral-storage" | "requests.ephemeral-storage" => {
            (&BYTES[..], bytes.as_str(), "local ephemeral storage")
        }
        _ if huge => (&BYTES[..], bytes.as_str(), "hugepages"),
        _ => return,
    };
    if !known.contains(&divisor) {
        let why = format!("only divisor's values {words} are supported with the {what} resource");
        report.invalid(format!("{path}.divisor"), &amount["resource"], &why);
    }
}

/// A variable of a file in a volume.
fn file_reference(report: &mut Report, reference: &Value, path: &str) {
    let key = text(&reference["key"]);
    if key.is_empty() {
        report.required(format!("{path}.key"));
    } else if !is_name(key) {
        report.invalid(format!("{path}.key"), &reference["key"], ENVIRONMENT);
    }
    report.label_name(&format!("{path}.volumeName"), &reference["volumeName"]);
    let place = text(&reference["path"]);
    if place.is_empty() {
        report.required(format!("{path}.path"));
    } else if place.split('/').any(|part| part == "..") {
        let why = "must not contain '..'";
        report.invalid(format!("{path}.path"), &reference["path"], why);
    }
}

/// Files that hold variables lie in empty folders of the same pod.
pub(super) fn file_volumes(report: &mut Report, spec: &Value, path: &str) {
    for (container, path) in container::all(spec, path) {
        for (index, variable) in list(&container["env"]).iter().enumerate() {
            let reference = &variable["valueFrom"]["fileKeyRef"];
            if !reference.is_object() {
                continue;
            }
            let name = &reference["volumeName"];
            let at = format!("{path}.env[{index}].valueFrom.fileKeyRef.volumeName");
            let volumes = list(&spec["volumes"]);
            match volumes.iter().rfind(|volume| volume["name"] == *name) {
                None => report.not_found(at, &json!(text(name))),
                Some(volume) if !volume["emptyDir"].is_object() => {
                    let why = "referenced volume must be of type emptyDir";
                    report.invalid(at, name, why);
                }
                Some(_) => {}
            }
        }
    }
}

fn key_reference(report: &mut Report, reference: &Value, path: &str) {
    let name = text(&reference["name"]);
    let complaints = names::dns_1123_subdomain(name);
    report.names(&format!("{path}.name"), name, complaints);
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
