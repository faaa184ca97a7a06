//! Amounts of resources that containers request.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::report::{Report, amount, list, text};
use crate::{
    field_error::{FieldError, Kind},
    names,
    quantity::Quantity,
};

const NOT_NEGATIVE: &str = "must be greater than or equal to 0";
const HUGE_PAGES: &str = "hugepages-";
const STANDARD: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];

/// Requests and limits of a container, and which of the pod's `claims` it uses.
pub(super) fn container(report: &mut Report, resources: &Value, claims: &Value, path: &str) {
    requirements(report, resources, claims, path, container_name);
}

/// Requests and limits of a whole pod, which bound those of its containers.
pub(super) fn pod(report: &mut Report, spec: &Value, path: &str) {
    let resources = &spec["resources"];
    if !resources.is_object() {
        return;
    }
    if spec["os"]["name"] == "windows" {
        return report.forbidden(path, "may not be set for a windows pod");
    }
    if !resources["claims"].is_null() {
        let why = "claims may not be set for Resources at pod-level";
        report.forbidden(format!("{path}.claims"), why);
    }
    requirements(report, resources, &spec["resourceClaims"], path, pod_name);
    for (index, container) in list(&spec["containers"]).iter().enumerate() {
        let limits = container["resources"]["limits"].as_object();
        for (name, limit) in limits.into_iter().flatten() {
            let most = &resources["limits"][name.as_str()];
            if most.is_string() && amount(limit) > amount(most) {
                let why = format!("must be less than or equal to pod limits of {}", text(most));
                let at = format!("{path}.containers[{index}][{name}].limits");
                report.invalid(at, limit, &why);
            }
        }
    }
}

/// Pods as a whole have processors and memory.
fn pod_name(report: &mut Report, name: &str, path: &str) {
    let complaints = names::qualified_name(name);
    if !complaints.is_empty() {
        return report.names(path, name, complaints);
    }
    let known = STANDARD.contains(&name) || name.starts_with(HUGE_PAGES);
    if !known && !name.contains('/') {
        let why = "must be a standard resource type or fully qualified";
        report.invalid(path, &name.into(), why);
    } else if !name.starts_with(HUGE_PAGES) {
        report.one_of(path, &name.into(), &["cpu", HUGE_PAGES, "memory"]);
    }
}

fn requirements(
    report: &mut Report,
    resources: &Value,
    claims: &Value,
    path: &str,
    check_name: fn(&mut Report, &str, &str),
) {
    let empty = serde_json::Map::new();
    let limits = resources["limits"].as_object().unwrap_or(&empty);
    let requests = resources["requests"].as_object().unwrap_or(&empty);
    for (name, value) in limits {
        let at = format!("{path}.limits[{name}]");
        check_name(report, name, &at);
        whole(report, name, value, &at);
        pages(report, name, value, &at);
    }
    for (name, value) in requests {
        let at = format!("{path}.requests[{name}]");
        check_name(report, name, &at);
        whole(report, name, value, &at);
        let overcommittable = is_native(name) && !name.starts_with(HUGE_PAGES);
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
        pages(report, name, value, &format!("{path}.requests[{name}]"));
    }
    let mut named = limits.keys().chain(requests.keys());
    let basic = ["cpu", "memory"].iter().any(|name| {
        [limits, requests]
            .iter()
            .any(|amounts| amounts.contains_key(*name))
    });
    if !basic && named.any(|name| name.starts_with(HUGE_PAGES)) {
        report.forbidden(path, "HugePages require cpu or memory");
    }
    used_claims(
        report,
        &resources["claims"],
        claims,
        &format!("{path}.claims"),
    );
}

