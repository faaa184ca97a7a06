//! Quotas and limit ranges.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{
    report::{Report, amount, list, text},
    resources,
};
use crate::names;

const COUNTED: [&str; 9] = [
    "pods",
    "services",
    "replicationcontrollers",
    "resourcequotas",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
];
const MEASURED: [&str; 10] = [
    "cpu",
    "memory",
    "ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "requests.storage",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
];
const SCOPES: [&str; 7] = [
    "Terminating",
    "NotTerminating",
    "BestEffort",
    "NotBestEffort",
    "PriorityClass",
    "CrossNamespacePodAffinity",
    "VolumeAttributesClass",
];

pub(super) fn resource_quota(report: &mut Report, spec: &Value) {
    for (name, value) in spec["hard"].as_object().into_iter().flatten() {
        let path = format!("spec.hard[{name}]");
        report.names(&path, name, names::qualified_name(name));
        let counted = COUNTED.contains(&name.as_str()) || name.starts_with("count/");
        let known = counted
            || MEASURED.contains(&name.as_str())
            || name.contains('/')
            || name.contains("hugepages-");
        if !known {
            if names::qualified_name(name).is_empty() {
                let why = "must be a standard resource type or fully qualified";
                report.invalid(path.clone(), &json!(name), why);
            }
            let why = "must be a standard resource for quota";
            report.invalid(path.clone(), &json!(name), why);
        }
        resources::whole(report, name, value, &path);
        if counted && amount(value) % 1_000_000_000 != 0 {
            report.invalid(path, value, "must be an integer");
        }
    }
    scopes(report, spec);
    scope_selector(report, spec);
}

/// Whether a quota of this scope can count that resource. Of others than the standard ones nobody knows.
fn fits(scope: &str, name: &str) -> bool {
    let standard = COUNTED.contains(&name)
        || MEASURED.contains(&name)
        || name.starts_with("hugepages-")
        || name.starts_with("requests.hugepages-");
    let computes = matches!(
        name,
        "cpu" | "memory" | "limits.cpu" | "limits.memory" | "requests.cpu" | "requests.memory"
    );
    match scope {
        _ if !standard => true,
        "BestEffort" => name == "pods",
        "Terminating"
        | "NotTerminating"
        | "NotBestEffort"
        | "PriorityClass"
        | "CrossNamespacePodAffinity" => name == "pods" || computes,
        "VolumeAttributesClass" => matches!(name, "persistentvolumeclaims" | "requests.storage"),
        _ => true,
    }
}

fn scopes(report: &mut Report, spec: &Value) {
    let path = "spec.scopes";
    let given = &spec["scopes"];
    for scope in list(given) {
        if !SCOPES.contains(&text(scope)) {
            report.invalid(path, given, "unsupported scope");
        }
        for name in spec["hard"].as_object().into_iter().flatten() {
            if !fits(text(scope), name.0) {
                report.invalid(path, given, "unsupported scope applied to resource");
            }
        }
    }
    let names: Vec<&str> = list(given).iter().map(text).collect();
    conflicts(report, &names, given, path);
}

/// Scopes of which one is what the other is not.
fn conflicts(report: &mut Report, scopes: &[&str], shown: &Value, path: &str) {
    for scope in ["BestEffort", "Terminating"] {
        let opposite = format!("Not{scope}");
        if scopes.contains(&scope) && scopes.contains(&opposite.as_str()) {
            report.invalid(path, shown, "conflicting scopes");
        }
    }
}

