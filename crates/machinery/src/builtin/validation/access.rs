//! Roles, bindings and certificate requests.

use std::cmp::Ordering;

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

use super::report::{Report, list, text};
use crate::names;

const RBAC: &str = "rbac.authorization.k8s.io";

pub(super) fn role(report: &mut Report, role: &Value, namespaced: bool) {
    for (index, rule) in list(&role["rules"]).iter().enumerate() {
        let path = format!("rules[{index}]");
        if list(&rule["verbs"]).is_empty() {
            let why = "verbs must contain at least one value";
            report.required_because(format!("{path}.verbs"), why);
        }
        let (groups, resources) = (list(&rule["apiGroups"]), list(&rule["resources"]));
        if !list(&rule["nonResourceURLs"]).is_empty() {
            let at = format!("{path}.nonResourceURLs");
            if namespaced {
                let why = "namespaced rules cannot apply to non-resource URLs";
                report.invalid(at.clone(), &rule["nonResourceURLs"], why);
            }
            let names = list(&rule["resourceNames"]);
            if !groups.is_empty() || !resources.is_empty() || !names.is_empty() {
                let why = "rules cannot apply to both regular resources and non-resource URLs";
                report.invalid(at, &rule["nonResourceURLs"], why);
            }
            continue;
        }
        if groups.is_empty() {
            let why = "resource rules must supply at least one api group";
            report.required_because(format!("{path}.apiGroups"), why);
        }
        if resources.is_empty() {
            let why = "resource rules must supply at least one resource";
            report.required_because(format!("{path}.resources"), why);
        }
    }
}

/// A role that is made of others says of which.
pub(super) fn aggregation(report: &mut Report, role: &Value) {
    let aggregated = &role["aggregationRule"];
    if !aggregated.is_object() {
        return;
    }
    let path = "aggregationRule.clusterRoleSelectors";
    let selectors = list(&aggregated["clusterRoleSelectors"]);
    if selectors.is_empty() {
        let why = "at least one clusterRoleSelector required if aggregationRule is non-nil";
        report.required_because(path, why);
    }
    for (index, selector) in selectors.iter().enumerate() {
        let at = format!("{path}[{index}]");
        let before = report.errors.len();
        super::selector::check(report, selector, &at);
        if report.errors.len() > before {
            report.invalid_shown(at, "null", "invalid label selector.");
        }
    }
}

pub(super) fn role_binding(report: &mut Report, binding: &Value, namespaced: bool) {
    let role = &binding["roleRef"];
    report.one_of("roleRef.apiGroup", &role["apiGroup"], &[RBAC]);
    let kinds: &[&str] = if namespaced {
        &["Role", "ClusterRole"]
    } else {
        &["ClusterRole"]
    };
    report.one_of("roleRef.kind", &role["kind"], kinds);
    match text(&role["name"]) {
        "" => report.required("roleRef.name"),
        name => report.names(
            "roleRef.name",
            name,
            names::name_is_path_segment(name, false),
        ),
    }
    for (index, subject) in list(&binding["subjects"]).iter().enumerate() {
        self::subject(report, subject, namespaced, &format!("subjects[{index}]"));
    }
}

fn subject(report: &mut Report, subject: &Value, namespaced: bool, path: &str) {
    let name = text(&subject["name"]);
    if name.is_empty() {
        report.required(format!("{path}.name"));
    }
    match text(&subject["kind"]) {
        "ServiceAccount" => {
            if !name.is_empty() {
                report.names(
                    &format!("{path}.name"),
                    name,
                    names::dns_1123_subdomain(name),
                );
            }
            if !text(&subject["apiGroup"]).is_empty() {
                report.one_of(format!("{path}.apiGroup"), &subject["apiGroup"], &[""]);
            }
            if !namespaced && text(&subject["namespace"]).is_empty() {
                report.required(format!("{path}.namespace"));
            }
        }
        "User" | "Group" => {
            report.one_of(format!("{path}.apiGroup"), &subject["apiGroup"], &[RBAC]);
        }
        _ => report.one_of(
            format!("{path}.kind"),
            &subject["kind"],
            &["ServiceAccount", "User", "Group"],
        ),
    }
}

/// Verdicts on a signing request stay, and come through `approval` only; the certificate comes through
/// `status` only, once.
pub(super) fn certificate_verdict(report: &mut Report, approving: bool, new: &Value, old: &Value) {
    let verdicts = |object: &Value, kind: &str| -> Vec<Value> {
        let conditions = list(&object["status"]["conditions"]).iter();
        conditions
            .filter(|condition| condition["type"] == kind)
            .cloned()
            .collect()
    };
    let at = "status.conditions";
    for kind in ["Approved", "Denied", "Failed"] {
        if verdicts(new, kind).len() < verdicts(old, kind).len() {
            let why = format!("updates may not remove a condition of type {kind:?}");
            report.forbidden(at, &why);
        }
    }
    for kind in ["Approved", "Denied"].into_iter().filter(|_| !approving) {
        let (new, old) = (verdicts(new, kind), verdicts(old, kind));
        let what = match new.len().cmp(&old.len()) {
            Ordering::Greater => "add",
            Ordering::Equal if new != old => "modify",
            Ordering::Equal | Ordering::Less => continue,
        };
        let why = format!("updates may not {what} a condition of type {kind:?}");
        report.forbidden(at, &why);
    }
    let certificate = |object: &Value| text(&object["status"]["certificate"]).to_owned();
    if certificate(new) != certificate(old) {
        let at = "status.certificate";
        if approving {
            report.forbidden(at, "updates may not set certificate content");
        } else if !certificate(old).is_empty() {
            report.forbidden(at, "updates may not modify existing certificate content");
        }
    }
}

pub(super) fn certificate_request(report: &mut Report, object: &Value) {
    let spec = &object["spec"];
    let request = BASE64_STANDARD
        .decode(text(&spec["request"]))
        .unwrap_or_default();
    let request = String::from_utf8_lossy(&request);
    if !request.contains("-----BEGIN CERTIFICATE REQUEST-----") {
        let why = "PEM block type must be CERTIFICATE REQUEST";
        report.invalid("spec.request", &json!(text(&spec["request"])), why);
    }
    if list(&spec["usages"]).is_empty() {
        report.required("spec.usages");
    }
    let signer = text(&spec["signerName"]);
    if signer
        .split_once('/')
        .is_none_or(|(domain, name)| !domain.contains('.') || name.is_empty())
    {
        let why = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
        report.invalid("spec.signerName", &json!(signer), why);
    }
    let seconds = &spec["expirationSeconds"];
    if seconds.as_i64().is_some_and(|seconds| seconds < 600) {
        let why = "may not specify a duration less than 600 seconds (10 minutes)";
        report.invalid("spec.expirationSeconds", seconds, why);
    }
}