/// Resources that Kubernetes itself knows.
fn is_native(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

/// Memory in huge pages comes in whole pages.
fn pages(report: &mut Report, name: &str, value: &Value, path: &str) {
    let Some(size) = name.strip_prefix(HUGE_PAGES) else {
        return;
    };
    let size = match Quantity::parse(size) {
        Ok(Some(size)) => size.nanos(),
        _ => 0,
    };
    if size <= 0 || amount(value) % size != 0 {
        let shown = text(value);
        let why = format!("{shown} is not positive integer multiple of {name}");
        report.invalid(path, value, &why);
    }
}

/// Devices that a container uses are claimed by its pod, each once.
fn used_claims(report: &mut Report, used: &Value, claims: &Value, path: &str) {
    let known: BTreeSet<&str> = list(claims)
        .iter()
        .map(|claim| text(&claim["name"]))
        .filter(|name| !name.is_empty())
        .collect();
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for (index, claim) in list(used).iter().enumerate() {
        let at = format!("{path}[{index}]");
        let (name, request) = (text(&claim["name"]), text(&claim["request"]));
        if name.is_empty() {
            report.required(at);
            continue;
        }
        if !request.is_empty() && !seen.contains(name) {
            let complaints = names::dns_1123_label(request);
            report.names(&format!("{at}.request"), request, complaints);
        }
        let key = match request {
            "" => name.to_owned(),
            request => format!("{name}/{request}"),
        };
        let parts = format!("{name}/");
        if seen.contains(name) || seen.contains(&key) {
            let shown = if seen.contains(name) { name } else { &key };
            report.duplicate(at.as_str(), &json!(shown));
        } else if request.is_empty() && seen.iter().any(|other| other.starts_with(&parts)) {
            report.duplicate(at.as_str(), &json!(name));
        }
        seen.insert(key);
        if !known.contains(name) {
            let names: Vec<&str> = known.iter().copied().collect();
            let names = match names.join(", ") {
                names if names.is_empty() => " which is empty".to_owned(),
                names => format!(": {names}"),
            };
            report.errors.push(FieldError {
                kind: Kind::NotFound,
                field: at,
                value: Some(json!(name)),
                detail: format!("must be one of the names in pod.spec.resourceClaims{names}"),
            });
        }
    }
}

/// What a pod claims of devices.
pub(super) fn claims(report: &mut Report, claims: &Value, path: &str) {
    let claims = list(claims);
    for (index, claim) in claims.iter().enumerate() {
        let path = format!("{path}[{index}]");
        let name = text(&claim["name"]);
        let at = format!("{path}.name");
        let repeated = |other: &Value| other["name"] == claim["name"];
        if name.is_empty() {
            report.required(at);
        } else if claims[..index].iter().any(repeated) {
            report.duplicate(at, &claim["name"]);
        } else {
            report.names(&at, name, names::dns_1123_label(name));
        }
        let fields = ["resourceClaimName", "resourceClaimTemplateName"];
        let why = match fields.map(|field| claim[field].is_string()) {
            [true, true] => {
                "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
            }
            [false, false] => {
                "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
            }
            _ => "",
        };
        if !why.is_empty() {
            report.invalid(path.as_str(), claim, why);
        }
        for field in fields {
            if let Some(name) = claim[field].as_str() {
                let complaints = names::dns_1123_subdomain(name);
                report.names(&format!("{path}.{field}"), name, complaints);
            }
        }
    }
}

fn container_name(report: &mut Report, name: &str, path: &str) {
    let complaints = names::qualified_name(name);
    let well_formed = complaints.is_empty();
    report.names(path, name, complaints);
    if name.contains('/') {
        let of_quota = names::qualified_name(&format!("requests.{name}"));
        if !is_native(name) && (name.starts_with("requests.") || !of_quota.is_empty()) {
            let why = "doesn't follow extended resource name standard";
            report.invalid(path, &name.into(), why);
        }
        return;
    }
    let known = STANDARD.contains(&name) || name.starts_with(HUGE_PAGES);
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
    if !is_native(name) && nanos % 1_000_000_000 != 0 {
        report.invalid(path, value, "must be an integer");
    }
}
