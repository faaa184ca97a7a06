//! Settings for pods on Windows, and those that mean nothing there.

use serde_json::{Value, json};

use super::{
    container,
    report::{Report, list},
};
use crate::names;

const LONGEST_CREDENTIALS: usize = 64 * 1024;
const LONGEST_DOMAIN: usize = 256;
const LONGEST_USER: usize = 104;
const NOT_IN_USERS: &str = "\"/\\:;|=,+*?<>@[]";

/// Of a pod's security context, in the order in which they are looked at; the second tells which of them stand
/// beside the context.
const POD_FIELDS: [(&str, bool); 15] = [
    ("appArmorProfile", false),
    ("seLinuxOptions", false),
    ("hostUsers", true),
    ("hostPID", true),
    ("hostIPC", true),
    ("seccompProfile", false),
    ("fsGroup", false),
    ("fsGroupChangePolicy", false),
    ("sysctls", false),
    ("shareProcessNamespace", true),
    ("runAsUser", false),
    ("runAsGroup", false),
    ("supplementalGroups", false),
    ("supplementalGroupsPolicy", false),
    ("seLinuxChangePolicy", false),
];
const CONTAINER_FIELDS: [&str; 10] = [
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "capabilities",
    "readOnlyRootFilesystem",
    "privileged",
    "allowPrivilegeEscalation",
    "procMount",
    "runAsUser",
    "runAsGroup",
];

/// `windowsOptions` of a security context.
pub(super) fn options(report: &mut Report, options: &Value, path: &str) {
    let name = &options["gmsaCredentialSpecName"];
    if let Some(text) = name.as_str() {
        let complaints = names::dns_1123_subdomain(text);
        report.names(&format!("{path}.gmsaCredentialSpecName"), text, complaints);
    }
    let credentials = &options["gmsaCredentialSpec"];
    let at = format!("{path}.gmsaCredentialSpec");
    match credentials.as_str().map(str::len) {
        Some(0) => {
            let why = "gmsaCredentialSpec cannot be an empty string";
            report.invalid(at, credentials, why);
        }
        Some(length) if length > LONGEST_CREDENTIALS => {
            report.invalid(
                at,
                credentials,
                "gmsaCredentialSpec size must be under 64 KiB",
            );
        }
        _ => {}
    }
    if let Some(user) = options["runAsUserName"].as_str() {
        for complaint in user_name(user) {
            report.invalid(format!("{path}.runAsUserName"), &json!(user), &complaint);
        }
    }
}

fn user_name(name: &str) -> Vec<String> {
    let parts: Vec<&str> = name.split('\\').collect();
    let (domain, user) = match parts[..] {
        _ if name.is_empty() => return vec!["runAsUserName cannot be an empty string".to_owned()],
        _ if name.chars().any(|c| c.is_ascii_control()) => {
            return vec!["runAsUserName cannot contain control characters".to_owned()];
        }
        [user] => (None, user),
        [domain, user] => (Some(domain), user),
        _ => return vec!["runAsUserName cannot contain more than one backslash".to_owned()],
    };
    let mut found = Vec::new();
    if domain.is_some_and(|domain| domain.len() >= LONGEST_DOMAIN) {
        found.push(format!(
            "runAsUserName's Domain length must be under {LONGEST_DOMAIN} characters"
        ));
    }
    if domain.is_some_and(|domain| !is_domain(domain)) {
        let why = "runAsUserName's Domain doesn't match the NetBios nor the DNS format";
        found.push(why.to_owned());
    }
    if user.is_empty() {
        found.push("runAsUserName's User cannot be empty".to_owned());
    } else if user.len() > LONGEST_USER {
        found.push(format!(
            "runAsUserName's User length must not be longer than {LONGEST_USER} characters"
        ));
    }
    if !user.is_empty() && user.chars().all(|c| ". ".contains(c)) {
        found.push("runAsUserName's User cannot contain only periods or spaces".to_owned());
    }
    if user.contains(|c| NOT_IN_USERS.contains(c)) {
        found.push(format!(
            "runAsUserName's User cannot contain the following characters: {NOT_IN_USERS}"
        ));
    }
    found
}

fn is_domain(domain: &str) -> bool {
    let net_bios = (1..=15).contains(&domain.len())
        && !domain.starts_with('.')
        && !domain.contains(|c| "\\/:*?\"<>|".contains(c));
    let label = |label: &str| {
        label.len() <= 63
            && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
            && label.starts_with(|c: char| c.is_ascii_alphanumeric())
            && label.ends_with(|c: char| c.is_ascii_alphanumeric())
    };
    net_bios || domain.split('.').all(label)
}

/// Containers that are processes of the node: all or none, and with its network.
pub(super) fn host_processes(report: &mut Report, spec: &Value, path: &str) {
    let wanted = |context: &Value| context["windowsOptions"]["hostProcess"].as_bool();
    let of_pod = wanted(&spec["securityContext"]);
    let containers = container::all(spec, path);
    let mut count = 0;
    for (container, path) in &containers {
        let own = wanted(&container["securityContext"]);
        if let (Some(of_pod), Some(own)) = (of_pod, own)
            && of_pod != own
        {
            let why = format!(
                "pod hostProcess value must be identical if both are specified, was {of_pod}"
            );
            let at = format!("{path}.securityContext.windowsOptions.hostProcess");
            report.invalid(at, &json!(own), &why);
        }
        count += usize::from(own.or(of_pod).unwrap_or(false));
    }
    if count == 0 {
        return;
    }
    if count != containers.len() {
        let why = "If pod contains any hostProcess containers then all containers must be HostProcess containers";
        report.invalid(path, &json!(""), why);
    }
    if spec["hostNetwork"] != json!(true) {
        let why = "hostNetwork must be true if pod contains any hostProcess containers";
        report.invalid(format!("{path}.hostNetwork"), &json!(false), why);
    }
}

/// A pod for Linux has no options of Windows.
pub(super) fn forbidden_elsewhere(report: &mut Report, spec: &Value, path: &str) {
    let why = "windows options cannot be set for a linux pod";
    let mut check = |context: &Value, path: &str| {
        if context["windowsOptions"].is_object() {
            report.forbidden(format!("{path}.securityContext.windowsOptions"), why);
        }
    };
    check(&spec["securityContext"], path);
    for (container, path) in container::all(spec, path) {
        check(&container["securityContext"], &path);
    }
}

/// A pod for Windows has nothing that only Linux knows.
pub(super) fn only(report: &mut Report, spec: &Value, path: &str) {
    let why = "cannot be set for a windows pod";
    for (field, beside) in POD_FIELDS {
        let (value, at) = if beside {
            (&spec[field], format!("{path}.{field}"))
        } else {
            let context = &spec["securityContext"];
            (&context[field], format!("{path}.securityContext.{field}"))
        };
        let unset = match field {
            "hostPID" | "hostIPC" => value != &json!(true),
            "sysctls" => list(value).is_empty(),
            _ => value.is_null(),
        };
        if !unset {
            report.forbidden(at, why);
        }
    }
    for (container, path) in container::all(spec, path) {
        for field in CONTAINER_FIELDS {
            if !container["securityContext"][field].is_null() {
                report.forbidden(format!("{path}.securityContext.{field}"), why);
            }
        }
    }
}
