//! Nodes.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::cells::{NONE, list, text, text_or};

const UNKNOWN: &str = "<unknown>";

pub(super) fn row(node: &Value, name: Value, age: Value) -> Vec<Value> {
    let info = &node["status"]["nodeInfo"];
    let mut kernel = text_or(&info["kernelVersion"], UNKNOWN);
    let architecture = text_or(&info["architecture"], "");
    if !architecture.is_empty() {
        kernel = format!("{kernel} ({architecture})");
    }
    vec![
        name,
        json!(status(node)),
        json!(roles(node)),
        age,
        text(&info["kubeletVersion"]),
        json!(address(node, "InternalIP")),
        json!(address(node, "ExternalIP")),
        json!(text_or(&info["osImage"], UNKNOWN)),
        json!(kernel),
        json!(text_or(&info["containerRuntimeVersion"], UNKNOWN)),
    ]
}

fn status(node: &Value) -> String {
    let conditions = list(&node["status"]["conditions"]);
    let ready = conditions
        .iter()
        .rfind(|condition| condition["type"] == "Ready");
    let mut status = match ready {
        Some(condition) if condition["status"] == "True" => "Ready",
        Some(_) => "NotReady",
        None => "Unknown",
    }
    .to_owned();
    if node["spec"]["unschedulable"] == json!(true) {
        status += ",SchedulingDisabled";
    }
    status
}

fn roles(node: &Value) -> String {
    let mut roles = BTreeSet::new();
    for (key, value) in node["metadata"]["labels"].as_object().into_iter().flatten() {
        let value = value.as_str().unwrap_or_default();
        match key.strip_prefix("node-role.kubernetes.io/") {
            Some("") => {}
            Some(role) => {
                roles.insert(role);
            }
            None if key == "kubernetes.io/role" && !value.is_empty() => {
                roles.insert(value);
            }
            None => {}
        }
    }
    if roles.is_empty() {
        NONE.to_owned()
    } else {
        roles.into_iter().collect::<Vec<_>>().join(",")
    }
}

fn address(node: &Value, ty: &str) -> String {
    let addresses = list(&node["status"]["addresses"]);
    let found = addresses.iter().find(|address| address["type"] == ty);
    found.map_or(NONE.to_owned(), |address| text_or(&address["address"], ""))
}
