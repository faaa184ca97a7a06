//! What a Job does next, and what it says of itself. Pure.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use jiff::Timestamp;
use serde_json::{Value, json};

use super::indexes;
use crate::{
    clock::{after, shown},
    read::{self, int, is_true, list, text, time},
    seen::{Phase, Pod},
};

const FIRST_BACKOFF: Duration = Duration::from_secs(10);
const LONGEST_BACKOFF: Duration = Duration::from_mins(10);

/// How a job ends: type, reason, message of the condition that announces it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct End {
    pub(super) is_success: bool,
    pub(super) reason: String,
    pub(super) message: String,
}

impl End {
    fn failed(reason: &str, message: &str) -> Self {
        Self {
            is_success: false,
            reason: reason.to_owned(),
            message: message.to_owned(),
        }
    }

    /// The condition that announces it, and the one that says that it is so.
    pub(super) fn types(&self) -> (&'static str, &'static str) {
        if self.is_success {
            ("SuccessCriteriaMet", "Complete")
        } else {
            ("FailureTarget", "Failed")
        }
    }
}

/// What is known of a job and its pods at one moment.
pub(super) struct Counted<'a> {
    job: &'a Value,
    pods: &'a [Arc<Pod>],
    pub(super) active: Vec<Arc<Pod>>,
    /// Pods whose end is not in the status yet.
    pub(super) new_succeeded: Vec<Arc<Pod>>,
    pub(super) new_failed: Vec<Arc<Pod>>,
    pub(super) succeeded: i64,
    pub(super) failed: i64,
    /// Indexes that are done, where the job has indexes.
    pub(super) done: Option<BTreeSet<u32>>,
    now: Timestamp,
}

fn count<T>(items: &[T]) -> i64 {
    i64::try_from(items.len()).unwrap_or(i64::MAX)
}

/// Uids in the status of pods that are about to be counted.
fn uncounted<'a>(job: &'a Value, how: &str) -> Vec<&'a str> {
    let known = &job["status"]["uncountedTerminatedPods"][how];
    list(known).iter().map(text).collect()
}

impl<'a> Counted<'a> {
    pub(super) fn new(job: &'a Value, pods: &'a [Arc<Pod>], now: Timestamp) -> Self {
        let is_indexed = job["spec"]["completionMode"] == "Indexed";
        let (known_good, known_bad) = (uncounted(job, "succeeded"), uncounted(job, "failed"));
        let is_new = |pod: &Pod, known: &[&str]| pod.is_tracked && !known.contains(&&*pod.uid);
        let mut done = is_indexed.then(|| indexes::parse(text(&job["status"]["completedIndexes"])));
        let mut new_succeeded = Vec::new();
        let mut new_failed = Vec::new();
        for pod in pods {
            if pod.phase == Phase::Succeeded {
                if is_new(pod, &known_good) {
                    new_succeeded.push(pod.clone());
                }
                if let (Some(done), Some(index)) = (&mut done, pod.index)
                    && i64::from(index) < int(&job["spec"]["completions"])
                {
                    done.insert(index);
                }
            } else if has_failed(job, pod) && is_new(pod, &known_bad) {
                new_failed.push(pod.clone());
            }
        }
        let counting = new_failed
            .iter()
            .filter(|pod| matched_rule(job, pod).is_none_or(|(_, action)| action != "Ignore"))
            .count();
        let status = &job["status"];
        let succeeded = match &done {
            Some(done) => i64::try_from(done.len()).unwrap_or(i64::MAX),
            None => int(&status["succeeded"]) + count(&known_good) + count(&new_succeeded),
        };
        Self {
            job,
            pods,
            active: pods.iter().filter(|pod| pod.is_active()).cloned().collect(),
            failed: int(&status["failed"])
                + count(&known_bad)
                + i64::try_from(counting).unwrap_or(i64::MAX),
            new_succeeded,
            new_failed,
            succeeded,
            done,
            now,
        }
    }

