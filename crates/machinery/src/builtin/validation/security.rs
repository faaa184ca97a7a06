//! Security contexts of pods and containers, and what an operating system has no use for.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{
    container,
    report::{Report, list, text},
    windows,
};

const MOST_ID: i64 = i32::MAX as i64;
const LONGEST_PROFILE: usize = 4095;
const PROFILES: [&str; 3] = ["Localhost", "RuntimeDefault", "Unconfined"];
/// Kernel parameters that belong to an IPC namespace, besides those of message queues.
const IPC_SETTINGS: [&str; 10] = [
    "kernel.sem",
    "kernel.shmall",
    "kernel.shmmax",
    "kernel.shmmni",
    "kernel.shm_rmid_forced",
    "kernel.shm",
    "kernel.msgmax",
    "kernel.msgmnb",
    "kernel.msgmni",
    "kernel.msg",
];
const SYSCTL: &str = "must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";

/// The security context of a whole pod.
pub(super) fn pod(report: &mut Report, spec: &Value, path: &str) {
    let context = &spec["securityContext"];
    let at = |field: &str| format!("{path}.securityContext.{field}");
    for field in ["fsGroup", "runAsUser", "runAsGroup"] {
        report.within(at(field), &context[field], 0, MOST_ID);
    }
    for (index, group) in list(&context["supplementalGroups"]).iter().enumerate() {
        let at = format!("{}[{index}]", at("supplementalGroups"));
        report.within(at, group, 0, MOST_ID);
    }
    let shared = &spec["shareProcessNamespace"];
    if shared == &json!(true) && spec["hostPID"] == json!(true) {
        let why = "ShareProcessNamespace and HostPID cannot both be enabled";
        report.invalid(at("shareProcessNamespace"), shared, why);
    }
    sysctls(report, spec, &at("sysctls"));
    let policies = ["Always", "OnRootMismatch"];
    let policy = &context["fsGroupChangePolicy"];
    report.one_of_if_set(at("fsGroupChangePolicy"), policy, &policies);
    seccomp(report, &context["seccompProfile"], &at("seccompProfile"));
    windows::options(report, &context["windowsOptions"], &at("windowsOptions"));
    app_armor(report, &context["appArmorProfile"], &at("appArmorProfile"));
    let policies = ["Merge", "Strict"];
    let policy = &context["supplementalGroupsPolicy"];
    report.one_of_if_set(at("supplementalGroupsPolicy"), policy, &policies);
    let policies = ["MountOption", "Recursive"];
    let policy = &context["seLinuxChangePolicy"];
    report.one_of_if_set(at("seLinuxChangePolicy"), policy, &policies);
}

/// The security context of a container. `host_users`: the pod shares the users of its node.
pub(super) fn of_container(report: &mut Report, context: &Value, path: &str, host_users: bool) {
    let at = |field: &str| format!("{path}.{field}");
    for field in ["runAsUser", "runAsGroup"] {
        report.within(at(field), &context[field], 0, MOST_ID);
    }
    let mount = &context["procMount"];
    report.one_of_if_set(at("procMount"), mount, &["Default", "Unmasked"]);
    if host_users && mount == "Unmasked" {
        let why = "`hostUsers` must be false to use `Unmasked`";
        report.invalid(at("procMount"), mount, why);
    }
    seccomp(report, &context["seccompProfile"], &at("seccompProfile"));
    if context["allowPrivilegeEscalation"] == json!(false) {
        if context["privileged"] == json!(true) {
            let why = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true";
            report.invalid(path, context, why);
        }
        for capability in list(&context["capabilities"]["add"]) {
            if capability == "CAP_SYS_ADMIN" {
                let why = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN";
                report.invalid(path, context, why);
            }
        }
    }
    windows::options(report, &context["windowsOptions"], &at("windowsOptions"));
    app_armor(report, &context["appArmorProfile"], &at("appArmorProfile"));
}

fn sysctls(report: &mut Report, spec: &Value, path: &str) {
    let mut seen = BTreeSet::new();
    for (index, setting) in list(&spec["securityContext"]["sysctls"]).iter().enumerate() {
        let name = text(&setting["name"]);
        let at = format!("{path}[{index}].name");
        if name.is_empty() {
            report.required(at.as_str());
        } else if !is_sysctl(name) {
            report.invalid(at.as_str(), &setting["name"], SYSCTL);
        } else if seen.contains(name) {
            report.duplicate(at.as_str(), &setting["name"]);
        }
        let of_network = name.replace('/', ".").starts_with("net.");
        if of_network && spec["hostNetwork"] == json!(true) {
            let why = "may not be specified when 'hostNetwork' is true";
            report.invalid(at, &setting["name"], why);
        } else if is_of_ipc(name) && spec["hostIPC"] == json!(true) {
            let why = "may not be specified when 'hostIPC' is true";
            report.invalid(at, &setting["name"], why);
        }
        seen.insert(name);
    }
}

fn is_of_ipc(name: &str) -> bool {
    let name = name.replace('/', ".");
    name.starts_with("fs.mqueue.") || IPC_SETTINGS.contains(&name.as_str())
}

