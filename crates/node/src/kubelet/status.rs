//! A pod's status, given what is known of it. Pure.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{
    Container, Restart,
    facts::{ContainerFacts, Doing, Exit, Facts, Since, Stopping},
};
use crate::clock::shown;

/// Where a pod is in its life.
pub(super) fn phase(facts: &Facts) -> &'static str {
    let plan = &facts.pod.plan;
    let both = || plan.containers.iter().zip(&facts.containers).enumerate();
    if facts.stopping == Stopping::Done {
        let is_well = both()
            .filter(|(_, (container, _))| !container.is_init)
            .all(|(_, (_, known))| matches!(&known.doing, Doing::Exited(exit) if exit.code == 0));
        return if is_well { "Succeeded" } else { "Failed" };
    }
    if !facts.is_initialized() {
        let has_failed = both().any(|(_, (container, known))| {
            container.is_init
                && !container.is_sidecar
                && plan.restart == Restart::Never
                && matches!(&known.doing, Doing::Exited(exit) if exit.code != 0)
        });
        return if has_failed { "Failed" } else { "Pending" };
    }
    let mut is_waiting = false;
    let mut is_alive = false;
    let mut has_failed = false;
    for (at, (_, known)) in both().filter(|(_, (container, _))| !container.is_init) {
        match &known.doing {
            Doing::Waiting | Doing::Starting | Doing::PullFailed { .. } => {
                is_waiting |= known.last.is_none();
                is_alive |= known.last.is_some();
            }
            Doing::Running { .. } => is_alive = true,
            Doing::Exited(exit) => {
                is_alive |= facts.restarts(at);
                has_failed |= exit.code != 0;
            }
        }
    }
    match (is_waiting, is_alive, has_failed) {
        (true, ..) => "Pending",
        (_, true, _) => "Running",
        (_, _, true) => "Failed",
        _ => "Succeeded",
    }
}

/// The status of a pod. Remembers in the facts since when things are so.
pub(super) fn status(facts: &mut Facts, host: &str, generation: i64, now: Timestamp) -> Value {
    let phase = phase(facts);
    let is_over = matches!(phase, "Succeeded" | "Failed");
    let plan = facts.pod.plan.clone();
    let names = |wanted: &dyn Fn(&Container, &ContainerFacts) -> bool| -> Vec<String> {
        let both = plan.containers.iter().zip(&facts.containers);
        both.filter(|(container, known)| wanted(container, known))
            .map(|(container, _)| container.name.to_string())
            .collect()
    };
    let unready = names(&|container, known| {
        (!container.is_init || container.is_sidecar)
            && !matches!(known.doing, Doing::Running { is_ready: true, .. })
    });
    let incomplete = names(&|container, known| {
        container.is_init && !matches!(&known.doing, Doing::Exited(exit) if exit.code == 0)
    });
    let is_initialized = facts.is_initialized();
    let is_ready = !is_over && is_initialized && unready.is_empty();

    let mut initialized = turn(
        &mut facts.since[0],
        is_initialized || phase == "Succeeded",
        now,
    );
    initialized["type"] = json!("Initialized");
    if phase == "Succeeded" {
        initialized["reason"] = json!("PodCompleted");
    } else if !is_initialized {
        initialized["reason"] = json!("ContainersNotInitialized");
        let list = incomplete.join(" ");
        initialized["message"] = json!(format!("containers with incomplete status: [{list}]"));
    }
    let mut ready = turn(&mut facts.since[1], is_ready, now);
    match phase {
        "Succeeded" => ready["reason"] = json!("PodCompleted"),
        "Failed" => ready["reason"] = json!("PodFailed"),
        _ if !is_ready => {
            ready["reason"] = json!("ContainersNotReady");
            let list = unready.join(" ");
            ready["message"] = json!(format!("containers with unready status: [{list}]"));
        }
        _ => {}
    }
    let mut conditions = vec![
        json!({
            "type": "PodReadyToStartContainers",
            "status": if is_over { "False" } else { "True" },
            "lastProbeTime": null,
            "lastTransitionTime": shown(facts.started),
        }),
        initialized,
    ];
    for kind in ["Ready", "ContainersReady"] {
        let mut condition = ready.clone();
        condition["type"] = json!(kind);
        conditions.push(condition);
    }
    for condition in &mut conditions {
        condition["observedGeneration"] = json!(generation);
    }
    let mut status = json!({
        "phase": phase,
        "observedGeneration": generation,
        "conditions": conditions,
        "hostIP": host,
        "hostIPs": [{ "ip": host }],
        "podIP": &*facts.ip,
        "podIPs": [{ "ip": &*facts.ip }],
        "startTime": shown(facts.started),
    });
    for (field, is_init) in [
        ("initContainerStatuses", true),
        ("containerStatuses", false),
    ] {
        let told: Vec<Value> = (0..plan.containers.len())
            .filter(|at| plan.containers[*at].is_init == is_init)
            .map(|at| container(facts, at, now))
            .collect();
        if !told.is_empty() {
            status[field] = Value::Array(told);
        }
    }
    status
}

