//! Admission policies and their bindings.

use std::collections::BTreeSet;

use quadrille_expr::{Type, is_identifier};
use serde_json::{Value, json};

use super::{
    report::{Report, list, text},
    selector,
};
use crate::{
    field_error::{FieldError, Kind},
    names,
    policy::{ANNOTATION_TYPES, Environment, Mistake},
};

const MAX_CONDITIONS: usize = 64;
/// A bound of our own: each variable is looked for in the types of all before it.
const MAX_VARIABLES: usize = 1000;
const MAX_ANNOTATIONS: usize = 20;
const MAX_ANNOTATION_EXPRESSION_BYTES: usize = 5 * 1024;

/// A policy.
pub(super) fn policy(report: &mut Report, object: &Value) {
    let spec = &object["spec"];
    let failure = &spec["failurePolicy"];
    if failure.is_null() {
        report.required("spec.failurePolicy");
    } else {
        report.one_of("spec.failurePolicy", failure, &["Fail", "Ignore"]);
    }
    let has_params = spec["paramKind"].is_object();
    if has_params {
        param_kind(report, &spec["paramKind"], "spec.paramKind");
    }
    let constraints = &spec["matchConstraints"];
    if constraints.is_null() {
        report.required("spec.matchConstraints");
    } else {
        match_resources(report, constraints, "spec.matchConstraints");
        if list(&constraints["resourceRules"]).is_empty() {
            report.required("spec.matchConstraints.resourceRules");
        }
    }
    let params = has_params.then_some(&Type::Dyn);
    let plain = Environment::new(&Type::Dyn, params, true);
    conditions(report, list(&spec["matchConditions"]), &plain);
    let variables = list(&spec["variables"]);
    if !at_most(report, "spec.variables", variables, MAX_VARIABLES) {
        return;
    }
    let telling = Environment::new(&Type::Dyn, params, false);
    let (mut asking, mut telling) = if variables.is_empty() {
        (plain, telling)
    } else {
        (plain.composed(), telling.composed())
    };
    for (index, entry) in variables.iter().enumerate() {
        let ty = variable(report, entry, &asking, &format!("spec.variables[{index}]"));
        asking.add(text(&entry["name"]), &ty);
        telling.add(text(&entry["name"]), &ty);
    }
    let demands = list(&spec["validations"]);
    let notes = list(&spec["auditAnnotations"]);
    if demands.is_empty() && notes.is_empty() {
        let why = "validations or auditAnnotations must contain at least one item";
        report.required_because("spec.validations", why);
        report.required_because("spec.auditAnnotations", why);
        return;
    }
    for (index, demand) in demands.iter().enumerate() {
        let path = format!("spec.validations[{index}]");
        validation(report, demand, &asking, &telling, &path);
    }
    if notes.len() > MAX_ANNOTATIONS {
        let why = format!("must not have more than {MAX_ANNOTATIONS} auditAnnotations");
        report.invalid("spec.auditAnnotations", &spec["auditAnnotations"], &why);
    }
    let mut keys = BTreeSet::new();
    let name = text(&object["metadata"]["name"]);
    for (index, note) in notes.iter().enumerate() {
        let path = format!("spec.auditAnnotations[{index}]");
        annotation(report, name, note, &asking, &path);
        if !keys.insert(text(&note["key"])) {
            report.duplicate(format!("{path}.key"), &note["key"]);
        }
    }
}

/// A binding.
pub(super) fn binding(report: &mut Report, spec: &Value) {
    match text(&spec["policyName"]) {
        "" => report.required("spec.policyName"),
        name => {
            let complaints = names::name_is_subdomain(name, false);
            report.names("spec.policyName", name, complaints);
        }
    }
    if spec["paramRef"].is_object() {
        param_ref(report, &spec["paramRef"], "spec.paramRef");
    }
    if spec["matchResources"].is_object() {
        match_resources(report, &spec["matchResources"], "spec.matchResources");
    }
    actions(report, &spec["validationActions"], "spec.validationActions");
}

