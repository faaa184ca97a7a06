//! Metrics of an autoscaler as version 1 writes them into an annotation: flat, and in Go's field order.

use serde_json::{Map, Value, json};

/// Whether metrics are wanted or measured.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Target,
    Current,
}

impl Part {
    fn field(self) -> &'static str {
        match self {
            Self::Target => "target",
            Self::Current => "current",
        }
    }
}

/// `[{"type":…,"resource":{…}},…]`.
pub(super) fn to_v1(metrics: &[Value], part: Part) -> String {
    let texts: Vec<String> = metrics
        .iter()
        .map(|metric| one_to_v1(metric, part))
        .collect();
    format!("[{}]", texts.join(","))
}

fn one_to_v1(metric: &Value, part: Part) -> String {
    let prefix = part.field();
    let named = |suffix: &str| format!("{prefix}{suffix}");
    let (source, flat, order): (&str, Value, Vec<String>) = match metric["type"].as_str() {
        Some("Resource" | "ContainerResource") => {
            let source = if metric["type"] == "Resource" {
                "resource"
            } else {
                "containerResource"
            };
            let body = &metric[source];
            let amounts = &body[prefix];
            let flat = json!({
                "name": body["name"],
                named("AverageUtilization"): amounts["averageUtilization"],
                named("AverageValue"): amounts["averageValue"],
                "container": body["container"],
            });
            let order = vec![
                "name".into(),
                named("AverageUtilization"),
                named("AverageValue"),
                "container".into(),
            ];
            (source, flat, order)
        }
        Some("Pods") => {
            let body = &metric["pods"];
            let flat = json!({
                "metricName": body["metric"]["name"],
                named("AverageValue"): body[prefix]["averageValue"],
                "selector": body["metric"]["selector"],
            });
            (
                "pods",
                flat,
                vec![
                    "metricName".into(),
                    named("AverageValue"),
                    "selector".into(),
                ],
            )
        }
        Some("Object") => {
            let body = &metric["object"];
            let value = match &body[prefix]["value"] {
                Value::Null => json!("0"),
                value => value.clone(),
            };
            let flat = json!({
                "target": body["describedObject"],
                "metricName": body["metric"]["name"],
                named("Value"): value,
                "selector": body["metric"]["selector"],
                "averageValue": body[prefix]["averageValue"],
            });
            let order = [
                "target",
                "metricName",
                &named("Value"),
                "selector",
                "averageValue",
            ];
            ("object", flat, order.map(String::from).into())
        }
        _ => {
            let body = &metric["external"];
            let flat = json!({
                "metricName": body["metric"]["name"],
                "metricSelector": body["metric"]["selector"],
                named("Value"): body[prefix]["value"],
                named("AverageValue"): body[prefix]["averageValue"],
            });
            let order = [
                "metricName",
                "metricSelector",
                &named("Value"),
                &named("AverageValue"),
            ];
            ("external", flat, order.map(String::from).into())
        }
    };
    let order: Vec<&str> = order.iter().map(String::as_str).collect();
    let mut flat = flat;
    if source == "object" {
        flat["target"] = json!({"kind": flat["target"]["kind"], "name": flat["target"]["name"], "apiVersion": flat["target"]["apiVersion"]});
        let target = ordered(&flat["target"], &["kind", "name", "apiVersion"]);
        let rest = ordered(&flat, &order[1..]);
        return format!(
            "{{\"type\":{},\"object\":{{\"target\":{target},{}}}",
            metric["type"],
            &rest[1..]
        );
    }
    format!(
        "{{\"type\":{},\"{source}\":{}}}",
        metric["type"],
        ordered(&flat, &order)
    )
}

/// The fields in the given order, without those that are null or missing.
pub(super) fn ordered(value: &Value, order: &[&str]) -> String {
    let fields: Vec<String> = order
        .iter()
        .filter(|field| !value[**field].is_null())
        .map(|field| format!("\"{field}\":{}", value[*field]))
        .collect();
    format!("{{{}}}", fields.join(","))
}

/// The metrics of an annotation in the shape of version 2.
pub(super) fn from_v1(list: Option<&Value>, part: Part) -> Vec<Value> {
    let list = list.and_then(Value::as_array).into_iter().flatten();
    list.map(|metric| one_from_v1(metric, part)).collect()
}

fn one_from_v1(metric: &Value, part: Part) -> Value {
    let prefix = part.field();
    let mut body = Map::new();
    let mut amounts = Map::new();
    let source = match metric["type"].as_str() {
        Some("Resource") => "resource",
        Some("ContainerResource") => "containerResource",
        Some("Pods") => "pods",
        Some("Object") => "object",
        _ => "external",
    };
    let flat = &metric[source];
    let copy = |target: &mut Map<String, Value>, from: &str, to: &str| {
        if !flat[from].is_null() {
            target.insert(to.to_owned(), flat[from].clone());
        }
    };
    copy(
        &mut amounts,
        &format!("{prefix}AverageUtilization"),
        "averageUtilization",
    );
    copy(
        &mut amounts,
        &format!("{prefix}AverageValue"),
        "averageValue",
    );
    copy(&mut amounts, "averageValue", "averageValue");
    copy(&mut amounts, &format!("{prefix}Value"), "value");
    if source.ends_with("esource") {
        copy(&mut body, "name", "name");
        copy(&mut body, "container", "container");
    } else {
        let mut name = Map::new();
        copy(&mut name, "metricName", "name");
        copy(&mut name, "selector", "selector");
        copy(&mut name, "metricSelector", "selector");
        body.insert("metric".into(), name.into());
    }
    if source == "object" {
        copy(&mut body, "target", "describedObject");
        // Version 1 must write a value even where an average is meant.
        if amounts.contains_key("averageValue") {
            amounts.remove("value");
        }
    }
    if part == Part::Target {
        let ty = if amounts.contains_key("averageUtilization") {
            "Utilization"
        } else if amounts.contains_key("value") {
            "Value"
        } else {
            "AverageValue"
        };
        amounts.insert("type".into(), json!(ty));
    }
    body.insert(prefix.to_owned(), amounts.into());
    json!({"type": metric["type"], source: body})
}
