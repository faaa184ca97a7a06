//! Horizontal pod autoscalers, in either version.

use serde_json::{Value, json};

use crate::builtin::convert::as_version_two;

use super::cells::{NONE, list, number, some_of, text_or};

const UNKNOWN: &str = "<unknown>";

pub(super) fn row(object: &Value, name: Value, age: Value) -> Vec<Value> {
    let mut converted = object.clone();
    if object["apiVersion"] == "autoscaling/v1" {
        as_version_two(&mut converted);
    }
    let object = &converted;
    let (spec, status) = (&object["spec"], &object["status"]);
    let target = &spec["scaleTargetRef"];
    let reference = format!(
        "{}/{}",
        text_or(&target["kind"], ""),
        text_or(&target["name"], "")
    );
    let minimum = spec["minReplicas"].as_i64();
    vec![
        name,
        json!(reference),
        json!(targets(spec, status)),
        json!(minimum.map_or("<unset>".to_owned(), |number| number.to_string())),
        json!(number(&spec["maxReplicas"])),
        json!(number(&status["currentReplicas"])),
        age,
    ]
}

fn targets(spec: &Value, status: &Value) -> String {
    let metrics = list(&spec["metrics"]);
    let current = list(&status["currentMetrics"]);
    if metrics.is_empty() {
        return NONE.to_owned();
    }
    let texts: Vec<String> = metrics
        .iter()
        .enumerate()
        .map(|(at, metric)| one(metric, current.get(at).unwrap_or(&Value::Null)))
        .collect();
    some_of(&texts, 2, ", ")
}

fn one(metric: &Value, current: &Value) -> String {
    let source = match metric["type"].as_str() {
        Some("External") => "external",
        Some("Pods") => "pods",
        Some("Object") => "object",
        Some("Resource") => "resource",
        Some("ContainerResource") => "containerResource",
        _ => return "<unknown type>".to_owned(),
    };
    let target = &metric[source]["target"];
    let measured = &current[source]["current"];
    let amount = |field: &str| {
        let shown = text_or(
            &measured[field],
            if measured.is_object() { "0" } else { UNKNOWN },
        );
        format!("{shown}/{}", text_or(&target[field], "0"))
    };
    let average = target["averageValue"].is_string();
    match source {
        "pods" => amount("averageValue"),
        "external" | "object" if average => {
            let shown = text_or(&measured["averageValue"], UNKNOWN);
            format!("{shown}/{} (avg)", text_or(&target["averageValue"], ""))
        }
        "external" | "object" => amount("value"),
        _ => {
            let name = text_or(&metric[source]["name"], "");
            if average {
                return format!("{name}: {}", amount("averageValue"));
            }
            let percent = |value: &Value, instead: &str| {
                let number = value.as_i64();
                number.map_or(instead.to_owned(), |number| format!("{number}%"))
            };
            let current = percent(&measured["averageUtilization"], UNKNOWN);
            let wanted = percent(&target["averageUtilization"], "<auto>");
            format!("{name}: {current}/{wanted}")
        }
    }
}
