//! Cells that many kinds share.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::table::human;

/// What stands for a value that is not there.
pub(super) const NONE: &str = "<none>";

/// The object's name.
pub(super) fn name(object: &Value) -> Value {
    text(&object["metadata"]["name"])
}

/// How long ago the object was created.
pub(super) fn age(object: &Value, now: Timestamp) -> Value {
    since(&object["metadata"]["creationTimestamp"], now)
}

/// How long ago a time was.
pub(super) fn since(time: &Value, now: Timestamp) -> Value {
    json!(human::since(time.as_str(), now))
}

/// A text, empty if there is none.
pub(super) fn text(value: &Value) -> Value {
    json!(value.as_str().unwrap_or_default())
}

/// A text, or what stands for it if it is missing or empty.
pub(super) fn text_or(value: &Value, instead: &str) -> String {
    match value.as_str() {
        None | Some("") => instead.to_owned(),
        Some(text) => text.to_owned(),
    }
}

/// A number, zero if there is none.
pub(super) fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or_default()
}

/// How many entries a list or map has.
pub(super) fn count(value: &Value) -> Value {
    json!(len(value))
}

/// How many entries a list or map has.
pub(super) fn len(value: &Value) -> usize {
    match value {
        Value::Array(entries) => entries.len(),
        Value::Object(entries) => entries.len(),
        _ => 0,
    }
}

/// The entries of a list.
pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The texts of a list, joined.
pub(super) fn join(value: &Value, separator: &str) -> String {
    let texts: Vec<&str> = list(value).iter().filter_map(Value::as_str).collect();
    texts.join(separator)
}

/// Names and images of containers.
pub(super) fn containers(pod_spec: &Value) -> (Value, Value) {
    let column = |field: &str| {
        let texts: Vec<&str> = list(&pod_spec["containers"])
            .iter()
            .map(|container| container[field].as_str().unwrap_or_default())
            .collect();
        json!(texts.join(","))
    };
    (column("name"), column("image"))
}

/// Labels as `a=b,c=d`.
pub(super) fn labels(labels: &Value) -> String {
    let pairs: Vec<String> = labels
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()))
        .collect();
    if pairs.is_empty() {
        NONE.to_owned()
    } else {
        pairs.join(",")
    }
}

/// A label selector as people write it.
pub(super) fn selector(selector: &Value) -> String {
    let requirements = requirements(selector);
    if requirements.is_empty() {
        NONE.to_owned()
    } else {
        requirements
    }
}

/// The requirements of a label selector, joined; empty if it selects all.
pub(super) fn requirements(selector: &Value) -> String {
    let mut parts: Vec<(String, String)> = Vec::new();
    for (key, value) in selector["matchLabels"].as_object().into_iter().flatten() {
        let value = value.as_str().unwrap_or_default();
        parts.push((key.clone(), format!("{key}={value}")));
    }
    for expression in list(&selector["matchExpressions"]) {
        let key = expression["key"].as_str().unwrap_or_default();
        let mut values: Vec<&str> = list(&expression["values"])
            .iter()
            .filter_map(Value::as_str)
            .collect();
        values.sort_unstable();
        let values = values.join(",");
        let part = match expression["operator"].as_str() {
            Some("In") => format!("{key} in ({values})"),
            Some("NotIn") => format!("{key} notin ({values})"),
            Some("Exists") => key.to_owned(),
            _ => format!("!{key}"),
        };
        parts.push((key.to_owned(), part));
    }
    parts.sort_by(|one, other| one.0.cmp(&other.0));
    let parts: Vec<String> = parts.into_iter().map(|(_, part)| part).collect();
    parts.join(",")
}

/// At most `max` entries, then how many more there are.
pub(super) fn some_of(entries: &[String], max: usize, separator: &str) -> String {
    let shown = entries[..entries.len().min(max)].join(separator);
    if entries.len() > max {
        format!("{shown} + {} more...", entries.len() - max)
    } else {
        shown
    }
}
