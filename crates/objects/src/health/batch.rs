//! Work that ends: jobs, and the schedules that start them.

use serde_json::Value;

use super::{
    container::time,
    live::{Conditions, entries, number},
    selector::PodSelector,
    verdict::{PATIENCE, Verdict},
};

/// A Job. It may run for ever, but has to start: its deadline holds until a pod is at work.
pub(super) fn job(object: &Value) -> Verdict {
    let (spec, status) = (&object["spec"], &object["status"]);
    let conditions = Conditions::of(object);
    if conditions.holds("Complete").is_some() {
        return Verdict::healthy();
    }
    // The second is set while the last pods of a failed job are still being ended.
    for kind in ["Failed", "FailureTarget"] {
        if let Some(failure) = conditions.holds(kind) {
            return failure.degraded("Failed");
        }
    }
    if spec["suspend"] == true {
        return Verdict::suspended("Suspended", "it is suspended");
    }
    let succeeded = number(&status["succeeded"]);
    let wanted = spec["completions"].as_i64().unwrap_or(1);
    let message = match number(&status["failed"]) {
        0 => format!("{succeeded} of {wanted} pods have succeeded"),
        failed => format!("{succeeded} of {wanted} pods have succeeded, {failed} have failed"),
    };
    let works = number(&status["ready"]) > 0;
    Verdict::progressing("Running", &message)
        .within((!works).then_some(PATIENCE))
        .judged_by(PodSelector::of(object))
}

/// A `CronJob`. One that waits for its hour, or is at work, does what it should; saying anything else
/// at each run would be noise. It is in trouble when it is idle and its last run did not succeed; while
/// it is at work, its status does not tell how the run before ended.
pub(super) fn cron_job(object: &Value) -> Verdict {
    let (spec, status) = (&object["spec"], &object["status"]);
    if spec["suspend"] == true {
        return Verdict::suspended("Suspended", "it is suspended");
    }
    let idle = entries(&status["active"]).is_empty();
    let (started, succeeded) = (
        time(&status["lastScheduleTime"]),
        time(&status["lastSuccessfulTime"]),
    );
    if idle && started.is_some() && succeeded < started && keeps_its_jobs(spec) {
        return Verdict::degraded("LastRunFailed", "its last run did not succeed");
    }
    Verdict::healthy()
}

/// Whether ended jobs stay for long enough that their end is certainly noted.
fn keeps_its_jobs(spec: &Value) -> bool {
    const LONG_ENOUGH_SECONDS: i64 = 60;
    let kept = spec["jobTemplate"]["spec"]["ttlSecondsAfterFinished"].as_i64();
    kept.is_none_or(|seconds| seconds >= LONG_ENOUGH_SECONDS)
}

#[cfg(test)]
mod tests;
