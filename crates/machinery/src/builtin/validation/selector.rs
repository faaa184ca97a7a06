//! Label selectors and whether they match.

use serde_json::Value;

use super::report::{Report, list, text};
use crate::{names, selector::LabelSelector};

/// Checks a selector; tells whether it is well formed.
pub(super) fn check(report: &mut Report, selector: &Value, path: &str) -> bool {
    let before = report.errors.len();
    report.errors.extend(names::validate_labels(
        selector.get("matchLabels"),
        &format!("{path}.matchLabels"),
    ));
    for (at, expression) in list(&selector["matchExpressions"]).iter().enumerate() {
        requirement(
            report,
            expression,
            &format!("{path}.matchExpressions[{at}]"),
        );
    }
    report.errors.len() == before
}

fn requirement(report: &mut Report, expression: &Value, path: &str) {
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
        "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
        _ => {
            let why = "not a valid selector operator";
            report.invalid(format!("{path}.operator"), &expression["operator"], why);
        }
    }
    let key = text(&expression["key"]);
    report.names(&format!("{path}.key"), key, names::qualified_name(key));
    for (at, value) in values.iter().enumerate() {
        let value = text(value);
        report.names(
            &format!("{path}.values[{at}]"),
            value,
            names::label_value(value),
        );
    }
}

/// Whether a selector selects nothing in particular.
pub(super) fn is_empty(selector: &Value) -> bool {
    let labels = selector["matchLabels"].as_object();
    labels.is_none_or(serde_json::Map::is_empty) && list(&selector["matchExpressions"]).is_empty()
}

/// Whether a selector matches labels; one that is missing matches nothing.
pub(super) fn matches(selector: &Value, labels: &Value) -> bool {
    selector.is_object()
        && LabelSelector::from_value(selector)
            .is_ok_and(|selector| selector.matches(labels.as_object()))
}