fn scope_selector(report: &mut Report, spec: &Value) {
    let selector = &spec["scopeSelector"];
    let path = "spec.scopeSelector.matchExpressions";
    let expressions = list(&selector["matchExpressions"]);
    for expression in expressions {
        let scope = text(&expression["scopeName"]);
        if !SCOPES.contains(&scope) {
            let at = format!("{path}.scopeName");
            report.invalid(at, &json!(scope), "unsupported scope");
        }
        for name in spec["hard"].as_object().into_iter().flatten() {
            if !fits(scope, name.0) {
                report.invalid(path, selector, "unsupported scope applied to resource");
            }
        }
        let operator = text(&expression["operator"]);
        let is_or_is_not = !matches!(scope, "PriorityClass" | "VolumeAttributesClass");
        if SCOPES.contains(&scope) && is_or_is_not && operator != "Exists" {
            let why = "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";
            report.invalid(format!("{path}.operator"), &json!(operator), why);
        }
        let values = &expression["values"];
        match operator {
            "In" | "NotIn" if list(values).is_empty() => {
                let why = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
                report.required_because(format!("{path}.values"), why);
            }
            "Exists" | "DoesNotExist" if !list(values).is_empty() => {
                let why = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
                report.invalid(format!("{path}.values"), values, why);
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            _ => {
                let why = "not a valid selector operator";
                report.invalid(format!("{path}.operator"), &json!(operator), why);
            }
        }
    }
    let names = expressions.iter().map(|known| text(&known["scopeName"]));
    let names: Vec<&str> = names.collect();
    conflicts(report, &names, &spec["scopes"], path);
}

pub(super) fn limit_range(report: &mut Report, spec: &Value) {
    let mut seen = BTreeSet::new();
    for (index, item) in list(&spec["limits"]).iter().enumerate() {
        let path = format!("spec.limits[{index}]");
        let ty = text(&item["type"]);
        report.names(&format!("{path}.type"), ty, names::qualified_name(ty));
        let standard = matches!(ty, "Pod" | "Container" | "PersistentVolumeClaim");
        let qualified = names::qualified_name(ty).is_empty();
        if qualified && !standard && !ty.contains('/') {
            let why = "must be a standard limit type or fully qualified";
            report.invalid(format!("{path}.type"), &item["type"], why);
        }
        if !seen.insert(ty) {
            report.duplicate(format!("{path}.type"), &item["type"]);
        }
        if ty == "Pod" {
            for field in ["default", "defaultRequest"] {
                if item[field]
                    .as_object()
                    .is_some_and(|amounts| !amounts.is_empty())
                {
                    let why = "may not be specified when `type` is 'Pod'";
                    report.forbidden(format!("{path}.{field}"), why);
                }
            }
        }
        if ty == "PersistentVolumeClaim"
            && item["min"]["storage"].is_null()
            && item["max"]["storage"].is_null()
        {
            let why =
                "either minimum or maximum storage value is required, but neither was provided";
            report.required_because(format!("{path}.limits"), why);
        }
        if ty == "Pod" {
            bounds(report, item, &path, &["min", "max"]);
        } else {
            bounds(
                report,
                item,
                &path,
                &["min", "max", "default", "defaultRequest"],
            );
        }
    }
}

fn bounds(report: &mut Report, item: &Value, path: &str, fields: &[&str]) {
    let empty = Map::new();
    let names: BTreeSet<&String> = fields
        .iter()
        .chain(&["maxLimitRequestRatio"])
        .flat_map(|field| item[*field].as_object().unwrap_or(&empty).keys())
        .collect();
    for name in names {
        let of = |field: &str| {
            let value = &item[field][name.as_str()];
            (fields.contains(&field) && value.is_string()).then(|| (amount(value), text(value)))
        };
        let (min, max) = (of("min"), of("max"));
        let (default, request) = (of("default"), of("defaultRequest"));
        let mut above = |lower: Option<(i128, &str)>,
                         upper: Option<(i128, &str)>,
                         field: &str,
                         shown: Option<(i128, &str)>,
                         words: (&str, &str)| {
            if let (Some(lower), Some(upper), Some(shown)) = (lower, upper, shown)
                && lower.0 > upper.0
            {
                let why = format!(
                    "{} value {} is greater than {} value {}",
                    words.0, lower.1, words.1, upper.1
                );
                report.invalid(format!("{path}.{field}[{name}]"), &json!(shown.1), &why);
            }
        };
        above(min, max, "min", min, ("min", "max"));
        above(
            min,
            request,
            "defaultRequest",
            request,
            ("min", "default request"),
        );
        above(
            request,
            max,
            "defaultRequest",
            request,
            ("default request", "max"),
        );
        above(
            request,
            default,
            "defaultRequest",
            request,
            ("default request", "default limit"),
        );
        above(min, default, "default", min, ("min", "default"));
        above(default, max, "default", max, ("default", "max"));
        let ratio = &item["maxLimitRequestRatio"][name.as_str()];
        if ratio.is_string() && amount(ratio) < 1_000_000_000 {
            let why = format!("ratio {} is less than 1", text(ratio));
            let at = format!("{path}.maxLimitRequestRatio[{name}]");
            report.invalid(at, ratio, &why);
        }
    }
}
