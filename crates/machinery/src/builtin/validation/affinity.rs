//! Affinities of pods to nodes and to each other.

use serde_json::Value;

use super::{
    report::{Report, list, text},
    selector, spread,
};
use crate::names;

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

pub(super) fn affinity(report: &mut Report, affinity: &Value, path: &str) {
    let node = &affinity["nodeAffinity"];
    let at = format!("{path}.nodeAffinity");
    if node[REQUIRED].is_object() {
        node_selector(report, &node[REQUIRED], &format!("{at}.{REQUIRED}"));
    }
    for (index, preference) in list(&node[PREFERRED]).iter().enumerate() {
        let at = format!("{at}.{PREFERRED}[{index}]");
        weight(report, preference, &at);
        node_term(
            report,
            &preference["preference"],
            &format!("{at}.preference"),
            false,
        );
    }
    for field in ["podAffinity", "podAntiAffinity"] {
        let at = format!("{path}.{field}");
        for (index, term) in list(&affinity[field][REQUIRED]).iter().enumerate() {
            pod_term(report, term, &format!("{at}.{REQUIRED}[{index}]"));
        }
        for (index, preference) in list(&affinity[field][PREFERRED]).iter().enumerate() {
            let at = format!("{at}.{PREFERRED}[{index}]");
            weight(report, preference, &at);
            pod_term(
                report,
                &preference["podAffinityTerm"],
                &format!("{at}.podAffinityTerm"),
            );
        }
    }
}

/// Terms of which a node must fulfil one.
pub(super) fn node_selector(report: &mut Report, selector: &Value, path: &str) {
    let terms = list(&selector["nodeSelectorTerms"]);
    if terms.is_empty() {
        let why = "must have at least one node selector term";
        report.required_because(format!("{path}.nodeSelectorTerms"), why);
    }
    for (index, term) in terms.iter().enumerate() {
        let path = format!("{path}.nodeSelectorTerms[{index}]");
        node_term(report, term, &path, true);
    }
}

/// Values of labels are checked only where a term is required.
fn node_term(report: &mut Report, term: &Value, path: &str, required: bool) {
    for (index, expression) in list(&term["matchExpressions"]).iter().enumerate() {
        let path = format!("{path}.matchExpressions[{index}]");
        let values = list(&expression["values"]);
        match text(&expression["operator"]) {
            "In" | "NotIn" if values.is_empty() => {
                let why = "must be specified when `operator` is 'In' or 'NotIn'";
                report.required_because(format!("{path}.values"), why);
            }
            "Exists" | "DoesNotExist" if !values.is_empty() => {
                let why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                report.forbidden(format!("{path}.values"), why);
            }
            "Gt" | "Lt" if values.len() != 1 => {
                let why = "must be specified single value when `operator` is 'Lt' or 'Gt'";
                report.required_because(format!("{path}.values"), why);
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" => {}
            _ => {
                let why = "not a valid selector operator";
                report.invalid(format!("{path}.operator"), &expression["operator"], why);
            }
        }
        let key = text(&expression["key"]);
        report.names(&format!("{path}.key"), key, names::qualified_name(key));
        for (number, value) in values.iter().enumerate().filter(|_| required) {
            let at = format!("{path}.values[{number}]");
            report.names(&at, text(value), names::label_value(text(value)));
        }
    }
    for (index, field) in list(&term["matchFields"]).iter().enumerate() {
        node_field(report, field, &format!("{path}.matchFields[{index}]"));
    }
}

/// The one field of a node that can be selected: its name.
fn node_field(report: &mut Report, field: &Value, path: &str) {
    let values = list(&field["values"]);
    match text(&field["operator"]) {
        "In" | "NotIn" if values.len() == 1 => {}
        "In" | "NotIn" => {
            let why =
                "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
            report.required_because(format!("{path}.values"), why);
        }
        operator => {
            let why = "not a valid selector operator";
            report.invalid(format!("{path}.operator"), &operator.into(), why);
        }
    }
    if field["key"] != "metadata.name" {
        let key = text(&field["key"]).into();
        report.invalid(
            format!("{path}.key"),
            &key,
            "not a valid field selector key",
        );
        return;
    }
    for (index, value) in values.iter().enumerate() {
        let name = text(value);
        let at = format!("{path}.values[{index}]");
        report.names(&at, name, names::dns_1123_subdomain(name));
    }
}

fn weight(report: &mut Report, preference: &Value, path: &str) {
    let weight = preference["weight"].as_i64().unwrap_or_default();
    if !(1..=100).contains(&weight) {
        let why = "must be in the range 1-100";
        report.invalid(format!("{path}.weight"), &weight.into(), why);
    }
}

fn pod_term(report: &mut Report, term: &Value, path: &str) {
    selector::check(
        report,
        &term["labelSelector"],
        &format!("{path}.labelSelector"),
    );
    selector::check(
        report,
        &term["namespaceSelector"],
        &format!("{path}.namespaceSelector"),
    );
    for namespace in list(&term["namespaces"]) {
        let name = text(namespace);
        let at = format!("{path}.namespace");
        report.names(&at, name, names::dns_1123_label(name));
    }
    spread::label_keys(report, term, path);
    let key = text(&term["topologyKey"]);
    if key.is_empty() {
        report.required_because(format!("{path}.topologyKey"), "can not be empty");
    }
    report.names(
        &format!("{path}.topologyKey"),
        key,
        names::qualified_name(key),
    );
}
