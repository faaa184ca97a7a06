//! How pods are spread over a topology.

use serde_json::{Value, json};

use super::{
    report::{Report, list, text},
    selector,
};
use crate::names;

/// `topologySpreadConstraints`.
pub(super) fn constraints(report: &mut Report, constraints: &Value, path: &str) {
    let constraints = list(constraints);
    for (index, constraint) in constraints.iter().enumerate() {
        let path = format!("{path}[{index}]");
        let at = |field: &str| format!("{path}.{field}");
        let number = |field: &str| constraint[field].as_i64();
        report.positive(at("maxSkew"), number("maxSkew").unwrap_or_default());
        let key = text(&constraint["topologyKey"]);
        if key.is_empty() {
            report.required_because(at("topologyKey"), "can not be empty");
        }
        let action = &constraint["whenUnsatisfiable"];
        report.one_of(
            at("whenUnsatisfiable"),
            action,
            &["DoNotSchedule", "ScheduleAnyway"],
        );
        let same = |other: &&Value| {
            other["topologyKey"] == constraint["topologyKey"]
                && other["whenUnsatisfiable"] == *action
        };
        if constraints[index + 1..].iter().any(|other| same(&other)) {
            let kind = format!("{{{key}, {}}}", text(action));
            report.duplicate(at("{topologyKey, whenUnsatisfiable}"), &json!(kind));
        }
        if let Some(domains) = number("minDomains") {
            report.positive(at("minDomains"), domains);
            if action != "DoNotSchedule" {
                let why = format!(
                    "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {}",
                    text(action)
                );
                report.invalid(at("minDomains"), &json!(domains), &why);
            }
        }
        for field in ["nodeAffinityPolicy", "nodeTaintsPolicy"] {
            report.one_of_if_set(at(field), &constraint[field], &["Honor", "Ignore"]);
        }
        label_keys(report, constraint, &path);
        selector::check(report, &constraint["labelSelector"], &at("labelSelector"));
    }
}

/// Keys of labels whose values are taken from the pod itself.
pub(super) fn label_keys(report: &mut Report, term: &Value, path: &str) {
    let wanted = &term["labelSelector"];
    for field in ["matchLabelKeys", "mismatchLabelKeys"] {
        let keys = list(&term[field]);
        let path = format!("{path}.{field}");
        if !keys.is_empty() && !wanted.is_object() {
            report.forbidden(path, "must not be specified when labelSelector is not set");
            continue;
        }
        for (index, key) in keys.iter().enumerate() {
            let key = text(key);
            report.names(&format!("{path}[{index}]"), key, names::qualified_name(key));
        }
    }
    let matching = list(&term["matchLabelKeys"]);
    let expressions = list(&wanted["matchExpressions"]);
    for (index, expression) in expressions.iter().enumerate() {
        let key = &expression["key"];
        let earlier = expressions[..index]
            .iter()
            .any(|other| other["key"] == *key);
        let known = earlier || wanted["matchLabels"].get(text(key)).is_some();
        let place = matching.iter().rposition(|other| other == key);
        if let (true, Some(place)) = (known, place) {
            let why = "exists in both matchLabelKeys and labelSelector";
            report.invalid(format!("{path}[{place}]"), key, why);
        }
    }
    for (index, key) in matching.iter().enumerate() {
        if list(&term["mismatchLabelKeys"]).contains(key) {
            let why = "exists in both matchLabelKeys and mismatchLabelKeys";
            report.invalid(format!("{path}.matchLabelKeys[{index}]"), key, why);
        }
    }
}
