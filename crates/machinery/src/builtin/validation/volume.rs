//! Volumes of pods.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{
    environment,
    report::{Report, amount, list, text},
    storage,
};

const MODES: &str = "must be a number between 0 and 0777 (octal), both inclusive";
/// In the order in which real servers look at them.
const SOURCES: [&str; 30] = [
    "emptyDir",
    "hostPath",
    "gitRepo",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "secret",
    "nfs",
    "iscsi",
    "glusterfs",
    "flocker",
    "persistentVolumeClaim",
    "rbd",
    "cinder",
    "cephfs",
    "quobyte",
    "downwardAPI",
    "fc",
    "configMap",
    "azureFile",
    "vsphereVolume",
    "azureDisk",
    "portworxVolume",
    "projected",
    "scaleIO",
    "storageos",
    "csi",
    "ephemeral",
    "image",
    "photonPersistentDisk",
    "azureFileVolume",
];

/// Checks volumes; gives the names of the good ones.
pub(super) fn volumes<'a>(
    report: &mut Report,
    volumes: &'a Value,
    path: &str,
) -> BTreeSet<&'a str> {
    let mut names = BTreeSet::new();
    for (index, volume) in list(volumes).iter().enumerate() {
        let path = format!("{path}[{index}]");
        let before = report.errors.len();
        source(report, volume, &path);
        report.label_name(&format!("{path}.name"), &volume["name"]);
        let name = text(&volume["name"]);
        if names.contains(name) {
            report.duplicate(format!("{path}.name"), &volume["name"]);
        }
        if report.errors.len() == before {
            names.insert(name);
        }
    }
    names
}

fn source(report: &mut Report, volume: &Value, path: &str) {
    let mut found = 0;
    for kind in SOURCES {
        let source = &volume[kind];
        if !source.is_object() {
            continue;
        }
        let path = format!("{path}.{kind}");
        found += 1;
        if found > 1 {
            report.forbidden(path, "may not specify more than 1 volume type");
            continue;
        }
        of_kind(report, kind, source, &path);
    }
    if found == 0 {
        report.required_because(path, "must specify a volume type");
    }
}

fn of_kind(report: &mut Report, kind: &str, source: &Value, path: &str) {
    let must = |report: &mut Report, field: &str| {
        if text(&source[field]).is_empty() {
            report.required(format!("{path}.{field}"));
        }
    };
    match kind {
        "emptyDir" if amount(&source["sizeLimit"]) < 0 => {
            let why = "SizeLimit field must be a valid resource quantity";
            report.forbidden(format!("{path}.sizeLimit"), why);
        }
        "hostPath" => host_path(report, source, path),
        "secret" => {
            must(report, "secretName");
            mode(report, &source["defaultMode"], path);
            items(report, &source["items"], path);
        }
        "configMap" => {
            must(report, "name");
            mode(report, &source["defaultMode"], path);
            items(report, &source["items"], path);
        }
        "persistentVolumeClaim" => must(report, "claimName"),
        "csi" => must(report, "driver"),
        "nfs" => {
            must(report, "server");
            must(report, "path");
            if !text(&source["path"]).starts_with('/') {
                let value = json!(text(&source["path"]));
                report.invalid(format!("{path}.path"), &value, "must be an absolute path");
            }
        }
        "downwardAPI" => {
            mode(report, &source["defaultMode"], path);
            for item in list(&source["items"]) {
                downward(report, item, path);
            }
        }
        "projected" => projected(report, source, path),
        "ephemeral" => {
            let template = &source["volumeClaimTemplate"];
            let at = format!("{path}.volumeClaimTemplate");
            if template.is_object() {
                storage::claim(report, &template["spec"], &format!("{at}.spec"));
            } else {
                report.required(at);
            }
        }
        _ => {}
    }
}

