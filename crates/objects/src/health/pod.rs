//! Pods: a small summary of each, for the verdict of the workload they belong to, and the verdict of
//! one that stands alone.

use jiff::Timestamp;
use serde_json::Value;

use super::{
    cause,
    container::{self, Role, Surroundings, Trouble, Urgency, time},
    live::{Conditions, entries, text},
    verdict::Verdict,
};

/// What of a pod bears on the health of its workload; the rest of it can be forgotten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pod {
    pub(super) name: String,
    pub(super) created: Option<Timestamp>,
    pub(super) owner: Option<Owner>,
    /// Which template of a Deployment it is made from.
    pub(super) template_hash: Option<String>,
    /// Which revision of a `StatefulSet` or `DaemonSet` it is made from.
    pub(super) revision_hash: Option<String>,
    /// Whether it is still meant to run: neither deleted nor at its end.
    pub(super) lives: bool,
    /// From when it can be believed that it does not crash any more.
    pub(super) steady_from: Option<Timestamp>,
    ready: bool,
    trouble: Option<Trouble>,
}

/// The controller of a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) uid: String,
}

impl Pod {
    /// The summary of a live pod.
    pub fn read(object: &Value) -> Self {
        let (metadata, status) = (&object["metadata"], &object["status"]);
        let label = |key: &str| metadata["labels"][key].as_str().map(str::to_owned);
        let finished = matches!(text(&status["phase"]), "Succeeded" | "Failed");
        let lives = !finished && metadata["deletionTimestamp"].is_null();
        let ready = Conditions::of_any_age(object).holds("Ready").is_some();
        let mut owners = entries(&metadata["ownerReferences"]).iter();
        let owner = owners.find(|owner| owner["controller"] == true);
        Self {
            name: text(&metadata["name"]).to_owned(),
            created: time(&metadata["creationTimestamp"]),
            owner: owner.map(|owner| Owner {
                kind: text(&owner["kind"]).to_owned(),
                name: text(&owner["name"]).to_owned(),
                uid: text(&owner["uid"]).to_owned(),
            }),
            template_hash: label("pod-template-hash"),
            revision_hash: label("controller-revision-hash"),
            lives,
            steady_from: container_statuses(status)
                .filter_map(container::steady_from)
                .max(),
            ready,
            trouble: if lives && !ready {
                trouble(object)
            } else {
                None
            },
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it takes part in serving.
    pub fn is_ready(&self) -> bool {
        self.ready
    }

    /// What will not go away by itself.
    pub(super) fn trouble(&self) -> Option<&Trouble> {
        self.trouble.as_ref()
    }
}

/// A pod that stands alone.
pub(super) fn pod(object: &Value) -> Verdict {
    let status = &object["status"];
    match text(&status["phase"]) {
        "Succeeded" => Verdict::healthy(),
        "Failed" => failed(status),
        "Pending" | "Running" | "" => {
            let pod = Pod::read(object);
            match pod.trouble {
                Some(trouble) => Verdict::degraded(trouble.reason, &trouble.message),
                None if pod.ready => Verdict::healthy(),
                None => Verdict::progressing("Starting", "it is not ready yet"),
            }
        }
        _ => Verdict::unknown("NodeSilent", "its node does not report on it"),
    }
}

fn failed(status: &Value) -> Verdict {
    let own = text(&status["reason"]);
    if !own.is_empty() {
        return Verdict::degraded(own.to_owned(), text(&status["message"]));
    }
    let culprit = container_statuses(status).find_map(|container| {
        let code = container["state"]["terminated"]["exitCode"].as_i64();
        let code = code.filter(|code| *code != 0)?;
        Some(format!(
            "container {}: exit code {code}",
            text(&container["name"])
        ))
    });
    Verdict::degraded("Failed", culprit.as_deref().unwrap_or("it has failed"))
}

/// What is told of each container, init containers first.
fn container_statuses(status: &Value) -> impl Iterator<Item = &Value> {
    let lists = ["initContainerStatuses", "containerStatuses"];
    lists.into_iter().flat_map(|list| entries(&status[list]))
}

fn trouble(object: &Value) -> Option<Trouble> {
    let (spec, status) = (&object["spec"], &object["status"]);
    let restart_policy = match text(&spec["restartPolicy"]) {
        "" => "Always",
        policy => policy,
    };
    let surroundings = Surroundings {
        restart_policy,
        unready_since: unready_since(status),
        // Kubelets that write this remember the cause, too.
        remembers_cause: status["observedGeneration"].is_i64(),
    };
    let init = entries(&status["initContainerStatuses"])
        .iter()
        .map(|status| (status, init_role(spec, text(&status["name"]))));
    let main = entries(&status["containerStatuses"]).iter();
    init.chain(main.map(|status| (status, Role::Main)))
        .filter_map(|(status, role)| container::trouble(status, role, surroundings))
        .chain(unschedulable(object))
        .min()
}

fn init_role(spec: &Value, name: &str) -> Role {
    let mut declared = entries(&spec["initContainers"]).iter();
    let found = declared.find(|container| container["name"] == name);
    match found {
        Some(container) if container["restartPolicy"] == "Always" => Role::Sidecar,
        _ => Role::Init,
    }
}

/// The trouble of a pod that no node takes. A pod that others make room for, or whose volume is still
/// being made, is only waiting.
fn unschedulable(object: &Value) -> Option<Trouble> {
    let told = Conditions::of_any_age(object).denies("PodScheduled")?;
    let nominated = object["status"]["nominatedNodeName"].as_str();
    let waits = nominated.is_some_and(|node| !node.is_empty())
        || told
            .message
            .contains("unbound immediate PersistentVolumeClaims");
    (told.reason == "Unschedulable" && !waits).then(|| Trouble {
        urgency: Urgency::Scheduling,
        reason: "Unschedulable".into(),
        message: format!("no node takes its pod: {}", cause::scheduling(told.message)),
    })
}

fn unready_since(status: &Value) -> Option<Timestamp> {
    let mut conditions = entries(&status["conditions"]).iter();
    let ready = conditions.find(|condition| condition["type"] == "Ready")?;
    time(&ready["lastTransitionTime"])
}

#[cfg(test)]
mod tests;
