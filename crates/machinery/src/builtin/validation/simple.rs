//! Kinds with few rules: namespaces, nodes, leases, events, classes, disruption budgets.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{
    pod::effects,
    report::{Report, list, text},
    selector,
};
use crate::{field_error::Kind, names};

pub(super) fn namespace(report: &mut Report, spec: &Value) {
    for finalizer in list(&spec["finalizers"]) {
        let name = text(finalizer);
        report.names("spec.finalizers", name, names::qualified_name(name));
        if !name.contains('/') && name != "kubernetes" {
            let why = "name is neither a standard finalizer name nor is it fully qualified";
            report.invalid("spec.finalizers", finalizer, why);
        }
    }
}

pub(super) fn node(report: &mut Report, spec: &Value) {
    let mut seen = BTreeSet::new();
    for (index, taint) in list(&spec["taints"]).iter().enumerate() {
        let path = format!("metadata.taints[{index}]");
        let (key, value) = (text(&taint["key"]), text(&taint["value"]));
        report.names(&format!("{path}.key"), key, names::qualified_name(key));
        if !value.is_empty() {
            report.names(&format!("{path}.value"), value, names::label_value(value));
        }
        let effect = format!("{path}.effect");
        if text(&taint["effect"]).is_empty() {
            report.required(effect);
        } else {
            effects(report, &taint["effect"], &effect);
        }
        let effect = text(&taint["effect"]);
        if !seen.insert((effect, key)) {
            let shown = format!(
                "{{\"Key\":{key:?},\"Value\":{value:?},\"Effect\":{effect:?},\"TimeAdded\":null}}"
            );
            let why = "taints must be unique by key and effect pair";
            report.shown(Kind::Duplicate, path, &shown, why);
        }
    }
    for (index, range) in list(&spec["podCIDRs"]).iter().enumerate() {
        report.cidr(format!("spec.podCIDRs[{index}]"), range);
    }
}

pub(super) fn lease(report: &mut Report, spec: &Value) {
    let seconds = &spec["leaseDurationSeconds"];
    if seconds.as_i64().is_some_and(|seconds| seconds <= 0) {
        report.invalid(
            "spec.leaseDurationSeconds",
            seconds,
            "must be greater than 0",
        );
    }
    report.not_negative("spec.leaseTransitions", &spec["leaseTransitions"]);
}

/// Events of both groups; errors name the fields of the core group.
pub(super) fn event(report: &mut Report, event: &Value) {
    let modern = event["apiVersion"] == "events.k8s.io/v1";
    let subject = if modern {
        "regarding"
    } else {
        "involvedObject"
    };
    let namespace = text(&event[subject]["namespace"]);
    let own = text(&event["metadata"]["namespace"]);
    let cluster_wide = namespace.is_empty() && matches!(own, "default" | "kube-system");
    if namespace != own && !cluster_wide {
        let why = "does not match event.namespace";
        report.invalid("involvedObject.namespace", &json!(namespace), why);
    }
    if modern {
        if !event["eventTime"].is_string() {
            report.required("eventTime");
        }
        let ty = text(&event["type"]);
        if !matches!(ty, "Normal" | "Warning") {
            report.invalid("type", &json!(""), &format!("has invalid value: {ty}"));
        }
    }
}

pub(super) fn priority_class(report: &mut Report, class: &Value) {
    const HIGHEST: i64 = 1_000_000_000;
    let name = text(&class["metadata"]["name"]);
    let system = matches!(name, "system-cluster-critical" | "system-node-critical");
    if name.starts_with("system-") && !system {
        let why = format!(
            "priority class names with 'system-' prefix are reserved for system use only. error: {name} is not a known system priority class"
        );
        report.forbidden("metadata.name", &why);
    } else if !system && class["value"].as_i64().is_some_and(|value| value > HIGHEST) {
        let why = format!("maximum allowed value of a user defined priority is {HIGHEST}");
        report.forbidden("value", &why);
    }
    report.one_of_if_set(
        "preemptionPolicy",
        &class["preemptionPolicy"],
        &["PreemptLowerPriority", "Never"],
    );
}

pub(super) fn runtime_class(report: &mut Report, class: &Value) {
    report.label_name("handler", &class["handler"]);
}

pub(super) fn disruption_budget(report: &mut Report, spec: &Value) {
    let (minimum, maximum) = (&spec["minAvailable"], &spec["maxUnavailable"]);
    if !minimum.is_null() && !maximum.is_null() {
        let shown = format!(
            "{{\"MinAvailable\":{minimum},\"Selector\":{},\"MaxUnavailable\":{maximum},\"UnhealthyPodEvictionPolicy\":{}}}",
            spec["selector"], spec["unhealthyPodEvictionPolicy"]
        );
        let why = "minAvailable and maxUnavailable cannot be both set";
        report.invalid_shown("spec", &shown, why);
    }
    for (field, value) in [("minAvailable", minimum), ("maxUnavailable", maximum)] {
        report.number_or_percent(&format!("spec.{field}"), value);
        report.at_most_hundred(&format!("spec.{field}"), value);
    }
    selector::check(report, &spec["selector"], "spec.selector");
    report.one_of_if_set(
        "spec.unhealthyPodEvictionPolicy",
        &spec["unhealthyPodEvictionPolicy"],
        &["AlwaysAllow", "IfHealthyBudget"],
    );
}
