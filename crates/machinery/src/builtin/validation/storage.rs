//! Volume claims, volumes and storage classes.

use serde_json::{Value, json};

use super::{
    affinity,
    report::{Report, amount, list, text},
    selector, status, volume,
};
use crate::names;

const MODES: [&str; 4] = [
    "ReadOnlyMany",
    "ReadWriteMany",
    "ReadWriteOnce",
    "ReadWriteOncePod",
];
const SOURCES: [&str; 22] = [
    "hostPath",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "glusterfs",
    "flocker",
    "nfs",
    "rbd",
    "quobyte",
    "cephfs",
    "iscsi",
    "cinder",
    "fc",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "scaleIO",
    "local",
    "storageos",
    "csi",
    "unknown",
];

fn access_modes(report: &mut Report, modes: &Value, path: &str) {
    let modes = list(modes);
    for mode in modes {
        report.one_of(path, mode, &MODES);
    }
    if modes.len() > 1 && modes.iter().any(|mode| mode == "ReadWriteOncePod") {
        report.forbidden(path, "may not use ReadWriteOncePod with other access modes");
    }
}

/// A claim, on its own or in a template.
pub(super) fn claim(report: &mut Report, spec: &Value, path: &str) {
    let at = |field: &str| format!("{path}.{field}");
    if list(&spec["accessModes"]).is_empty() {
        report.required_because(at("accessModes"), "at least 1 access mode is required");
    }
    if spec["selector"].is_object() {
        selector::check(report, &spec["selector"], &at("selector"));
    }
    access_modes(report, &spec["accessModes"], &at("accessModes"));
    let storage = &spec["resources"]["requests"]["storage"];
    if storage.is_null() {
        report.required(at("resources[storage]"));
    } else if amount(storage) <= 0 {
        report.invalid(
            at("resources[storage]"),
            storage,
            "must be greater than zero",
        );
    }
    report.subdomain_if_set(&at("storageClassName"), &spec["storageClassName"]);
    report.one_of_if_set(
        at("volumeMode"),
        &spec["volumeMode"],
        &["Block", "Filesystem"],
    );
    for field in ["dataSource", "dataSourceRef"] {
        let source = &spec[field];
        if source.is_object() {
            for part in ["name", "kind"] {
                if text(&source[part]).is_empty() {
                    report.required(format!("{path}.{field}.{part}"));
                }
            }
        }
    }
}

pub(super) fn volume(report: &mut Report, spec: &Value) {
    if list(&spec["accessModes"]).is_empty() {
        report.required("spec.accessModes");
    }
    access_modes(report, &spec["accessModes"], "spec.accessModes");
    let capacity = &spec["capacity"];
    let amounts = capacity.as_object();
    if amounts.is_none_or(serde_json::Map::is_empty) {
        report.required("spec.capacity");
    }
    if capacity["storage"].is_null() || amounts.is_some_and(|amounts| amounts.len() > 1) {
        let error = crate::field_error::FieldError::not_supported(
            "spec.capacity",
            capacity.clone(),
            &["storage"],
        );
        report.errors.push(error);
    }
    for (name, value) in amounts.into_iter().flatten() {
        status::storable(report, value, format!("spec.capacity[{name}]"));
        if amount(value) <= 0 {
            let why = "must be greater than zero";
            report.invalid(format!("spec.capacity[{name}]"), value, why);
        }
    }
    report.one_of(
        "spec.persistentVolumeReclaimPolicy",
        &spec["persistentVolumeReclaimPolicy"],
        &["Delete", "Recycle", "Retain"],
    );
    if spec["nodeAffinity"]["required"].is_object() {
        let path = "spec.nodeAffinity.required";
        affinity::node_selector(report, &spec["nodeAffinity"]["required"], path);
    }
    if spec["local"].is_object() && !spec["nodeAffinity"].is_object() {
        let why = "Local volume requires node affinity";
        report.required_because("spec.nodeAffinity", why);
    }
    let mut found = 0;
    for kind in SOURCES {
        if !spec[kind].is_object() {
            continue;
        }
        found += 1;
        if found > 1 {
            report.forbidden(
                format!("spec.{kind}"),
                "may not specify more than 1 volume type",
            );
        } else {
            source(report, kind, &spec[kind], &format!("spec.{kind}"));
        }
    }
    if found == 0 {
        report.required_because("spec", "must specify a volume type");
    }
    report.subdomain_if_set("spec.storageClassName", &spec["storageClassName"]);
    report.one_of_if_set(
        "spec.volumeMode",
        &spec["volumeMode"],
        &["Block", "Filesystem"],
    );
}

/// The source of a volume of its own, where it differs from that of a pod's volume.
fn source(report: &mut Report, kind: &str, source: &Value, path: &str) {
    match kind {
        "csi" => {
            volume::csi_driver(report, &source["driver"], &format!("{path}.driver"));
            if text(&source["volumeHandle"]).is_empty() {
                report.required(format!("{path}.volumeHandle"));
            }
            for field in [
                "controllerPublishSecretRef",
                "controllerExpandSecretRef",
                "nodePublishSecretRef",
                "nodeExpandSecretRef",
            ] {
                let secret = &source[field];
                let parts = ["name", "namespace"];
                for part in parts.iter().filter(|_| secret.is_object()) {
                    let at = format!("{path}.{field}.{part}");
                    let name = text(&secret[*part]);
                    let complaints = match *part {
                        "name" => names::dns_1123_subdomain(name),
                        _ => names::dns_1123_label(name),
                    };
                    if name.is_empty() {
                        report.required(at);
                    } else {
                        report.names(&at, name, complaints);
                    }
                }
            }
        }
        "local" => match text(&source["path"]) {
            "" => report.required(format!("{path}.path")),
            place if place.split('/').any(|part| part == "..") => {
                let why = "must not contain '..'";
                report.invalid(format!("{path}.path"), &source["path"], why);
            }
            _ => {}
        },
        "hostPath" | "nfs" | "iscsi" | "fc" => volume::of_kind(report, kind, source, path),
        _ => {}
    }
}

pub(super) fn class(report: &mut Report, object: &Value) {
    match text(&object["provisioner"]) {
        "" => report.required("provisioner"),
        name => report.names(
            "provisioner",
            name,
            names::qualified_name(&name.to_lowercase()),
        ),
    }
    let nameless = object["parameters"].get("").is_some();
    if nameless {
        report.invalid("parameters", &json!(""), "field can not be empty.");
    }
    report.one_of(
        "reclaimPolicy",
        &object["reclaimPolicy"],
        &["Delete", "Retain"],
    );
    report.one_of(
        "volumeBindingMode",
        &object["volumeBindingMode"],
        &["Immediate", "WaitForFirstConsumer"],
    );
}
