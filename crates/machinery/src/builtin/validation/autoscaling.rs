//! Horizontal pod autoscalers.

use serde_json::{Value, json};

use super::report::{Report, amount, list, text};
use crate::builtin::convert::as_version_two;

const KINDS: [&str; 5] = [
    "ContainerResource",
    "External",
    "Object",
    "Pods",
    "Resource",
];

pub(super) fn autoscaler(report: &mut Report, object: &Value) {
    let mut converted = object.clone();
    if object["apiVersion"] == "autoscaling/v1" {
        as_version_two(&mut converted);
    }
    let spec = &converted["spec"];
    let minimum = spec["minReplicas"].as_i64();
    if minimum.is_some_and(|minimum| minimum < 1) {
        let why = "must be greater than or equal to 1";
        report.invalid("spec.minReplicas", &spec["minReplicas"], why);
    }
    let maximum = spec["maxReplicas"].as_i64().unwrap_or_default();
    if maximum < 1 {
        report.required_because("spec.maxReplicas", "must be set and greater than 0");
    }
    if minimum.is_some_and(|minimum| maximum < minimum) {
        let why = "must be greater than or equal to `minReplicas`";
        report.invalid("spec.maxReplicas", &json!(maximum), why);
    }
    target(report, &spec["scaleTargetRef"]);
    metrics(report, &spec["metrics"], minimum);
    for side in ["scaleUp", "scaleDown"] {
        if spec["behavior"][side].is_object() {
            rules(
                report,
                &spec["behavior"][side],
                &format!("spec.behavior.{side}"),
            );
        }
    }
}

fn target(report: &mut Report, target: &Value) {
    for field in ["kind", "name"] {
        if text(&target[field]).is_empty() {
            report.required(format!("spec.scaleTargetRef.{field}"));
        }
    }
    let version = text(&target["apiVersion"]);
    let kind = text(&target["kind"]);
    if version.matches('/').count() > 1 {
        let why = format!("unexpected GroupVersion string: {version}");
        report.invalid("spec.scaleTargetRef.apiVersion", &json!(version), &why);
    } else if !version.contains('/') && kind != "ReplicationController" {
        let why = "apiVersion must specify API group";
        report.invalid("spec.scaleTargetRef.apiVersion", &json!(version), why);
    }
}

fn metrics(report: &mut Report, metrics: &Value, minimum: Option<i64>) {
    let mut scales_to_zero = false;
    for (index, metric) in list(metrics).iter().enumerate() {
        let path = format!("spec.metrics[{index}]");
        let kind = text(&metric["type"]);
        scales_to_zero |= matches!(kind, "Object" | "External");
        let field = match kind {
            "" => {
                report
                    .required_because(format!("{path}.type"), "must specify a metric source type");
                continue;
            }
            "ContainerResource" => "containerResource",
            "External" => "external",
            "Object" => "object",
            "Pods" => "pods",
            "Resource" => "resource",
            _ => {
                // Asked twice: as a type, and as a source.
                report.one_of(format!("{path}.type"), &metric["type"], &KINDS);
                report.one_of(format!("{path}.type"), &metric["type"], &KINDS);
                continue;
            }
        };
        let source = &metric[field];
        if !source.is_object() {
            let why = "must populate information for the given metric source";
            report.required_because(format!("{path}.{field}"), why);
            continue;
        }
        match field {
            "resource" | "containerResource" if text(&source["name"]).is_empty() => {
                let at = format!("{path}.{field}.name");
                report.required_because(at, "must specify a resource name");
            }
            "pods" | "object" | "external" if text(&source["metric"]["name"]).is_empty() => {
                let at = format!("{path}.{field}.metric.name");
                report.required_because(at, "must specify a metric name");
            }
            _ => {}
        }
        metric_target(
            report,
            field,
            &source["target"],
            &format!("{path}.{field}.target"),
        );
    }
    if minimum == Some(0) && !scales_to_zero {
        let why = "must specify at least one Object or External metric to support scaling to zero replicas";
        report.forbidden("spec.metrics", why);
    }
}

fn metric_target(report: &mut Report, source: &str, target: &Value, path: &str) {
    let kind = text(&target["type"]);
    if kind.is_empty() {
        report.required_because(format!("{path}.type"), "must specify a metric target type");
    } else if !matches!(kind, "Utilization" | "Value" | "AverageValue") {
        let why = "must be either Utilization, Value, or AverageValue";
        report.invalid(format!("{path}.type"), &target["type"], why);
    }
    let percent = &target["averageUtilization"];
    if percent.as_i64().is_some_and(|percent| percent < 1) {
        report.invalid(
            format!("{path}.averageUtilization"),
            percent,
            "must be greater than 0",
        );
    }
    for field in ["value", "averageValue"] {
        if target[field].is_string() && amount(&target[field]) <= 0 {
            report.invalid(
                format!("{path}.{field}"),
                &target[field],
                "must be positive",
            );
        }
    }
    let average = target["averageValue"].is_string();
    match source {
        "resource" | "containerResource" if percent.is_null() && !average => {
            let why = "must set either a target raw value or a target utilization";
            report.required_because(format!("{path}.averageUtilization"), why);
        }
        "resource" | "containerResource" if percent.is_number() && average => {
            let why = "may not set both a target raw value and a target utilization";
            report.forbidden(format!("{path}.averageValue"), why);
        }
        "pods" if !average => {
            let why = "must specify a positive target averageValue";
            report.required_because(format!("{path}.averageValue"), why);
        }
        "object" | "external" if !average && !target["value"].is_string() => {
            let why = "must set either a target value for metric or a per-pod target";
            report.required_because(format!("{path}.averageValue"), why);
        }
        _ => {}
    }
}

fn rules(report: &mut Report, rules: &Value, path: &str) {
    let window = &rules["stabilizationWindowSeconds"];
    let at = format!("{path}.stabilizationWindowSeconds");
    if window.as_i64().is_some_and(|seconds| seconds < 0) {
        report.invalid(at, window, "must be greater than or equal to zero");
    } else if window.as_i64().is_some_and(|seconds| seconds > 3600) {
        report.invalid(at, window, "must be less than or equal to 3600");
    }
    report.one_of_if_set(
        format!("{path}.selectPolicy"),
        &rules["selectPolicy"],
        &["Disabled", "Max", "Min"],
    );
    let policies = list(&rules["policies"]);
    if policies.is_empty() {
        report.required_because(
            format!("{path}.policies"),
            "must specify at least one Policy",
        );
    }
    for (index, policy) in policies.iter().enumerate() {
        let path = format!("{path}.policies[{index}]");
        report.one_of(
            format!("{path}.type"),
            &policy["type"],
            &["Percent", "Pods"],
        );
        let positive = |report: &mut Report, field: &str| {
            let number = policy[field].as_i64().unwrap_or_default();
            if number <= 0 {
                let why = "must be greater than zero";
                report.invalid(format!("{path}.{field}"), &json!(number), why);
            }
            number
        };
        positive(report, "value");
        if positive(report, "periodSeconds") > 1800 {
            let why = "must be less than or equal to 1800";
            report.invalid(
                format!("{path}.periodSeconds"),
                &policy["periodSeconds"],
                why,
            );
        }
    }
}