/// A condition's status, and since when it is so.
fn turn(since: &mut Option<Since>, is_so: bool, now: Timestamp) -> Value {
    let known = since.filter(|known| known.is_so == is_so);
    let at = known.map_or(now, |known| known.at);
    *since = Some(Since { is_so, at });
    json!({
        "status": if is_so { "True" } else { "False" },
        "lastProbeTime": null,
        "lastTransitionTime": shown(at),
    })
}

fn container(facts: &Facts, at: usize, now: Timestamp) -> Value {
    let plan = &facts.pod.plan.containers[at];
    let known = &facts.containers[at];
    let is_ready = match &known.doing {
        Doing::Running { is_ready, .. } => *is_ready,
        Doing::Exited(exit) => plan.is_init && !plan.is_sidecar && exit.code == 0,
        _ => false,
    };
    let is_started = matches!(known.doing, Doing::Running { .. });
    // An image that was never there has no id, and neither has a container that never ran.
    let has_run = is_started || known.last.is_some() || matches!(known.doing, Doing::Exited(_));
    let id = format!(
        "simulated://{}-{}-{}",
        facts.pod.uid, plan.name, known.restarts
    );
    let mut told = json!({
        "name": &*plan.name,
        "image": &*plan.image,
        "imageID": if has_run { &*plan.image } else { "" },
        "ready": is_ready,
        "started": is_started,
        "restartCount": known.restarts,
        "state": state(facts, at, &id, now),
        "lastState": {},
    });
    if has_run {
        told["containerID"] = json!(id);
    }
    let last = if facts.restarts(at) {
        match &known.doing {
            Doing::Exited(exit) => Some(exit),
            _ => None,
        }
    } else {
        known.last.as_ref()
    };
    if let Some(exit) = last {
        told["lastState"] = json!({ "terminated": terminated(exit, &id) });
    }
    told
}

fn state(facts: &Facts, at: usize, id: &str, now: Timestamp) -> Value {
    let plan = &facts.pod.plan.containers[at];
    let known = &facts.containers[at];
    let waiting = |reason: &str, message: Option<String>| match message {
        Some(message) => json!({ "waiting": { "reason": reason, "message": message } }),
        None => json!({ "waiting": { "reason": reason } }),
    };
    let put_off = |why: &str| {
        let image = &plan.image;
        let words = format!("Back-off pulling image {image:?}: ErrImagePull: {why}");
        waiting("ImagePullBackOff", Some(words))
    };
    match (&known.doing, &known.unpulled) {
        // While it is tried again, what was said last stands.
        (Doing::Starting, Some(why)) => put_off(why),
        (Doing::Waiting | Doing::Starting, _) => {
            if let Some(missing) = &facts.missing {
                return waiting("CreateContainerConfigError", Some(missing.to_string()));
            }
            let is_behind = !plan.is_init && !facts.is_initialized();
            let is_later = plan.is_init && known.doing == Doing::Waiting;
            if is_behind || is_later {
                return waiting("PodInitializing", None);
            }
            waiting("ContainerCreating", None)
        }
        (Doing::PullFailed { at, why }, _) if Facts::is_put_off(*at, now) => put_off(why),
        (Doing::PullFailed { why, .. }, _) => waiting("ErrImagePull", Some(why.to_string())),
        (Doing::Running { since, .. }, _) => json!({ "running": { "startedAt": shown(*since) } }),
        (Doing::Exited(exit), _) if facts.restarts(at) && known.failures > 1 => {
            let pod = &facts.pod;
            let message = format!(
                "back-off {} restarting failed container={} pod={}_{}({})",
                go_duration(facts.pause(at)),
                plan.name,
                pod.name(),
                pod.namespace(),
                pod.uid
            );
            debug_assert!(exit.finished <= now);
            waiting("CrashLoopBackOff", Some(message))
        }
        (Doing::Exited(exit), _) => json!({ "terminated": terminated(exit, id) }),
    }
}

fn terminated(exit: &Exit, id: &str) -> Value {
    json!({
        "exitCode": exit.code,
        "reason": &*exit.reason,
        "startedAt": shown(exit.started),
        "finishedAt": shown(exit.finished),
        "containerID": id,
    })
}

/// `10s`, `1m20s`, as Go writes durations.
fn go_duration(duration: std::time::Duration) -> String {
    let seconds = duration.as_secs();
    match seconds / 60 {
        0 => format!("{seconds}s"),
        minutes => format!("{minutes}m{}s", seconds % 60),
    }
}

#[cfg(test)]
mod tests;