fn is_sysctl(name: &str) -> bool {
    let part = |part: &str| {
        let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
        let edge = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        part.starts_with(edge) && part.ends_with(edge) && part.chars().all(inner)
    };
    name.len() <= 253 && name.split(['.', '/']).all(part)
}

fn seccomp(report: &mut Report, profile: &Value, path: &str) {
    if !profile.is_object() {
        return;
    }
    let kind = text(&profile["type"]);
    if kind.is_empty() {
        let why = "type is required when seccompProfile is set";
        report.required_because(format!("{path}.type"), why);
    } else {
        report.one_of(format!("{path}.type"), &profile["type"], &PROFILES);
    }
    let at = format!("{path}.localhostProfile");
    let local = &profile["localhostProfile"];
    match (kind, local.is_string()) {
        ("Localhost", false) => {
            report.required_because(at, "must be set when seccomp type is Localhost");
        }
        ("Localhost", true) => report.descends(&at, local),
        (_, true) => {
            let why = "can only be set when seccomp type is Localhost";
            report.invalid(at, profile, why);
        }
        (_, false) => {}
    }
}

fn app_armor(report: &mut Report, profile: &Value, path: &str) {
    if !profile.is_object() {
        return;
    }
    let at = format!("{path}.localhostProfile");
    let local = &profile["localhostProfile"];
    let place = text(local);
    match text(&profile["type"]) {
        "Localhost" => {
            if place.trim() != place {
                report.invalid(at.as_str(), local, "must not be padded with whitespace");
            } else if place.is_empty() {
                let why = "must be set when AppArmor type is Localhost";
                report.required_because(at.as_str(), why);
            }
            if place.len() > LONGEST_PROFILE {
                report.too_long(at, LONGEST_PROFILE);
            }
        }
        "RuntimeDefault" | "Unconfined" => {
            if local.is_string() {
                let why = "can only be set when AppArmor type is Localhost";
                report.invalid(at, local, why);
            }
        }
        "" => {
            let why = "type is required when appArmorProfile is set";
            report.required_because(format!("{path}.type"), why);
        }
        _ => report.one_of(format!("{path}.type"), &profile["type"], &PROFILES),
    }
}

/// A pod with users of its own shares nothing else with its node.
pub(super) fn host_users(report: &mut Report, spec: &Value, path: &str) {
    if spec["hostUsers"] != json!(false) {
        return;
    }
    let why = "when `hostUsers` is false";
    for (field, shown) in [
        ("hostNetwork", "hostNetwork"),
        ("hostPID", "HostPID"),
        ("hostIPC", "HostIPC"),
    ] {
        if spec[field] == json!(true) {
            report.forbidden(format!("{path}.{shown}"), why);
        }
    }
    for (container, path) in container::all(spec, path) {
        if !list(&container["volumeDevices"]).is_empty() {
            report.forbidden(format!("{path}.volumeDevices"), why);
        }
    }
}

/// The operating system, and settings that are meant for another.
pub(super) fn system(report: &mut Report, spec: &Value, path: &str) {
    if !spec["os"].is_object() {
        return;
    }
    match text(&spec["os"]["name"]) {
        "" => report.required(format!("{path}.os.name")),
        "linux" => windows::forbidden_elsewhere(report, spec, path),
        "windows" => windows::only(report, spec, path),
        _ => report.one_of(
            format!("{path}.os"),
            &spec["os"]["name"],
            &["linux", "windows"],
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(spec: &Value) -> Vec<String> {
        let mut report = Report::default();
        pod(&mut report, spec, "spec");
        host_users(&mut report, spec, "spec");
        system(&mut report, spec, "spec");
        report.errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_local_profile_is_named_and_lies_below() {
        let profile = |profile: Value| json!({"securityContext": {"seccompProfile": profile}});
        assert_eq!(
            found(&profile(json!({"type": "Localhost"}))),
            [
                "spec.securityContext.seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost"
            ]
        );
        assert_eq!(
            found(&profile(
                json!({"type": "Localhost", "localhostProfile": "/a"})
            )),
            [
                "spec.securityContext.seccompProfile.localhostProfile: Invalid value: \"/a\": must be a relative path"
            ]
        );
        assert!(found(&profile(json!({"type": "RuntimeDefault"}))).is_empty());
    }

    #[test]
    fn settings_of_the_node_need_namespaces_of_their_own() {
        let spec = json!({
            "hostNetwork": true,
            "securityContext": {"sysctls": [{"name": "net.core.somaxconn"}, {"name": "kernel.sem"}]},
        });
        assert_eq!(
            found(&spec),
            [
                "spec.securityContext.sysctls[0].name: Invalid value: \"net.core.somaxconn\": may not be specified when 'hostNetwork' is true"
            ]
        );
    }

    #[test]
    fn windows_knows_no_user_ids() {
        let spec = json!({"os": {"name": "windows"}, "securityContext": {"runAsUser": 1}});
        assert_eq!(
            found(&spec),
            ["spec.securityContext.runAsUser: Forbidden: cannot be set for a windows pod"]
        );
    }
}
