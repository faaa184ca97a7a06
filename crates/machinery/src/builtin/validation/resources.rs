//! Amounts of resources that containers request.

use serde_json::Value;

use super::report::{Report, amount, text};
use crate::names;

const NOT_NEGATIVE: &str = "must be greater than or equal to 0";
const STANDARD: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];

/// Requests and limits of a container.
pub(super) fn container(report: &mut Report, resources: &Value, path: &str) {
    let empty = serde_json::Map::new();
    let limits = resources["limits"].as_object().unwrap_or(&empty);
    let requests = resources["requests"].as_object().unwrap_or(&empty);
    for (name, value) in limits {
        let at = format!("{path}.limits[{name}]");
        container_name(report, name, &at);
        whole(report, name, value, &at);
    }
    for (name, value) in requests {
        let at = format!("{path}.requests[{name}]");
        container_name(report, name, &at);
        whole(report, name, value, &at);
        let overcommittable = STANDARD.contains(&name.as_str());
        match limits.get(name) {
            Some(limit) if !overcommittable && amount(value) != amount(limit) => {
                let why = format!("must be equal to {name} limit of {}", text(limit));
                report.invalid(format!("{path}.requests"), value, &why);
            }
            Some(limit) if amount(value) > amount(limit) => {
                let why = format!(
                    "must be less than or equal to {name} limit of {}",
                    text(limit)
                );
                report.invalid(format!("{path}.requests"), value, &why);
            }
            None if !overcommittable => {
                let why = "Limit must be set for non overcommitable resources";
                report.required_because(format!("{path}.limits"), why);
            }
            _ => {}
        }
    }
}

fn container_name(report: &mut Report, name: &str, path: &str) {
    let complaints = names::qualified_name(name);
    let well_formed = complaints.is_empty();
    report.names(path, name, complaints);
    if name.contains('/') {
        return;
    }
    let known = STANDARD.contains(&name) || name.starts_with("hugepages-");
    if !known {
        let value = name.into();
        if well_formed {
            let why = "must be a standard resource type or fully qualified";
            report.invalid(path, &value, why);
        }
        report.invalid(path, &value, "must be a standard resource for containers");
    }
}

/// Amounts may not be negative, and of countable things not broken.
pub(super) fn whole(report: &mut Report, name: &str, value: &Value, path: &str) {
    let nanos = amount(value);
    if nanos < 0 {
        report.invalid(path, value, NOT_NEGATIVE);
    }
    let countable = name.contains('/') && !name.contains("kubernetes.io/");
    if countable && nanos % 1_000_000_000 != 0 {
        report.invalid(path, value, "must be an integer");
    }
}
