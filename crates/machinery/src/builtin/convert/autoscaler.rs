//! Horizontal pod autoscalers: version 1 knows only the processor; the rest travels in annotations.

use serde_json::{Map, Value, json};

use super::metrics::{self, Part};
use crate::builtin::fields::{object, object_or_new};

type Object = Map<String, Value>;

const METRICS: &str = "autoscaling.alpha.kubernetes.io/metrics";
const BEHAVIOR: &str = "autoscaling.alpha.kubernetes.io/behavior";
const CURRENT: &str = "autoscaling.alpha.kubernetes.io/current-metrics";
const CONDITIONS: &str = "autoscaling.alpha.kubernetes.io/conditions";

/// From version 1 to version 2.
pub(super) fn from_v1(autoscaler: &mut Object) {
    let metadata = object_or_new(autoscaler, "metadata");
    let mut notes = object(metadata, "annotations")
        .map(std::mem::take)
        .unwrap_or_default();
    let read = |notes: &mut Object, key: &str| -> Option<Value> {
        let text = notes.remove(key)?;
        serde_json::from_str(text.as_str()?).ok()
    };
    let (specified, behavior) = (read(&mut notes, METRICS), read(&mut notes, BEHAVIOR));
    let (current, conditions) = (read(&mut notes, CURRENT), read(&mut notes, CONDITIONS));
    if notes.is_empty() {
        metadata.remove("annotations");
    } else {
        metadata.insert("annotations".into(), notes.into());
    }

    let spec = object_or_new(autoscaler, "spec");
    let mut list = metrics::from_v1(specified.as_ref(), Part::Target);
    if let Some(percent) = spec.remove("targetCPUUtilizationPercentage") {
        let target = json!({"type": "Utilization", "averageUtilization": percent});
        list.push(json!({"type": "Resource", "resource": {"name": "cpu", "target": target}}));
    }
    if !list.is_empty() {
        spec.insert("metrics".into(), list.into());
    }
    if let Some(behavior) = behavior {
        spec.insert("behavior".into(), uncapitalised(&behavior));
    }

    let status = object_or_new(autoscaler, "status");
    let percent = status.remove("currentCPUUtilizationPercentage");
    let list = metrics::from_v1(current.as_ref(), Part::Current);
    if !list.is_empty() {
        status.insert("currentMetrics".into(), list.into());
    } else if let Some(percent) = percent {
        let current = json!({"averageUtilization": percent});
        let metric = json!({"type": "Resource", "resource": {"name": "cpu", "current": current}});
        status.insert("currentMetrics".into(), json!([metric]));
    }
    if let Some(conditions) = conditions {
        status.insert("conditions".into(), conditions);
    }
}

/// From version 2 to version 1.
pub(super) fn to_v1(autoscaler: &mut Object) {
    let mut notes = Vec::new();
    let spec = object_or_new(autoscaler, "spec");
    if let Some(Value::Array(list)) = spec.remove("metrics") {
        let (processor, others): (Vec<Value>, Vec<Value>) = list
            .into_iter()
            .partition(|metric| is_processor(metric, "target"));
        if let Some(first) = processor.first() {
            let percent = first["resource"]["target"]["averageUtilization"].clone();
            spec.insert("targetCPUUtilizationPercentage".into(), percent);
        }
        if !others.is_empty() {
            notes.push((METRICS, metrics::to_v1(&others, Part::Target)));
        }
    }
    if let Some(behavior) = spec.remove("behavior") {
        notes.push((BEHAVIOR, behavior_text(&behavior)));
    }
    let status = object_or_new(autoscaler, "status");
    if let Some(Value::Array(list)) = status.remove("currentMetrics") {
        if let Some(metric) = list.iter().find(|metric| is_processor(metric, "current")) {
            let percent = metric["resource"]["current"]["averageUtilization"].clone();
            status.insert("currentCPUUtilizationPercentage".into(), percent);
        }
        if !list.is_empty() {
            notes.push((CURRENT, metrics::to_v1(&list, Part::Current)));
        }
    }
    if let Some(Value::Array(conditions)) = status.remove("conditions")
        && !conditions.is_empty()
    {
        notes.push((CONDITIONS, conditions_text(&conditions)));
    }
    if !notes.is_empty() {
        let annotations = object_or_new(object_or_new(autoscaler, "metadata"), "annotations");
        for (key, text) in notes {
            annotations.insert(key.to_owned(), text.into());
        }
    }
}

fn is_processor(metric: &Value, part: &str) -> bool {
    metric["type"] == "Resource"
        && metric["resource"]["name"] == "cpu"
        && metric["resource"][part]["averageUtilization"].is_number()
}

/// The behaviour is written with Go's own field names.
fn behavior_text(behavior: &Value) -> String {
    let side = |name: &str| {
        let rules = &behavior[name];
        if !rules.is_object() {
            return "null".to_owned();
        }
        let policies = rules["policies"]
            .as_array()
            .map_or("null".to_owned(), |list| {
                let policy = |policy: &Value| {
                    format!(
                        "{{\"Type\":{},\"Value\":{},\"PeriodSeconds\":{}}}",
                        policy["type"], policy["value"], policy["periodSeconds"]
                    )
                };
                format!(
                    "[{}]",
                    list.iter().map(policy).collect::<Vec<_>>().join(",")
                )
            });
        format!(
            "{{\"StabilizationWindowSeconds\":{},\"SelectPolicy\":{},\"Policies\":{policies},\"Tolerance\":{}}}",
            rules["stabilizationWindowSeconds"], rules["selectPolicy"], rules["tolerance"]
        )
    };
    format!(
        "{{\"ScaleUp\":{},\"ScaleDown\":{}}}",
        side("scaleUp"),
        side("scaleDown")
    )
}

fn conditions_text(conditions: &[Value]) -> String {
    let keys = ["type", "status", "lastTransitionTime", "reason", "message"];
    let texts: Vec<String> = conditions
        .iter()
        .map(|one| metrics::ordered(one, &keys))
        .collect();
    format!("[{}]", texts.join(","))
}

/// Field names with a small first letter, nulls left out.
fn uncapitalised(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let renamed =
                fields
                    .iter()
                    .filter(|(_, value)| !value.is_null())
                    .map(|(name, value)| {
                        let mut letters = name.chars();
                        let first = letters.next().map(|c| c.to_ascii_lowercase());
                        let name: String = first.into_iter().chain(letters).collect();
                        (name, uncapitalised(value))
                    });
            Value::Object(renamed.collect())
        }
        Value::Array(entries) => entries.iter().map(uncapitalised).collect(),
        other => other.clone(),
    }
}