fn param_kind(report: &mut Report, kind: &Value, path: &str) {
    let place = format!("{path}.apiVersion");
    let version = text(&kind["apiVersion"]);
    match version.matches('/').count() {
        _ if version.is_empty() => report.required(place),
        0 | 1 if version != "/" => {
            let (group, name) = version.split_once('/').unwrap_or(("", version));
            if !group.is_empty() {
                joined(report, &place, group, "", &names::dns_1123_subdomain(group));
            }
            if name.is_empty() {
                report.invalid(place, &kind["apiVersion"], "version must be specified");
            } else {
                joined(report, &place, name, "", &names::dns_1035_label(name));
            }
        }
        0 | 1 => report.invalid(place, &kind["apiVersion"], "version must be specified"),
        _ => {
            let why = format!("unexpected GroupVersion string: {version}");
            report.invalid(place, &kind["apiVersion"], &why);
        }
    }
    let place = format!("{path}.kind");
    match text(&kind["kind"]) {
        "" => report.required(place),
        name => {
            let words = "may have mixed case, but should otherwise match: ";
            let complaints = names::dns_1035_label(&name.to_lowercase());
            joined(report, &place, name, words, &complaints);
        }
    }
}

/// All complaints about a name in one error.
fn joined(report: &mut Report, path: &str, value: &str, words: &str, complaints: &[String]) {
    if !complaints.is_empty() {
        let why = format!("{words}{}", complaints.join(","));
        report.invalid(path, &json!(value), &why);
    }
}

fn match_resources(report: &mut Report, resources: &Value, path: &str) {
    let place = format!("{path}.matchPolicy");
    if resources["matchPolicy"].is_null() {
        report.required(place);
    } else {
        report.one_of(place, &resources["matchPolicy"], &["Equivalent", "Exact"]);
    }
    for name in ["namespaceSelector", "objectSelector"] {
        let place = format!("{path}.{name}");
        if resources[name].is_null() {
            report.required(place);
        } else {
            selector::check(report, &resources[name], &place);
        }
    }
    for name in ["resourceRules", "excludeResourceRules"] {
        for (index, entry) in list(&resources[name]).iter().enumerate() {
            rule(report, entry, &format!("{path}.{name}[{index}]"));
        }
    }
}

fn rule(report: &mut Report, rule: &Value, path: &str) {
    let mut seen = BTreeSet::new();
    for (index, name) in list(&rule["resourceNames"]).iter().enumerate() {
        let place = format!("{path}.resourceNames[{index}]");
        let complaints = names::name_is_path_segment(text(name), false);
        report.names(&place, text(name), complaints);
        if !seen.insert(text(name)) {
            report.duplicate(place, name);
        }
    }
    let place = format!("{path}.operations");
    let operations = list(&rule["operations"]);
    if operations.is_empty() {
        report.required(place.clone());
    }
    if operations.len() > 1 && operations.iter().any(|operation| operation == "*") {
        let why = "if '*' is present, must not specify other operations";
        report.invalid(place.clone(), &rule["operations"], why);
    }
    for (index, operation) in operations.iter().enumerate() {
        let known = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
        report.one_of(format!("{place}[{index}]"), operation, &known);
    }
    for (field, what) in [("apiGroups", "API groups"), ("apiVersions", "API versions")] {
        let place = format!("{path}.{field}");
        let entries = list(&rule[field]);
        if entries.is_empty() {
            report.required(place.clone());
        }
        if entries.len() > 1 && entries.iter().any(|entry| entry == "*") {
            let why = format!("if '*' is present, must not specify other {what}");
            report.invalid(place.clone(), &rule[field], &why);
        }
        if field == "apiVersions" {
            for (index, entry) in entries.iter().enumerate() {
                if text(entry).is_empty() {
                    report.required(format!("{place}[{index}]"));
                }
            }
        }
    }
    resources(report, &rule["resources"], &format!("{path}.resources"));
    if rule["scope"].is_string() {
        let scopes = ["*", "Cluster", "Namespaced"];
        report.one_of(format!("{path}.scope"), &rule["scope"], &scopes);
    }
}

