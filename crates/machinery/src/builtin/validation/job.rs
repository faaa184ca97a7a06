//! Jobs.

use serde_json::{Value, json};

use super::{
    indexes, pod,
    report::{Report, list, text},
    selector,
    workload::MISMATCH,
};
use crate::names;

const MANY: i64 = 100_000;
const AT_ONCE_OF_MANY: i64 = 10_000;
const MOST_RULES: usize = 20;
const MOST_CODES: usize = 255;
const LONGEST_MANAGER: usize = 63;
const LONGEST_INDEXES: usize = 64 * 1024;
const HTTP_PATH: &str = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";

/// A job with the selector that was made for it.
pub(super) fn job(report: &mut Report, job: &Value) {
    generated_selector(report, job);
    selecting_job_spec(report, &job["spec"]);
    pods_can_be_named(report, job);
}

/// Pods of an indexed job are called after it, each with its index.
fn pods_can_be_named(report: &mut Report, job: &Value) {
    let count = job["spec"]["completions"].as_i64().unwrap_or_default();
    if job["spec"]["completionMode"] != "Indexed" || count <= 0 {
        return;
    }
    let name = text(&job["metadata"]["name"]);
    let last = format!("{name}-{}", count - 1);
    if !names::dns_1123_label(&last).is_empty() {
        let why = format!("will not able to create pod with invalid DNS label: {last}");
        report.invalid("metadata.name", &json!(name), &why);
    }
}

/// The specification of a job, which selects its own pods.
pub(super) fn selecting_job_spec(report: &mut Report, spec: &Value) {
    job_spec(report, spec, "spec");
    if spec["selector"].is_object() {
        selector::check(report, &spec["selector"], "spec.selector");
    } else {
        report.required("spec.selector");
    }
    if !selector::matches(&spec["selector"], &spec["template"]["metadata"]["labels"]) {
        let empty = json!({});
        let labels = match &spec["template"]["metadata"]["labels"] {
            Value::Null => &empty,
            labels => labels,
        };
        report.invalid("spec.template.metadata.labels", labels, MISMATCH);
    }
}

fn generated_selector(report: &mut Report, job: &Value) {
    let spec = &job["spec"];
    if spec["manualSelector"] == json!(true) {
        return;
    }
    let wanted = &spec["selector"]["matchLabels"];
    let own = json!({"batch.kubernetes.io/controller-uid": job["metadata"]["uid"]});
    let legacy = json!({"controller-uid": job["metadata"]["uid"]});
    if wanted != &own && wanted != &legacy {
        let why = "`selector` not auto-generated";
        report.invalid("spec.selector", &spec["selector"], why);
    }
}

/// The rules that jobs and job templates share.
pub(super) fn job_spec(report: &mut Report, spec: &Value, path: &str) {
    let at = |field: &str| format!("{path}.{field}");
    for field in [
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
        "backoffLimitPerIndex",
        "maxFailedIndexes",
    ] {
        report.not_negative(at(field), &spec[field]);
    }
    if spec["maxFailedIndexes"].is_number() && spec["backoffLimitPerIndex"].is_null() {
        let why = "when maxFailedIndexes is specified";
        report.required_because(at("backoffLimitPerIndex"), why);
    }
    if let Some(manager) = spec["managedBy"].as_str() {
        managed_by(report, manager, &at("managedBy"));
    }
    report.one_of_if_set(
        at("completionMode"),
        &spec["completionMode"],
        &["NonIndexed", "Indexed"],
    );
    let indexed = spec["completionMode"] == "Indexed";
    if indexed {
        limits(report, spec, path);
    } else {
        let why = "requires indexed completion mode";
        for field in ["backoffLimitPerIndex", "maxFailedIndexes"] {
            if !spec[field].is_null() {
                report.invalid(at(field), &spec[field], why);
            }
        }
    }
    let fails = spec["podFailurePolicy"].is_object();
    if fails {
        failure_policy(report, spec, &at("podFailurePolicy"));
    }
    if spec["successPolicy"].is_object() {
        if indexed {
            success_policy(report, spec, &at("successPolicy"));
        } else {
            let why = "requires indexed completion mode";
            report.invalid(at("successPolicy"), &spec["successPolicy"], why);
        }
    }
    let known: &[&str] = if fails {
        &["Failed"]
    } else {
        &["Failed", "TerminatingOrFailed"]
    };
    let replacement = &spec["podReplacementPolicy"];
    report.one_of_if_set(at("podReplacementPolicy"), replacement, known);
    pod::template(report, &spec["template"], &at("template"));
    let policy = &spec["template"]["spec"]["restartPolicy"];
    let at = at("template.spec.restartPolicy");
    match text(policy) {
        "" | "Always" => {
            let why = "valid values: \"OnFailure\", \"Never\"";
            report.required_because(at, why);
        }
        "OnFailure" if fails => {
            let why = "only \"Never\" is supported when podFailurePolicy is specified";
            report.invalid(at, policy, why);
        }
        _ => report.one_of(at, policy, &["OnFailure", "Never"]),
    }
}

