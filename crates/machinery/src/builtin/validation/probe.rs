//! Probes and lifecycle handlers.

use serde_json::{Value, json};

use super::report::{Report, list, text};

/// The lifecycle and the probes of a container in the pod of `spec`.
pub(super) fn all(report: &mut Report, container: &Value, spec: &Value, path: &str) {
    let grace = spec["terminationGracePeriodSeconds"].as_i64();
    lifecycle(report, container, grace, path);
    for kind in ["livenessProbe", "readinessProbe", "startupProbe"] {
        probe(report, &container[kind], kind, &format!("{path}.{kind}"));
    }
}

/// A probe of the given kind (`livenessProbe` …), if there is one.
fn probe(report: &mut Report, probe: &Value, kind: &str, path: &str) {
    if !probe.is_object() {
        return;
    }
    handler(report, probe, None, path);
    for field in [
        "initialDelaySeconds",
        "timeoutSeconds",
        "periodSeconds",
        "successThreshold",
        "failureThreshold",
    ] {
        report.not_negative(format!("{path}.{field}"), &probe[field]);
    }
    let grace = &probe["terminationGracePeriodSeconds"];
    let at = format!("{path}.terminationGracePeriodSeconds");
    if kind == "readinessProbe" {
        if grace.is_number() {
            report.invalid(at, grace, "must not be set for readinessProbes");
        }
        return;
    }
    if grace.as_i64().is_some_and(|seconds| seconds <= 0) {
        report.invalid(at, grace, "must be greater than 0");
    }
    let threshold = &probe["successThreshold"];
    if threshold.as_i64() != Some(1) {
        report.invalid(format!("{path}.successThreshold"), threshold, "must be 1");
    }
}

/// What a container does when it starts and before it stops.
fn lifecycle(report: &mut Report, container: &Value, grace: Option<i64>, path: &str) {
    for moment in ["postStart", "preStop"] {
        let action = &container["lifecycle"][moment];
        if action.is_object() {
            handler(report, action, grace, &format!("{path}.lifecycle.{moment}"));
        }
    }
}

fn handler(report: &mut Report, handler: &Value, grace: Option<i64>, path: &str) {
    let mut found = 0;
    for kind in ["exec", "httpGet", "tcpSocket", "grpc", "sleep"] {
        let action = &handler[kind];
        if !action.is_object() {
            continue;
        }
        let path = format!("{path}.{kind}");
        if found > 0 {
            report.forbidden(path, "may not specify more than 1 handler type");
            continue;
        }
        found += 1;
        match kind {
            "exec" if list(&action["command"]).is_empty() => {
                report.required(format!("{path}.command"));
            }
            "httpGet" => {
                if text(&action["path"]).is_empty() {
                    report.required(format!("{path}.path"));
                }
                let port = &action["port"];
                let port = if port.is_null() { &json!(0) } else { port };
                report.port_or_name(&format!("{path}.port"), port);
                report.one_of(
                    format!("{path}.scheme"),
                    &action["scheme"],
                    &["HTTP", "HTTPS"],
                );
                for header in list(&action["httpHeaders"]) {
                    header_name(report, &header["name"], &format!("{path}.httpHeaders"));
                }
            }
            "tcpSocket" => report.port_or_name(&format!("{path}.port"), &action["port"]),
            "grpc" => {
                let number = action["port"].as_i64().unwrap_or_default();
                report.port(format!("{path}.port"), number);
            }
            "sleep" => {
                let seconds = action["seconds"].as_i64().unwrap_or_default();
                if let Some(grace) = grace.filter(|grace| !(0..=*grace).contains(&seconds)) {
                    let why = format!(
                        "must be non-negative and less than terminationGracePeriodSeconds ({grace})"
                    );
                    report.invalid(path, &json!(seconds), &why);
                }
            }
            _ => {}
        }
    }
    if found == 0 {
        report.required_because(path, "must specify a handler type");
    }
}

fn header_name(report: &mut Report, name: &Value, path: &str) {
    let fits = |name: &str| {
        let mut letters = name.bytes();
        !name.is_empty() && letters.all(|letter| letter == b'-' || letter.is_ascii_alphanumeric())
    };
    if !fits(text(name)) {
        let why = "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')";
        report.invalid(path, name, why);
    }
}
