//! Volumes inside containers, as folders and as raw devices.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{
    container::Volumes,
    report::{Report, list, text},
};

/// Whether a list of mounts or devices has this text in a field.
fn has(entries: &Value, field: &str, value: &str) -> bool {
    let mut entries = list(entries).iter();
    entries.any(|entry| text(&entry[field]) == value)
}

/// Volumes that a container uses as raw devices.
pub(super) fn devices(report: &mut Report, container: &Value, volumes: &Volumes<'_>, path: &str) {
    let mounts = &container["volumeMounts"];
    let mut names = BTreeSet::new();
    let mut places = BTreeSet::new();
    for (index, device) in list(&container["volumeDevices"]).iter().enumerate() {
        let name_at = format!("{path}[{index}].name");
        let place_at = format!("{path}[{index}].devicePath");
        let (name, place) = (text(&device["name"]), text(&device["devicePath"]));
        if name.is_empty() {
            report.required(name_at.as_str());
        } else if !names.insert(name) {
            report.invalid(name_at.as_str(), &device["name"], "must be unique");
        }
        match volumes.get(name) {
            None => report.not_found(name_at.as_str(), &json!(name)),
            Some(volume) => {
                let claimed = ["persistentVolumeClaim", "ephemeral"];
                if !claimed.iter().any(|kind| volume[*kind].is_object()) {
                    let why = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode";
                    report.invalid(name_at.as_str(), &device["name"], why);
                }
            }
        }
        if place.is_empty() {
            report.required(place_at.as_str());
        }
        if places.contains(place) {
            let why = "must be unique";
            report.invalid(place_at.as_str(), &json!(place), why);
        }
        if place.split('/').any(|part| part == "..") {
            let why = "can not contain backsteps ('..')";
            report.invalid(place_at.as_str(), &device["devicePath"], why);
        } else {
            places.insert(place);
        }
        if has(mounts, "name", name) {
            let why = "must not already exist in volumeMounts";
            report.invalid(name_at, &json!(name), why);
        }
        if has(mounts, "mountPath", place) {
            let why = "must not already exist as a path in volumeMounts";
            report.invalid(place_at, &json!(place), why);
        }
    }
}

/// Volumes that a container sees as folders.
pub(super) fn mounts(report: &mut Report, container: &Value, volumes: &Volumes<'_>, path: &str) {
    let devices = &container["volumeDevices"];
    let mut places = BTreeSet::new();
    for (index, mount) in list(&container["volumeMounts"]).iter().enumerate() {
        let name_at = format!("{path}[{index}].name");
        let place_at = format!("{path}[{index}].mountPath");
        let (name, place) = (text(&mount["name"]), text(&mount["mountPath"]));
        if name.is_empty() {
            report.required(name_at.as_str());
        }
        if !volumes.contains_key(name) {
            report.not_found(name_at.as_str(), &json!(name));
        }
        if place.is_empty() {
            report.required(place_at.as_str());
        }
        if !places.insert(place) {
            report.invalid(place_at.as_str(), &json!(place), "must be unique");
        }
        if has(devices, "name", name) {
            let why = "must not already exist in volumeDevices";
            report.invalid(name_at, &json!(name), why);
        }
        if has(devices, "devicePath", place) {
            let why = "must not already exist as a path in volumeDevices";
            report.invalid(place_at, &json!(place), why);
        }
        // The rest is blamed on all mounts together, except where two fields exclude each other.
        report.descends(&format!("{path}.subPath"), &mount["subPath"]);
        if !text(&mount["subPathExpr"]).is_empty() && !text(&mount["subPath"]).is_empty() {
            let why = "subPathExpr and subPath are mutually exclusive";
            let at = format!("{path}[{index}].subPathExpr");
            report.invalid(at, &mount["subPathExpr"], why);
        }
        report.descends(&format!("{path}.subPathExpr"), &mount["subPathExpr"]);
        propagation(
            report,
            mount,
            container,
            &format!("{path}.mountPropagation"),
        );
        read_only(report, mount, &format!("{path}.recursiveReadOnly"));
    }
}

fn propagation(report: &mut Report, mount: &Value, container: &Value, path: &str) {
    let mode = &mount["mountPropagation"];
    report.one_of_if_set(path, mode, &["Bidirectional", "HostToContainer", "None"]);
    let privileged = container["securityContext"]["privileged"] == json!(true);
    if mode == "Bidirectional" && !privileged {
        let why = "Bidirectional mount propagation is available only to privileged containers";
        report.forbidden(path, why);
    }
}

fn read_only(report: &mut Report, mount: &Value, path: &str) {
    let mode = &mount["recursiveReadOnly"];
    report.one_of_if_set(path, mode, &["Disabled", "Enabled", "IfPossible"]);
    if !matches!(text(mode), "Enabled" | "IfPossible") {
        return;
    }
    if mount["readOnly"] != json!(true) {
        report.forbidden(path, "may only be specified when readOnly is true");
    }
    if !matches!(text(&mount["mountPropagation"]), "" | "None") {
        let why = "may only be specified when mountPropagation is None or not specified";
        report.forbidden(path, why);
    }
}
