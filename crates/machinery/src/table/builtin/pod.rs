//! Pods: what a container's state tells about its pod.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::cells::{NONE, len, list, number, since, text_or};

/// What the containers tell together.
struct Summary {
    ready: usize,
    restarts: i64,
    last_restart: Option<String>,
    reason: String,
}

pub(super) fn row(pod: &Value, name: Value, age: Value, now: Timestamp) -> Vec<Value> {
    let (spec, status) = (&pod["spec"], &pod["status"]);
    let sidecars: Vec<&str> = list(&spec["initContainers"])
        .iter()
        .filter(|container| container["restartPolicy"] == "Always")
        .filter_map(|container| container["name"].as_str())
        .collect();
    let total = len(&spec["containers"]) + sidecars.len();
    let mut summary = Summary {
        ready: 0,
        restarts: 0,
        last_restart: None,
        reason: first_reason(status),
    };
    let sidecar_summary = initialisation(&mut summary, pod, &sidecars);
    if let Some((restarts, last_restart)) = sidecar_summary {
        summary.restarts = restarts;
        summary.last_restart = last_restart;
        containers(&mut summary, status);
    }
    let deleted = pod["metadata"]["deletionTimestamp"].is_string();
    let ended = matches!(status["phase"].as_str(), Some("Succeeded" | "Failed"));
    if deleted && status["reason"] == "NodeLost" {
        "Unknown".clone_into(&mut summary.reason);
    } else if deleted && !ended {
        "Terminating".clone_into(&mut summary.reason);
    }
    let mut restarts = summary.restarts.to_string();
    if let (true, Some(time)) = (summary.restarts != 0, &summary.last_restart) {
        let ago = since(&json!(time), now);
        restarts = format!("{restarts} ({} ago)", ago.as_str().unwrap_or_default());
    }
    vec![
        name,
        json!(format!("{}/{total}", summary.ready)),
        json!(summary.reason),
        json!(restarts),
        age,
        json!(text_or(&status["podIPs"][0]["ip"], NONE)),
        json!(text_or(&spec["nodeName"], NONE)),
        json!(text_or(&status["nominatedNodeName"], NONE)),
        json!(readiness_gates(spec, status)),
    ]
}

fn first_reason(status: &Value) -> String {
    let gated = list(&status["conditions"]).iter().any(|condition| {
        condition["type"] == "PodScheduled" && condition["reason"] == "SchedulingGated"
    });
    if gated {
        return "SchedulingGated".to_owned();
    }
    let phase = status["phase"].as_str().unwrap_or_default();
    text_or(&status["reason"], phase)
}

/// Looks at init containers. Gives the restarts of sidecars if the pod is past its initialisation.
fn initialisation(
    summary: &mut Summary,
    pod: &Value,
    sidecars: &[&str],
) -> Option<(i64, Option<String>)> {
    let (spec, status) = (&pod["spec"], &pod["status"]);
    let mut sidecar_restarts = (0, None);
    let mut initialising = false;
    for (at, container) in list(&status["initContainerStatuses"]).iter().enumerate() {
        let is_sidecar = container["name"]
            .as_str()
            .is_some_and(|name| sidecars.contains(&name));
        summary.restarts += number(&container["restartCount"]);
        later(&mut summary.last_restart, container);
        if is_sidecar {
            sidecar_restarts.0 += number(&container["restartCount"]);
            later(&mut sidecar_restarts.1, container);
        }
        let state = &container["state"];
        let ended = &state["terminated"];
        let waiting = text_or(&state["waiting"]["reason"], "");
        if ended.is_object() && number(&ended["exitCode"]) == 0 {
            continue;
        }
        if is_sidecar && container["started"] == json!(true) {
            summary.ready += usize::from(container["ready"] == json!(true));
            continue;
        }
        summary.reason = if ended.is_object() {
            format!("Init:{}", end_reason(ended))
        } else if !waiting.is_empty() && waiting != "PodInitializing" {
            format!("Init:{waiting}")
        } else {
            format!("Init:{at}/{}", len(&spec["initContainers"]))
        };
        initialising = true;
        break;
    }
    let initialised = condition(status, "Initialized");
    (!initialising || initialised).then_some(sidecar_restarts)
}

fn containers(summary: &mut Summary, status: &Value) {
    let mut running = false;
    let mut error = None;
    for container in list(&status["containerStatuses"]).iter().rev() {
        summary.restarts += number(&container["restartCount"]);
        later(&mut summary.last_restart, container);
        let state = &container["state"];
        let waiting = text_or(&state["waiting"]["reason"], "");
        let ended = &state["terminated"];
        if !waiting.is_empty() {
            summary.reason = waiting;
        } else if ended.is_object() {
            summary.reason = end_reason(ended);
            if number(&ended["exitCode"]) != 0 {
                error = Some(summary.reason.clone());
            }
        } else if container["ready"] == json!(true) && state["running"].is_object() {
            running = true;
            summary.ready += 1;
        }
    }
    if summary.reason == "Completed" {
        if running && condition(status, "Ready") {
            "Running".clone_into(&mut summary.reason);
        } else if let Some(error) = error {
            summary.reason = error;
        } else if running {
            "NotReady".clone_into(&mut summary.reason);
        }
    }
}

fn end_reason(ended: &Value) -> String {
    match (text_or(&ended["reason"], ""), number(&ended["signal"])) {
        (reason, _) if !reason.is_empty() => reason,
        (_, 0) => format!("ExitCode:{}", number(&ended["exitCode"])),
        (_, signal) => format!("Signal:{signal}"),
    }
}

fn later(last: &mut Option<String>, container: &Value) {
    let finished = container["lastState"]["terminated"]["finishedAt"].as_str();
    if let Some(finished) = finished
        && last.as_deref().is_none_or(|known| known < finished)
    {
        *last = Some(finished.to_owned());
    }
}

fn condition(status: &Value, ty: &str) -> bool {
    list(&status["conditions"])
        .iter()
        .any(|condition| condition["type"] == ty && condition["status"] == "True")
}

fn readiness_gates(spec: &Value, status: &Value) -> String {
    let gates = list(&spec["readinessGates"]);
    if gates.is_empty() {
        return NONE.to_owned();
    }
    let open = gates
        .iter()
        .filter(|gate| condition(status, gate["conditionType"].as_str().unwrap_or_default()))
        .count();
    format!("{open}/{}", gates.len())
}
