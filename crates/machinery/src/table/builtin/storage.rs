//! Volumes, claims and storage classes.

use serde_json::{Value, json};

use super::cells::{join, list, text, text_or};

const UNSET: &str = "<unset>";

pub(super) fn volume(object: &Value, name: Value, age: Value) -> Vec<Value> {
    let (spec, status) = (&object["spec"], &object["status"]);
    let claim = &spec["claimRef"];
    let claim = if claim.is_object() {
        format!(
            "{}/{}",
            text_or(&claim["namespace"], ""),
            text_or(&claim["name"], "")
        )
    } else {
        String::new()
    };
    vec![
        name,
        json!(text_or(&spec["capacity"]["storage"], "0")),
        json!(access_modes(&spec["accessModes"])),
        text(&spec["persistentVolumeReclaimPolicy"]),
        phase(object),
        json!(claim),
        json!(class_name(object)),
        json!(spec["volumeAttributesClassName"].as_str().unwrap_or(UNSET)),
        text(&status["reason"]),
        age,
        json!(spec["volumeMode"].as_str().unwrap_or(UNSET)),
    ]
}

pub(super) fn claim(object: &Value, name: Value, age: Value) -> Vec<Value> {
    let (spec, status) = (&object["spec"], &object["status"]);
    let volume = text_or(&spec["volumeName"], "");
    let (capacity, modes) = if volume.is_empty() {
        (String::new(), String::new())
    } else {
        let capacity = text_or(&status["capacity"]["storage"], "0");
        (capacity, access_modes(&status["accessModes"]))
    };
    vec![
        name,
        phase(object),
        json!(volume),
        json!(capacity),
        json!(modes),
        json!(class_name(object)),
        json!(spec["volumeAttributesClassName"].as_str().unwrap_or(UNSET)),
        age,
        json!(spec["volumeMode"].as_str().unwrap_or(UNSET)),
    ]
}

fn phase(object: &Value) -> Value {
    if object["metadata"]["deletionTimestamp"].is_string() {
        json!("Terminating")
    } else {
        text(&object["status"]["phase"])
    }
}

/// The class, which was an annotation once.
fn class_name(object: &Value) -> String {
    let annotation = &object["metadata"]["annotations"]["volume.beta.kubernetes.io/storage-class"];
    match annotation.as_str() {
        Some(class) => class.to_owned(),
        None => text_or(&object["spec"]["storageClassName"], ""),
    }
}

fn access_modes(modes: &Value) -> String {
    let short = [
        ("ReadWriteOnce", "RWO"),
        ("ReadOnlyMany", "ROX"),
        ("ReadWriteMany", "RWX"),
        ("ReadWriteOncePod", "RWOP"),
    ];
    let modes = list(modes);
    let found = short
        .iter()
        .filter(|(long, _)| modes.iter().any(|mode| mode == long));
    found.map(|(_, short)| *short).collect::<Vec<_>>().join(",")
}

pub(super) fn class(object: &Value, age: Value) -> Vec<Value> {
    let metadata = &object["metadata"];
    let mut name = text_or(&metadata["name"], "");
    let is_default = [
        "storageclass.kubernetes.io/is-default-class",
        "storageclass.beta.kubernetes.io/is-default-class",
    ]
    .iter()
    .any(|annotation| metadata["annotations"][annotation] == "true");
    if is_default {
        name += " (default)";
    }
    vec![
        json!(name),
        text(&object["provisioner"]),
        json!(text_or(&object["reclaimPolicy"], "Delete")),
        json!(text_or(&object["volumeBindingMode"], "Immediate")),
        json!(object["allowVolumeExpansion"].as_bool().unwrap_or(false)),
        age,
    ]
}

pub(super) fn driver(object: &Value, name: Value, age: Value) -> Vec<Value> {
    let spec = &object["spec"];
    let flag = |field: &str, default: bool| json!(spec[field].as_bool().unwrap_or(default));
    let audiences: Vec<String> = list(&spec["tokenRequests"])
        .iter()
        .map(|request| text_or(&request["audience"], ""))
        .collect();
    let audiences = if spec["tokenRequests"].is_array() {
        audiences.join(",")
    } else {
        UNSET.to_owned()
    };
    let modes = match join(&spec["volumeLifecycleModes"], ",") {
        modes if modes.is_empty() => "<none>".to_owned(),
        modes => modes,
    };
    vec![
        name,
        flag("attachRequired", true),
        flag("podInfoOnMount", false),
        flag("storageCapacity", false),
        json!(audiences),
        flag("requiresRepublish", false),
        json!(modes),
        age,
    ]
}

pub(super) fn attachment(object: &Value, name: Value, age: Value) -> Vec<Value> {
    let spec = &object["spec"];
    vec![
        name,
        text(&spec["attacher"]),
        text(&spec["source"]["persistentVolumeName"]),
        text(&spec["nodeName"]),
        json!(object["status"]["attached"].as_bool().unwrap_or(false)),
        age,
    ]
}
