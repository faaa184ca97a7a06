//! Config maps, secrets, events, quotas and device claims.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::cells::{len, list, number, since, text, text_or};

pub(super) fn config_map(object: &Value, name: Value, age: Value) -> Vec<Value> {
    let entries = len(&object["data"]) + len(&object["binaryData"]);
    vec![name, json!(entries), age]
}

pub(super) fn secret(object: &Value, name: Value, age: Value) -> Vec<Value> {
    vec![
        name,
        text(&object["type"]),
        json!(len(&object["data"])),
        age,
    ]
}

pub(super) fn component_status(object: &Value, name: Value) -> Vec<Value> {
    let conditions = list(&object["conditions"]);
    let healthy = conditions
        .iter()
        .find(|condition| condition["type"] == "Healthy");
    match healthy {
        Some(condition) => {
            let status = if condition["status"] == "True" {
                "Healthy"
            } else {
                "Unhealthy"
            };
            vec![
                name,
                json!(status),
                text(&condition["message"]),
                text(&condition["error"]),
            ]
        }
        None => vec![name, json!("Unknown"), json!(""), json!("")],
    }
}

/// Events of both groups: the same facts under other names.
pub(super) fn event(object: &Value, now: Timestamp) -> Vec<Value> {
    let either = |core: &str, modern: &str| match &object[core] {
        Value::Null => object[modern].clone(),
        value => value.clone(),
    };
    let mut first = either("firstTimestamp", "deprecatedFirstTimestamp");
    if first.is_null() {
        first = object["eventTime"].clone();
    }
    let first = since(&first, now);
    let mut last = match either("lastTimestamp", "deprecatedLastTimestamp") {
        Value::Null => first.clone(),
        time => since(&time, now),
    };
    let mut count = number(&either("count", "deprecatedCount"));
    let series = &object["series"];
    if series.is_object() {
        last = since(&series["lastObservedTime"], now);
        count = number(&series["count"]);
    } else if count == 0 {
        count = 1;
    }
    let regarding = either("involvedObject", "regarding");
    let kind = text_or(&regarding["kind"], "").to_lowercase();
    let target = match text_or(&regarding["name"], "") {
        name if name.is_empty() => kind,
        name => format!("{kind}/{name}"),
    };
    let source = either("source", "deprecatedSource");
    let controller = text_or(&either("reportingComponent", "reportingController"), "");
    let component = text_or(&source["component"], &controller);
    let host = text_or(&source["host"], &text_or(&object["reportingInstance"], ""));
    let source = if host.is_empty() {
        component
    } else {
        format!("{component}, {host}")
    };
    let message = text_or(&either("message", "note"), "");
    vec![
        last,
        text(&object["type"]),
        text(&object["reason"]),
        json!(target),
        text(&regarding["fieldPath"]),
        json!(source),
        json!(message.trim()),
        first,
        json!(count),
        text(&object["metadata"]["name"]),
    ]
}

pub(super) fn resource_quota(object: &Value, name: Value, age: Value) -> Vec<Value> {
    let status = &object["status"];
    let (mut requests, mut limits) = (Vec::new(), Vec::new());
    for (resource, hard) in status["hard"].as_object().into_iter().flatten() {
        let used = text_or(&status["used"][resource], "0");
        let shown = format!("{resource}: {used}/{}", text_or(hard, "0"));
        if resource.starts_with("limits.") {
            limits.push(shown);
        } else {
            requests.push(shown);
        }
    }
    vec![
        name,
        json!(requests.join(", ")),
        json!(limits.join(", ")),
        age,
    ]
}

pub(super) fn resource_claim(object: &Value, name: Value, age: Value) -> Vec<Value> {
    let deleted = object["metadata"]["deletionTimestamp"].is_string();
    let mut states = Vec::new();
    if deleted {
        states.push("deleted");
    }
    if object["status"]["allocation"].is_object() {
        states.push("allocated");
        if len(&object["status"]["reservedFor"]) > 0 {
            states.push("reserved");
        }
    } else if !deleted {
        states.push("pending");
    }
    vec![name, json!(states.join(",")), age]
}

pub(super) fn resource_slice(object: &Value, name: Value, age: Value) -> Vec<Value> {
    let spec = &object["spec"];
    vec![
        name,
        text(&spec["nodeName"]),
        text(&spec["driver"]),
        text(&spec["pool"]["name"]),
        age,
    ]
}
