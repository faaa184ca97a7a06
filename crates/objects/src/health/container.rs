//! The trouble of one container, in words that stay the same while the kubelet tries again.
//!
//! A kubelet alternates: `ErrImagePull` and `ImagePullBackOff`, or waiting in `CrashLoopBackOff`, running
//! for a moment, and having just ended. Each of these rounds is one trouble and has one word here.

use std::borrow::Cow;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::{
    cause,
    live::{number, text},
};

/// A container that ran for longer than this before it ended is not in a loop: its kubelet has
/// forgotten the back-off by then.
const FORGOTTEN_AFTER_SECONDS: i64 = 600;

/// However short its last run was, a container has to last for so long to be believed.
const LEAST_PROOF_SECONDS: i64 = 30;

/// Something that will not go away by itself. The least one is told first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Trouble {
    pub(super) urgency: Urgency,
    pub(super) reason: Cow<'static, str>,
    pub(super) message: String,
}

/// Which of several troubles is told: what keeps a container from starting, then what ends it, then
/// what waits for room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Urgency {
    Creation,
    Crash,
    Scheduling,
}

/// What a container is in its pod.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Runs to its end before the others start.
    Init,
    /// An init container that goes on beside the others.
    Sidecar,
    Main,
}

/// What of a pod bears on each of its containers.
#[derive(Clone, Copy)]
pub(super) struct Surroundings<'a> {
    pub(super) restart_policy: &'a str,
    /// Since when the pod is not ready.
    pub(super) unready_since: Option<Timestamp>,
    /// Whether the kubelet still tells why a pull failed while it backs off. Before 1.32 it did not,
    /// and a cause that comes and goes is worse than none.
    pub(super) remembers_cause: bool,
}

/// The trouble that a container's status tells of, if any.
pub(super) fn trouble(status: &Value, role: Role, pod: Surroundings<'_>) -> Option<Trouble> {
    let name = match role {
        Role::Init => format!("init container {}", text(&status["name"])),
        Role::Sidecar | Role::Main => format!("container {}", text(&status["name"])),
    };
    let (state, last) = (&status["state"], &status["lastState"]["terminated"]);
    let restarts = number(&status["restartCount"]);
    if state["waiting"].is_object() {
        waiting(&name, status, pod.remembers_cause)
    } else if state["terminated"].is_object() {
        let ended = &state["terminated"];
        let comes_again = match role {
            Role::Sidecar => true,
            Role::Init => pod.restart_policy != "Never" && !ended_well(ended),
            Role::Main if pod.restart_policy == "OnFailure" => !ended_well(ended),
            Role::Main => pod.restart_policy != "Never",
        };
        // The first end is followed by a new try at once; only the second one is a loop.
        (comes_again && restarts >= 1 && !ran_long(ended)).then(|| crash(&name, ended))
    } else {
        let started = time(&state["running"]["startedAt"]);
        // A pod that lost its readiness later than that was well in between.
        let was_ready = pod
            .unready_since
            .zip(started)
            .is_some_and(|(since, at)| since > at);
        let fails = status["ready"] != true && restarts >= 2 && last.is_object();
        (fails && !was_ready && !ran_long(last)).then(|| crash(&name, last))
    }
}

/// From when a container that crashed before and runs again can be believed to be well: it has to last
/// twice as long as the last time, but no longer than its kubelet remembers.
pub(super) fn steady_from(status: &Value) -> Option<Timestamp> {
    let started = time(&status["state"]["running"]["startedAt"])?;
    let last = &status["lastState"]["terminated"];
    if !last.is_object() || number(&status["restartCount"]) < 1 || ran_long(last) {
        return None;
    }
    let lasted = run_seconds(last).unwrap_or(0);
    let proof = lasted
        .saturating_mul(2)
        .clamp(LEAST_PROOF_SECONDS, FORGOTTEN_AFTER_SECONDS);
    started.checked_add(SignedDuration::from_secs(proof)).ok()
}

fn waiting(name: &str, status: &Value, remembers_cause: bool) -> Option<Trouble> {
    let waiting = &status["state"]["waiting"];
    let last = &status["lastState"]["terminated"];
    let image = text(&status["image"]);
    let told = text(&waiting["message"]);
    let creation = |reason: Cow<'static, str>, message: String| Trouble {
        urgency: Urgency::Creation,
        reason,
        message: format!("{name}: {message}"),
    };
    Some(match text(&waiting["reason"]) {
        "" | "ContainerCreating" | "PodInitializing" => return None,
        "ErrImagePull"
        | "ImagePullBackOff"
        | "ImageInspectError"
        | "RegistryUnavailable"
        | "SignatureValidationFailed" => {
            let cause = cause::image(told, image).filter(|_| remembers_cause);
            let cause = cause.map_or(String::new(), |cause| format!(" ({cause})"));
            creation(
                "ImagePullFailed".into(),
                format!("image {image} cannot be pulled{cause}"),
            )
        }
        "ErrImageNeverPull" => creation(
            "ErrImageNeverPull".into(),
            format!("image {image} is not on the node and may not be pulled"),
        ),
        "InvalidImageName" => creation(
            "InvalidImageName".into(),
            format!("{image:?} is no name of an image"),
        ),
        "RunContainerError" => unstartable(name, told),
        "CrashLoopBackOff" => crash(name, last),
        word if is_failure(word) => {
            let cause = cause::creation(told);
            let message = cause.map_or(word.to_owned(), |cause| format!("{word} ({cause})"));
            creation(Cow::Owned(word.to_owned()), message)
        }
        _ => return None,
    })
}

/// The trouble of a container that ends again and again, by how it ended last.
fn crash(name: &str, ended: &Value) -> Trouble {
    let (reason, message) = match text(&ended["reason"]) {
        "OOMKilled" => (
            "OOMKilled",
            "is killed again and again for using more memory than it may".to_owned(),
        ),
        "StartError" | "ContainerCannotRun" => return unstartable(name, text(&ended["message"])),
        _ => {
            let code = ended["exitCode"].as_i64();
            let code = code.map_or(String::new(), |code| format!(" (exit code {code})"));
            ("CrashLoopBackOff", format!("ends again and again{code}"))
        }
    };
    Trouble {
        urgency: Urgency::Crash,
        reason: Cow::Borrowed(reason),
        message: format!("{name}: {message}"),
    }
}

/// The trouble of a container whose command cannot be run.
fn unstartable(name: &str, told: &str) -> Trouble {
    let cause = cause::start(told).map_or(String::new(), |cause| format!(" ({cause})"));
    Trouble {
        urgency: Urgency::Crash,
        reason: Cow::Borrowed("StartError"),
        message: format!("{name}: cannot be started{cause}"),
    }
}

/// Whether a reason for waiting is a failure, and not merely a step on the way.
fn is_failure(word: &str) -> bool {
    word.starts_with("Err")
        || word.starts_with("Invalid")
        || ["Error", "BackOff", "Failed"]
            .iter()
            .any(|end| word.ends_with(end))
}

fn ended_well(ended: &Value) -> bool {
    ended["exitCode"] == 0
}

fn ran_long(ended: &Value) -> bool {
    run_seconds(ended).is_some_and(|seconds| seconds > FORGOTTEN_AFTER_SECONDS)
}

fn run_seconds(ended: &Value) -> Option<i64> {
    let (from, to) = (time(&ended["startedAt"])?, time(&ended["finishedAt"])?);
    Some(to.as_second().saturating_sub(from.as_second()))
}

/// A point in time, if it is one.
pub(super) fn time(value: &Value) -> Option<Timestamp> {
    value.as_str()?.parse().ok()
}