/// Who runs a job instead of the controller: a path after a domain.
fn managed_by(report: &mut Report, manager: &str, path: &str) {
    match manager.split_once('/') {
        _ if manager.is_empty() => report.required(path),
        Some((host, place)) if !host.is_empty() && !place.is_empty() => {
            report.names(path, host, names::dns_1123_subdomain(host));
            let valid = |c: char| c.is_ascii_alphanumeric() || "/-._~%!$&'()*+,;=:".contains(c);
            if !place.chars().all(valid) {
                let why = names::format_error("Invalid path", HTTP_PATH, &[]);
                report.invalid(path, &json!(place), &why);
            }
        }
        _ => {
            let why = "must be a domain-prefixed path (such as \"acme.io/foo\")";
            report.invalid(path, &json!(manager), why);
        }
    }
    if manager.len() > LONGEST_MANAGER {
        report.too_long(path, LONGEST_MANAGER);
    }
}

/// Indexes are kept in the status, so that there can't be too many.
fn limits(report: &mut Report, spec: &Value, path: &str) {
    let number = |field: &str| spec[field].as_i64();
    let at = |field: &str| format!("{path}.{field}");
    let completions = number("completions");
    if completions.is_none() {
        let why = "when completion mode is Indexed";
        report.required_because(at("completions"), why);
    }
    let at_most = |report: &mut Report, field: &str, most: i64, suffix: &str| {
        if number(field).is_some_and(|number| number > most) {
            let why = format!("must be less than or equal to {most}{suffix}");
            report.invalid(at(field), &spec[field], &why);
        }
    };
    at_most(
        report,
        "parallelism",
        MANY,
        " when completion mode is Indexed",
    );
    if let Some(completions) = completions
        && number("maxFailedIndexes").is_some_and(|failed| failed > completions)
    {
        let why = "must be less than or equal to completions";
        report.invalid(at("maxFailedIndexes"), &spec["maxFailedIndexes"], why);
    }
    at_most(report, "maxFailedIndexes", MANY, "");
    let many = completions.is_some_and(|completions| completions > MANY);
    if !many || spec["backoffLimitPerIndex"].is_null() {
        return;
    }
    let suffix =
        format!(" when completions are above {MANY} and used with backoff limit per index");
    if spec["maxFailedIndexes"].is_null() {
        let why = format!("must be specified when completions is above {MANY}");
        report.required_because(at("maxFailedIndexes"), &why);
    }
    at_most(report, "parallelism", AT_ONCE_OF_MANY, &suffix);
    at_most(report, "maxFailedIndexes", AT_ONCE_OF_MANY, &suffix);
}

/// A text that must be there and one of several; what is missing is told with all of them.
fn chosen(report: &mut Report, path: String, value: &Value, known: &[&str]) {
    if text(value).is_empty() {
        let quoted: Vec<_> = known.iter().map(|known| format!("{known:?}")).collect();
        let why = format!("valid values: [{}]", quoted.join(" "));
        report.required_because(path, &why);
    } else {
        report.one_of(path, value, known);
    }
}

