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
            let why = "must be a standard resource type or fully qualified";
            report.invalid(path.clone(), &json!(name), why);
            let why = "must be a standard resource for quota";
            report.invalid(path.clone(), &json!(name), why);
        }
        resources::whole(report, name, value, &path);
        if counted && amount(value) % 1_000_000_000 != 0 {
            report.invalid(path, value, "must be an integer");
        }
    }
    if list(&spec["scopes"])
        .iter()
        .any(|scope| !SCOPES.contains(&text(scope)))
    {
        report.invalid("spec.scopes", &spec["scopes"], "unsupported scope");
    }
}

pub(super) fn limit_range(report: &mut Report, spec: &Value) {
    let mut seen = BTreeSet::new();
    for (index, item) in list(&spec["limits"]).iter().enumerate() {
        let path = format!("spec.limits[{index}]");
        let ty = text(&item["type"]);
        report.names(&format!("{path}.type"), ty, names::qualified_name(ty));
        let standard = matches!(ty, "Pod" | "Container" | "PersistentVolumeClaim");
        if !standard && !ty.contains('/') {
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
