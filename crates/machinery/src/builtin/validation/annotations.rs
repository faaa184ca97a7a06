//! Annotations that mean something to pods, some of them older than the fields that replaced them.

use serde_json::Value;

use super::{
    container,
    report::{Report, text},
};

const MIRROR: &str = "kubernetes.io/config.mirror";
const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";
const SECCOMP_OF_POD: &str = "seccomp.security.alpha.kubernetes.io/pod";
const SECCOMP_OF_CONTAINER: &str = "container.seccomp.security.alpha.kubernetes.io/";
const APP_ARMOR: &str = "container.apparmor.security.beta.kubernetes.io/";
const LOCAL: &str = "localhost/";

/// The annotations of a pod or of a template.
pub(super) fn of_pod(report: &mut Report, pod: &Value, path: &str) {
    let annotations = &pod["metadata"]["annotations"];
    let spec = &pod["spec"];
    if annotations[MIRROR].is_string() && text(&spec["nodeName"]).is_empty() {
        let why = "must set spec.nodeName if mirror pod annotation is set";
        report.invalid(format!("{path}[{MIRROR}]"), &annotations[MIRROR], why);
    }
    let cost = &annotations[DELETION_COST];
    if cost.as_str().is_some_and(|cost| !is_cost(cost)) {
        let why = "must be a 32bit integer";
        report.invalid(format!("{path}[{DELETION_COST}]"), cost, why);
    }
    for (key, value) in annotations.as_object().into_iter().flatten() {
        if key == SECCOMP_OF_POD || key.starts_with(SECCOMP_OF_CONTAINER) {
            let at = format!("{path}.{key}");
            match text(value) {
                "runtime/default" | "docker/default" | "unconfined" => {}
                profile => match profile.strip_prefix(LOCAL) {
                    Some(place) => report.descends(&at, &place.into()),
                    None => report.invalid(at, value, "must be a valid seccomp profile"),
                },
            }
        }
    }
    for (key, value) in annotations.as_object().into_iter().flatten() {
        let Some(name) = key.strip_prefix(APP_ARMOR) else {
            continue;
        };
        let at = format!("{path}[{key}]");
        let known = container::all(spec, "")
            .iter()
            .any(|(container, _)| text(&container["name"]) == name);
        if !known {
            report.invalid(at.as_str(), &name.into(), "container not found");
        }
        let profile = text(value);
        let valid = matches!(profile, "" | "runtime/default" | "unconfined");
        if !valid && !profile.starts_with(LOCAL) {
            let why = format!("invalid AppArmor profile name: {profile:?}");
            report.invalid(at, value, &why);
        }
    }
}

/// Whole numbers without a plus sign or leading zeros.
fn is_cost(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = text == "0" || digits.starts_with(|c: char| ('1'..='9').contains(&c));
    plain && text.parse::<i32>().is_ok()
}

/// Profiles that are given both ways must be the same.
pub(super) fn agree_with_fields(report: &mut Report, pod: &Value, path: &str) {
    let annotations = &pod["metadata"]["annotations"];
    let spec = &pod["spec"];
    let at = format!("{path}.securityContext.seccompProfile");
    let profile = &spec["securityContext"]["seccompProfile"];
    same(
        report,
        "seccomp",
        &annotations[SECCOMP_OF_POD],
        profile,
        &at,
    );
    for (container, path) in container::all(spec, path) {
        let key = format!("{SECCOMP_OF_CONTAINER}{}", text(&container["name"]));
        let profile = &container["securityContext"]["seccompProfile"];
        let at = format!("{path}.securityContext.seccompProfile");
        same(report, "seccomp", &annotations[key.as_str()], profile, &at);
    }
    if spec["os"]["name"] == "windows" {
        return;
    }
    for (container, path) in container::all(spec, path) {
        let key = format!("{APP_ARMOR}{}", text(&container["name"]));
        let profile = match &container["securityContext"]["appArmorProfile"] {
            Value::Null => &spec["securityContext"]["appArmorProfile"],
            own => own,
        };
        let at = format!("{path}.securityContext.appArmorProfile");
        same(report, "apparmor", &annotations[key.as_str()], profile, &at);
    }
}

fn same(report: &mut Report, what: &str, annotation: &Value, profile: &Value, path: &str) {
    let (Some(annotation), true) = (annotation.as_str(), profile.is_object()) else {
        return;
    };
    let same_type = match text(&profile["type"]) {
        "Unconfined" => annotation == "unconfined",
        "RuntimeDefault" => {
            annotation == "runtime/default" || (what == "seccomp" && annotation == "docker/default")
        }
        "Localhost" => annotation.starts_with(LOCAL),
        _ => true,
    };
    if !same_type {
        let why = format!("{what} type in annotation and field must match");
        report.forbidden(format!("{path}.type"), &why);
    } else if let Some(place) = annotation.strip_prefix(LOCAL)
        && profile["localhostProfile"].as_str() != Some(place)
    {
        let why = format!("{what} profile in annotation and field must match");
        report.forbidden(format!("{path}.localhostProfile"), &why);
    }
}
