//! Affinities of pods to nodes and to each other.

use serde_json::Value;

use super::{
    report::{Report, list, text},
    selector,
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
        node_term(report, term, &format!("{path}.nodeSelectorTerms[{index}]"));
    }
}

fn node_term(report: &mut Report, term: &Value, path: &str) {
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
    for (index, namespace) in list(&term["namespaces"]).iter().enumerate() {
        let name = text(namespace);
        report.names(
            &format!("{path}.namespaces[{index}]"),
            name,
            names::dns_1123_label(name),
        );
    }
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