/// A folder of the node.
pub(super) fn host_path(report: &mut Report, source: &Value, path: &str) {
    let place = text(&source["path"]);
    if place.is_empty() {
        report.required(format!("{path}.path"));
        return;
    }
    if place.split('/').any(|part| part == "..") {
        report.invalid(
            format!("{path}.path"),
            &source["path"],
            "must not contain '..'",
        );
    }
    report.one_of_if_set(
        format!("{path}.type"),
        &source["type"],
        &[
            "",
            "BlockDevice",
            "CharDevice",
            "Directory",
            "DirectoryOrCreate",
            "File",
            "FileOrCreate",
            "Socket",
        ],
    );
}

fn mode(report: &mut Report, mode: &Value, path: &str) {
    if mode
        .as_i64()
        .is_some_and(|mode| !(0..=0o777).contains(&mode))
    {
        report.invalid(format!("{path}.defaultMode"), mode, MODES);
    }
}

fn items(report: &mut Report, items: &Value, path: &str) {
    for (index, item) in list(items).iter().enumerate() {
        let path = format!("{path}.items[{index}]");
        if text(&item["key"]).is_empty() {
            report.required(format!("{path}.key"));
        }
        relative(report, &item["path"], &format!("{path}.path"));
        if item["mode"]
            .as_i64()
            .is_some_and(|mode| !(0..=0o777).contains(&mode))
        {
            report.invalid(format!("{path}.mode"), &item["mode"], MODES);
        }
    }
}

fn relative(report: &mut Report, value: &Value, path: &str) {
    let place = text(value);
    if place.is_empty() {
        report.required(path);
        return;
    }
    if place.starts_with('/') {
        report.invalid(path, value, "must be a relative path");
    }
    if place.split('/').any(|part| part == "..") {
        report.invalid(path, value, "must not contain '..'");
    }
    if place.starts_with("..") && !place.starts_with("../") {
        report.invalid(path, value, "must not start with '..'");
    }
}

fn downward(report: &mut Report, item: &Value, path: &str) {
    if text(&item["path"]).is_empty() {
        report.required(format!("{path}.path"));
    }
    let (field, amount) = (&item["fieldRef"], &item["resourceFieldRef"]);
    if field.is_object() {
        environment::field_reference(report, field, &format!("{path}.fieldRef"), true);
        if amount.is_object() {
            let why = "fieldRef and resourceFieldRef can not be specified simultaneously";
            report.invalid(path, &json!("resource"), why);
        }
    } else if amount.is_object() {
        environment::amount_reference(report, amount, &format!("{path}.resourceFieldRef"));
    } else {
        report.required_because(path, "one of fieldRef and resourceFieldRef is required");
    }
}

fn projected(report: &mut Report, source: &Value, path: &str) {
    mode(report, &source["defaultMode"], path);
    for (index, part) in list(&source["sources"]).iter().enumerate() {
        let path = format!("{path}.sources[{index}]");
        let mut found = 0;
        for kind in ["secret", "configMap"] {
            let part = &part[kind];
            if part.is_object() {
                found += 1;
                if text(&part["name"]).is_empty() {
                    report.required(format!("{path}.{kind}.name"));
                }
                items(report, &part["items"], &format!("{path}.{kind}"));
            }
        }
        if part["downwardAPI"].is_object() {
            found += 1;
            for item in list(&part["downwardAPI"]["items"]) {
                downward(report, item, &format!("{path}.downwardAPI"));
            }
        }
        let token = &part["serviceAccountToken"];
        if token.is_object() {
            found += 1;
            let seconds = &token["expirationSeconds"];
            if seconds.as_i64().is_some_and(|seconds| seconds < 600) {
                let why = "may not specify a duration less than 10 minutes";
                report.invalid(
                    format!("{path}.serviceAccountToken.expirationSeconds"),
                    seconds,
                    why,
                );
            }
            if text(&token["path"]).is_empty() {
                // Blamed on the volume, whichever of its sources it is.
                let volume = path.split(".sources[").next().unwrap_or(&path);
                report.required(format!("{volume}.path"));
            }
        }
        if found > 1 {
            report.forbidden(path, "may not specify more than 1 volume type per source");
        }
    }
}