    /// The end that is due, before any pod is made.
    pub(super) fn end(&self) -> Option<End> {
        let job = self.job;
        for (kind, is_success) in [("SuccessCriteriaMet", true), ("FailureTarget", false)] {
            if let Some(known) = read::condition(&job["status"], kind)
                && known["status"] == "True"
            {
                return Some(End {
                    is_success,
                    reason: text(&known["reason"]).to_owned(),
                    message: text(&known["message"]).to_owned(),
                });
            }
        }
        if let Some(message) = self.fatal() {
            return Some(End::failed("PodFailurePolicy", &message));
        }
        let limit = job["spec"]["backoffLimit"].as_i64().unwrap_or(6);
        if self.failed > limit || self.restarted_too_often(limit) {
            let message = "Job has reached the specified backoff limit";
            return Some(End::failed("BackoffLimitExceeded", message));
        }
        if self.deadline().is_some_and(|deadline| deadline <= self.now) {
            let message = "Job was active longer than specified deadline";
            return Some(End::failed("DeadlineExceeded", message));
        }
        None
    }

    /// When the job has been active for too long.
    pub(super) fn deadline(&self) -> Option<Timestamp> {
        let seconds = self.job["spec"]["activeDeadlineSeconds"].as_u64()?;
        if is_suspended(self.job) {
            return None;
        }
        let started = time(&self.job["status"]["startTime"])?;
        Some(after(started, Duration::from_secs(seconds)))
    }

    /// Containers that are started again in the same pod count as failures too.
    fn restarted_too_often(&self, limit: i64) -> bool {
        let spec = &self.job["spec"]["template"]["spec"];
        if spec["restartPolicy"] != "OnFailure" {
            return false;
        }
        let living = self
            .pods
            .iter()
            .filter(|pod| matches!(pod.phase, Phase::Running | Phase::Pending));
        let restarts: i64 = living.map(|pod| pod.restarts).sum();
        if limit == 0 {
            restarts > 0
        } else {
            restarts >= limit
        }
    }

    /// A failure after which the job is not to go on.
    fn fatal(&self) -> Option<String> {
        self.pods.iter().find_map(|pod| {
            let ((index, container, code), action) = matched_rule(self.job, pod)?;
            let Pod { place, .. } = &**pod;
            (action == "FailJob").then(|| {
                format!(
                    "Container {container} for pod {}/{} failed with exit code {code} matching FailJob rule at index {index}",
                    place.namespace, place.name
                )
            })
        })
    }

    /// Whether enough pods did well, given those that are active now.
    pub(super) fn success(&self, active: i64) -> Option<End> {
        let is_met = match self.job["spec"]["completions"].as_i64() {
            Some(completions) => self.succeeded >= completions && active == 0,
            None => self.succeeded > 0 && active == 0,
        };
        is_met.then(|| End {
            is_success: true,
            reason: "CompletionsReached".to_owned(),
            message: "Reached expected number of succeeded pods".to_owned(),
        })
    }

    /// How many pods should be active.
    pub(super) fn wanted(&self) -> i64 {
        let spec = &self.job["spec"];
        if is_suspended(self.job) {
            return 0;
        }
        let parallelism = spec["parallelism"].as_i64().unwrap_or(1);
        match spec["completions"].as_i64() {
            Some(completions) => (completions - self.succeeded).min(parallelism).max(0),
            None if self.succeeded > 0 => count(&self.active),
            None => parallelism,
        }
    }

    /// How many new pods to make, were there no pause.
    pub(super) fn missing(&self) -> i64 {
        let only_failed = self.job["spec"]["podReplacementPolicy"] == "Failed";
        let ending = if only_failed { self.terminating() } else { 0 };
        self.wanted() - ending - count(&self.active)
    }

    /// The first indexes that are neither done nor under way.
    pub(super) fn pending_indexes(&self, most: usize) -> Vec<u32> {
        let completions = u32::try_from(int(&self.job["spec"]["completions"])).unwrap_or(0);
        let taken: BTreeSet<u32> = self.active.iter().filter_map(|pod| pod.index).collect();
        let done = self.done.clone().unwrap_or_default();
        (0..completions)
            .filter(|index| !taken.contains(index) && !done.contains(index))
            .take(most)
            .collect()
    }

    /// Until when no new pod is made, since the last ones failed.
    pub(super) fn paused_until(&self) -> Option<Timestamp> {
        let last_success = self
            .pods
            .iter()
            .filter(|pod| pod.phase == Phase::Succeeded)
            .filter_map(|pod| pod.finished)
            .max();
        let failures: Vec<Timestamp> = self
            .pods
            .iter()
            .filter(|pod| pod.phase == Phase::Failed)
            .filter_map(|pod| pod.finished)
            .filter(|finished| last_success.is_none_or(|success| *finished > success))
            .collect();
        let last = failures.iter().max()?;
        let times = u32::try_from(failures.len()).unwrap_or(u32::MAX).min(10) - 1;
        let pause = (FIRST_BACKOFF * 2_u32.pow(times)).min(LONGEST_BACKOFF);
        Some(after(*last, pause)).filter(|until| *until > self.now)
    }

