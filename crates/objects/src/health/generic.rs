//! Kinds without a rule of their own: what the conventions for status say.
//!
//! Silence is not success. An object whose status nobody has written is [`Health::Unknown`], not
//! progressing: its kind may have no status at all, and a deadline would make trouble of that.
//!
//! [`Health::Unknown`]: super::Health::Unknown

use std::time::Duration;

use serde_json::Value;

use super::{
    live::{Condition, Conditions, lagging, not_observed, text},
    verdict::{Verdict, gravest},
};

/// What is strange may be anything, also a database that a cloud takes its time to make.
const LONG_PATIENCE: Duration = Duration::from_mins(30);

/// Conditions that say that all is well, the surest first.
const GOOD: [&str; 7] = [
    "Ready",
    "Available",
    "Healthy",
    "Succeeded",
    "Complete",
    "Accepted",
    "Synced",
];

/// Those of them that are the end of some work, which may take for ever.
const ENDS: [&str; 2] = ["Succeeded", "Complete"];

/// The verdict by convention.
pub(super) fn judge(object: &Value) -> Verdict {
    let verdict = by_convention(object);
    let deadline = verdict.deadline.map(|_| LONG_PATIENCE);
    verdict.within(deadline)
}

fn by_convention(object: &Value) -> Verdict {
    let spec = &object["spec"];
    if ["suspend", "suspended", "paused"]
        .iter()
        .any(|field| spec[*field] == true)
    {
        return Verdict::suspended("Suspended", "it is suspended");
    }
    if let Some(verdict) = lagging(object) {
        return verdict;
    }
    let status = &object["status"];
    if status.as_object().is_none_or(serde_json::Map::is_empty) {
        return Verdict::unknown("NoStatus", "nothing has reported on it");
    }
    let conditions = Conditions::of(object);
    // Where two parts of a status contradict each other, the graver one counts.
    let said = [by_conditions(conditions), by_word(status)];
    gravest(said.into_iter().flatten()).unwrap_or_else(|| {
        // Whoever has seen this very spec and complains of nothing is content.
        if conditions.is_empty() && status["observedGeneration"].is_i64() {
            Verdict::healthy()
        } else {
            Verdict::unknown("NotUnderstood", "its status is not understood")
        }
    })
}

fn by_conditions(conditions: Conditions<'_>) -> Option<Verdict> {
    for kind in ["Stalled", "Failed", "Degraded"] {
        if let Some(failure) = conditions.holds(kind) {
            return Some(failure.degraded(kind));
        }
    }
    for kind in ["Reconciling", "Progressing"] {
        if let Some(progress) = conditions.holds(kind)
            // Operators also leave this one true after a rollout has finished.
            && !(kind == "Progressing" && GOOD.iter().any(|good| conditions.holds(good).is_some()))
        {
            return Some(progress.progressing(kind));
        }
    }
    // What was not taken over is not described by what is ready.
    if let Some(refused) = conditions.denies("Synced") {
        return Some(not_good(refused));
    }
    for kind in GOOD {
        if conditions.is_stale(kind) {
            return Some(not_observed());
        }
        if let Some(good) = conditions.get(kind) {
            return Some(if good.is_true() {
                Verdict::healthy()
            } else if ENDS.contains(&kind) {
                not_good(good).within(None)
            } else {
                not_good(good)
            });
        }
    }
    None
}

/// What is not ready may become so, unless the reason is a failure.
fn not_good(condition: Condition<'_>) -> Verdict {
    if condition.is_false() && is_failure(condition.reason) {
        condition.degraded("NotReady")
    } else {
        condition.progressing("NotReady")
    }
}

fn is_failure(reason: &str) -> bool {
    let reason = reason.to_ascii_lowercase();
    let signs = [
        "error",
        "fail",
        "invalid",
        "denied",
        "forbidden",
        "expired",
        "stalled",
    ];
    reason.starts_with("err") || signs.iter().any(|sign| reason.contains(sign))
}

/// The verdict by a single word, as many kinds give in `phase` or `state`.
fn by_word(status: &Value) -> Option<Verdict> {
    let mut words = ["phase", "state"].iter().map(|field| text(&status[*field]));
    let word = words.find(|word| !word.is_empty())?;
    let message = text(&status["message"]);
    Some(match word.to_ascii_lowercase().as_str() {
        "active" | "available" | "bound" | "complete" | "completed" | "deployed" | "healthy"
        | "ready" | "running" | "succeeded" | "success" | "synced" => Verdict::healthy(),
        "creating" | "deleting" | "deploying" | "initializing" | "inprogress" | "installing"
        | "pending" | "progressing" | "provisioning" | "reconciling" | "scaling" | "starting"
        | "terminating" | "updating" | "upgrading" | "waiting" => {
            Verdict::progressing(word.to_owned(), message)
        }
        "paused" | "suspended" => Verdict::suspended("Suspended", "it is suspended"),
        "degraded" | "error" | "failed" | "failure" | "invalid" | "lost" | "rejected"
        | "unhealthy" => Verdict::degraded(word.to_owned(), message),
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