fn resources(report: &mut Report, resources: &Value, path: &str) {
    let entries = list(resources);
    if entries.is_empty() {
        report.required(path);
    }
    let mut all_parts_of = BTreeSet::new();
    let mut part_of_all = BTreeSet::new();
    let mut whole = false;
    for (index, entry) in entries.iter().enumerate() {
        let place = format!("{path}[{index}]");
        let name = text(entry);
        if name.is_empty() {
            report.required(place);
            continue;
        }
        let Some((resource, part)) = name.split_once('/') else {
            whole = name != "*";
            continue;
        };
        let mut refuse = |present: String| {
            let why = format!("if '{present}' is present, must not specify {name}");
            report.invalid(place.clone(), entry, &why);
        };
        if all_parts_of.contains(resource) {
            refuse(format!("{resource}/*"));
        }
        if part_of_all.contains(part) {
            refuse(format!("*/{part}"));
        }
        if part == "*" {
            all_parts_of.insert(resource);
        }
        if resource == "*" {
            part_of_all.insert(part);
        }
    }
    if entries.len() > 1 && entries.iter().any(|entry| entry == "*/*") {
        let why = "if '*/*' is present, must not specify other resources";
        report.invalid(path, resources, why);
    }
    if whole && entries.iter().any(|entry| entry == "*") {
        let why = "if '*' is present, must not specify other resources without subresources";
        report.invalid(path, resources, why);
    }
}

/// Whether a list is short enough.
fn at_most(report: &mut Report, path: &str, entries: &[Value], most: usize) -> bool {
    if entries.len() <= most {
        return true;
    }
    report.errors.push(FieldError {
        kind: Kind::TooMany,
        field: path.to_owned(),
        value: Some(json!(entries.len())),
        detail: format!("must have at most {most} items"),
    });
    false
}

fn conditions(report: &mut Report, conditions: &[Value], environment: &Environment) {
    let path = "spec.matchConditions";
    at_most(report, path, conditions, MAX_CONDITIONS);
    let mut seen = BTreeSet::new();
    for (index, condition) in conditions.iter().enumerate() {
        let path = format!("{path}[{index}]");
        let place = format!("{path}.expression");
        match text(&condition["expression"]).trim() {
            "" => report.required(place),
            expression => {
                compiles(report, environment, expression, &[Type::Bool], &place);
            }
        }
        let place = format!("{path}.name");
        match text(&condition["name"]) {
            "" => report.required(place),
            name => {
                report.names(&place, name, names::qualified_name(name));
                if !seen.insert(name) {
                    report.duplicate(place, &condition["name"]);
                }
            }
        }
    }
}

/// Checks a variable; tells the type of its values.
fn variable(report: &mut Report, variable: &Value, environment: &Environment, path: &str) -> Type {
    let name = text(&variable["name"]);
    let place = format!("{path}.name");
    if name.trim().is_empty() {
        report.required_because(place, "name is not specified");
    } else if !is_identifier(name) {
        report.invalid(place, &variable["name"], "must be a valid CEL identifier");
    }
    let place = format!("{path}.expression");
    let expression = text(&variable["expression"]);
    if expression.trim().is_empty() {
        report.required_because(place, "expression is not specified");
        return Type::Dyn;
    }
    compiles(report, environment, expression, &[], &place).unwrap_or(Type::Dyn)
}