    pub(super) fn terminating(&self) -> i64 {
        let ending = self
            .pods
            .iter()
            .filter(|pod| pod.deleting.is_some() && !pod.is_over());
        i64::try_from(ending.count()).unwrap_or(i64::MAX)
    }
}

fn has_failed(job: &Value, pod: &Pod) -> bool {
    let only_failed = job["spec"]["podReplacementPolicy"] == "Failed";
    pod.phase == Phase::Failed
        || !only_failed && pod.deleting.is_some() && pod.phase != Phase::Succeeded
}

/// The rule of the job's failure policy that a pod's exit codes match: its index, container and code, and its action.
fn matched_rule<'a>(job: &'a Value, pod: &'a Pod) -> Option<((usize, &'a str, i64), &'a str)> {
    let rules = list(&job["spec"]["podFailurePolicy"]["rules"]);
    rules.iter().enumerate().find_map(|(index, rule)| {
        let codes = &rule["onExitCodes"];
        let values = list(&codes["values"]);
        let (container, code) = pod.exits.iter().find(|(container, code)| {
            let named = text(&codes["containerName"]);
            let is_listed = values.iter().any(|value| int(value) == *code);
            (named.is_empty() || named == &**container)
                && match text(&codes["operator"]) {
                    "In" => is_listed,
                    "NotIn" => !is_listed,
                    _ => false,
                }
        })?;
        Some(((index, &**container, *code), text(&rule["action"])))
    })
}

/// Whether a job is put off.
pub(super) fn is_suspended(job: &Value) -> bool {
    is_true(&job["spec"]["suspend"])
}

/// Whether a job has ended, and when.
pub(super) fn finished(job: &Value) -> Option<Timestamp> {
    ["Complete", "Failed"].iter().find_map(|kind| {
        let condition = read::condition(&job["status"], kind)?;
        (condition["status"] == "True")
            .then(|| time(&condition["lastTransitionTime"]).unwrap_or_default())
    })
}

/// Adds a condition unless it is there.
pub(super) fn add_condition(status: &mut Value, words: (&str, &str, &str, &str), now: Timestamp) {
    let (kind, truth, reason, message) = words;
    let mut conditions = read::conditions(status);
    if let Some(known) = conditions.iter_mut().find(|known| known["type"] == kind) {
        if known["status"] == truth {
            return;
        }
        for (field, value) in [("status", truth), ("reason", reason), ("message", message)] {
            known[field] = json!(value);
        }
        known["lastTransitionTime"] = json!(shown(now));
        known["lastProbeTime"] = json!(shown(now));
    } else {
        conditions.push(json!({
            "type": kind,
            "status": truth,
            "reason": reason,
            "message": message,
            "lastProbeTime": shown(now),
            "lastTransitionTime": shown(now),
        }));
    }
    status["conditions"] = Value::Array(conditions);
}

/// Moves pods whose finalizer is gone from the list of those about to be counted into the counts.
pub(super) fn settle(status: &mut Value, has_finalizer: impl Fn(&str) -> bool) {
    for how in ["succeeded", "failed"] {
        let (still, counted): (Vec<Value>, Vec<Value>) =
            list(&status["uncountedTerminatedPods"][how])
                .iter()
                .cloned()
                .partition(|uid| has_finalizer(text(uid)));
        if !counted.is_empty() {
            status[how] = json!(int(&status[how]) + count(&counted));
        }
        set_list(&mut status["uncountedTerminatedPods"], how, still);
    }
}

/// Sets a list, or leaves it out if it is empty.
pub(super) fn set_list(value: &mut Value, field: &str, items: Vec<Value>) {
    if let Some(fields) = value.as_object_mut() {
        if items.is_empty() {
            fields.remove(field);
        } else {
            fields.insert(field.to_owned(), Value::Array(items));
        }
    }
}

/// Sets a number, or leaves it out if it is zero.
pub(super) fn set_count(value: &mut Value, field: &str, number: i64) {
    if let Some(fields) = value.as_object_mut() {
        if number == 0 {
            fields.remove(field);
        } else {
            fields.insert(field.to_owned(), json!(number));
        }
    }
}

#[cfg(test)]
mod tests;