/// Which failures of pods count for what.
fn failure_policy(report: &mut Report, spec: &Value, path: &str) {
    let rules = list(&spec["podFailurePolicy"]["rules"]);
    report.at_most(format!("{path}.rules"), rules, MOST_RULES);
    for (index, rule) in rules.iter().enumerate() {
        let path = format!("{path}.rules[{index}]");
        let action = &rule["action"];
        let at = format!("{path}.action");
        if action == "FailIndex" {
            if spec["backoffLimitPerIndex"].is_null() {
                let why = "requires the backoffLimitPerIndex to be set";
                report.invalid(at, action, why);
            }
        } else {
            let known = ["Count", "FailIndex", "FailJob", "Ignore"];
            chosen(report, at, action, &known);
        }
        let codes = rule["onExitCodes"].is_object();
        if codes {
            exit_codes(
                report,
                &rule["onExitCodes"],
                spec,
                &format!("{path}.onExitCodes"),
            );
        }
        let patterns = list(&rule["onPodConditions"]);
        let at = format!("{path}.onPodConditions");
        report.at_most(at.as_str(), patterns, MOST_RULES);
        for (index, pattern) in patterns.iter().enumerate() {
            let at = format!("{at}[{index}]");
            let name = text(&pattern["type"]);
            report.names(&format!("{at}.type"), name, names::qualified_name(name));
            let known = ["False", "True", "Unknown"];
            chosen(report, format!("{at}.status"), &pattern["status"], &known);
        }
        if codes && !patterns.is_empty() {
            let why = "specifying both OnExitCodes and OnPodConditions is not supported";
            report.invalid_shown(path, why, "");
        } else if !codes && patterns.is_empty() {
            let why = "specifying one of OnExitCodes and OnPodConditions is required";
            report.invalid_shown(path, why, "");
        }
    }
}

fn exit_codes(report: &mut Report, wanted: &Value, spec: &Value, path: &str) {
    let operator = &wanted["operator"];
    let known = ["In", "NotIn"];
    chosen(report, format!("{path}.operator"), operator, &known);
    let pod = &spec["template"]["spec"];
    let mut containers = ["containers", "initContainers"]
        .iter()
        .flat_map(|field| list(&pod[*field]));
    let name = &wanted["containerName"];
    if name.is_string() && !containers.any(|container| container["name"] == *name) {
        let why = "must be one of the container or initContainer names in the pod template";
        report.invalid(format!("{path}.containerName"), name, why);
    }
    let path = format!("{path}.values");
    let values = list(&wanted["values"]);
    if values.is_empty() {
        let given = &wanted["values"];
        report.invalid(path.as_str(), given, "at least one value is required");
    }
    report.at_most(path.as_str(), values, MOST_CODES);
    for (index, value) in values.iter().enumerate() {
        let path = format!("{path}[{index}]");
        if operator == "In" && value == &json!(0) {
            report.invalid(path.as_str(), value, "must not be 0 for the In operator");
        }
        if values[..index].contains(value) {
            report.duplicate(path, value);
        }
    }
    if !values.is_sorted_by_key(Value::as_i64) {
        report.invalid(path, &wanted["values"], "must be ordered");
    }
}

/// When a job is done before all its pods are.
fn success_policy(report: &mut Report, spec: &Value, path: &str) {
    let rules = list(&spec["successPolicy"]["rules"]);
    let path = format!("{path}.rules");
    if rules.is_empty() {
        let why = "at least one rules must be specified when the successPolicy is specified";
        report.required_because(path.as_str(), why);
    }
    report.at_most(path.as_str(), rules, MOST_RULES);
    let completions = spec["completions"].as_i64().unwrap_or_default();
    for (index, rule) in rules.iter().enumerate() {
        let path = format!("{path}[{index}]");
        let (count, given) = (&rule["succeededCount"], &rule["succeededIndexes"]);
        if count.is_null() && given.is_null() {
            let why = "at least one of succeededCount or succeededIndexes must be specified";
            report.required_because(path.as_str(), why);
        }
        let at = format!("{path}.succeededIndexes");
        if text(given).len() > LONGEST_INDEXES {
            report.too_long(at.as_str(), LONGEST_INDEXES);
        }
        let total = indexes::check(text(given), completions).unwrap_or_else(|why| {
            let why = format!("error parsing succeededIndexes: {why}");
            report.invalid(at, given, &why);
            0
        });
        let at = format!("{path}.succeededCount");
        report.not_negative(at.as_str(), count);
        let above = |most: i64| count.as_i64().is_some_and(|count| count > most);
        if above(completions) {
            let why = format!(
                "must be less than or equal to {completions} (the number of specified completions)"
            );
            report.invalid(at.as_str(), count, &why);
        }
        if given.is_string() && above(total) {
            let why = format!(
                "must be less than or equal to {total} (the number of indexes in the specified succeededIndexes field)"
            );
            report.invalid(at, count, &why);
        }
    }
}