fn validation(
    report: &mut Report,
    validation: &Value,
    asking: &Environment,
    telling: &Environment,
    path: &str,
) {
    let place = format!("{path}.expression");
    let expression = text(&validation["expression"]);
    if expression.trim().is_empty() {
        report.required_because(place, "expression is not specified");
    } else {
        compiles(report, asking, expression, &[Type::Bool], &place);
    }
    let place = format!("{path}.messageExpression");
    let expression = text(&validation["messageExpression"]);
    if !expression.trim().is_empty() {
        compiles(report, telling, expression, &[Type::String], &place);
    } else if !expression.is_empty() {
        let value = &validation["messageExpression"];
        report.invalid(place, value, "must be non-empty if specified");
    }
    let place = format!("{path}.message");
    let message = text(&validation["message"]);
    if !message.is_empty() && message.trim().is_empty() {
        report.invalid(
            place,
            &validation["message"],
            "must be non-empty if specified",
        );
    } else if message.trim().contains(['\n', '\r']) {
        report.invalid(
            place,
            &validation["message"],
            "must not contain line breaks",
        );
    }
    let reasons = ["Forbidden", "Invalid", "RequestEntityTooLarge"];
    report.one_of_if_set(format!("{path}.reason"), &validation["reason"], &reasons);
}

fn annotation(
    report: &mut Report,
    policy: &str,
    annotation: &Value,
    environment: &Environment,
    path: &str,
) {
    let place = format!("{path}.key");
    if policy.is_empty() {
        let why = "requires metadata.name be non-empty";
        report.invalid(place, &annotation["key"], why);
    } else {
        let name = format!("{policy}/{}", text(&annotation["key"]));
        report.names(&place, &name, names::qualified_name(&name));
    }
    let place = format!("{path}.valueExpression");
    let expression = text(&annotation["valueExpression"]).trim();
    if expression.is_empty() {
        report.required_because(place, "valueExpression is not specified");
    } else if expression.len() > MAX_ANNOTATION_EXPRESSION_BYTES {
        let why = format!("must not exceed {MAX_ANNOTATION_EXPRESSION_BYTES} bytes in length");
        report.required_because(place, &why);
    } else {
        compiles(report, environment, expression, &ANNOTATION_TYPES, &place);
    }
}

/// Compiles an expression for its mistakes; tells the type of what it gives.
fn compiles(
    report: &mut Report,
    environment: &Environment,
    expression: &str,
    wanted: &[Type],
    path: &str,
) -> Option<Type> {
    match environment.compile(expression, wanted) {
        Ok(program) => return Some(program.result_type().clone()),
        Err(Mistake::Invalid(why)) => report.invalid(path, &json!(expression), &why),
        Err(Mistake::Internal(why)) => report.shown(Kind::Internal, path, &why, ""),
    }
    None
}

fn param_ref(report: &mut Report, reference: &Value, path: &str) {
    let name = text(&reference["name"]);
    let place = format!("{path}.name");
    let both = "name and selector are mutually exclusive";
    let has_selector = reference["selector"].is_object();
    if !name.is_empty() {
        report.names(&place, name, names::name_is_path_segment(name, false));
        if has_selector {
            report.forbidden(place, both);
        }
    }
    if has_selector {
        let place = format!("{path}.selector");
        selector::check(report, &reference["selector"], &place);
        if !name.is_empty() {
            report.forbidden(place, both);
        }
    }
    if name.is_empty() && !has_selector {
        report.required_because(path, "one of name or selector must be specified");
    }
    let place = format!("{path}.parameterNotFoundAction");
    if text(&reference["parameterNotFoundAction"]).is_empty() {
        report.required(place);
    } else {
        let action = &reference["parameterNotFoundAction"];
        report.one_of(place, action, &["Deny", "Allow"]);
    }
}

fn actions(report: &mut Report, actions: &Value, path: &str) {
    let mut seen = BTreeSet::new();
    for (index, action) in list(actions).iter().enumerate() {
        let place = format!("{path}[{index}]");
        report.one_of(place.clone(), action, &["Audit", "Deny", "Warn"]);
        if !seen.insert(text(action)) {
            report.duplicate(place, action);
        }
    }
    if seen.contains("Deny") && seen.contains("Warn") {
        let why = "must not contain both Deny and Warn (repeating the same validation failure \
                   information in the API response and headers serves no purpose)";
        report.invalid(path, actions, why);
    }
    if seen.is_empty() {
        report.required_because(path, "at least one validation action is required");
    }
}
