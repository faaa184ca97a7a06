//! What controllers may report about a job. Most rules hold only where a report changes something, so that a job
//! whose status was wrong before can still be reported about.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{
    indexes,
    report::{Report, list, text},
};
use crate::field_error::Kind;

const CONDITIONS: &str = "status.conditions";

/// A job as it is reported.
struct Reported<'a> {
    status: &'a Value,
}

impl Reported<'_> {
    fn complete(&self) -> bool {
        is(self.status, "Complete", "True")
    }

    fn failed(&self) -> bool {
        is(self.status, "Failed", "True")
    }

    fn failure_target(&self) -> bool {
        is(self.status, "FailureTarget", "True")
    }

    fn success_met(&self) -> bool {
        is(self.status, "SuccessCriteriaMet", "True")
    }

    fn finished(&self) -> bool {
        self.complete() || self.failed()
    }

    fn count(&self, field: &str) -> i64 {
        self.status[field].as_i64().unwrap_or_default()
    }
}

/// Whether a condition has this value.
fn is(status: &Value, condition: &str, value: &str) -> bool {
    let mut conditions = list(&status["conditions"]).iter();
    conditions.any(|entry| entry["type"] == condition && entry["status"] == value)
}

pub(super) fn check(report: &mut Report, new: &Value, old: &Value) {
    let now = Reported {
        status: &new["status"],
    };
    let before = Reported {
        status: &old["status"],
    };
    for field in ["active", "succeeded", "failed", "ready", "terminating"] {
        report.not_negative(format!("status.{field}"), &now.status[field]);
    }
    uncounted(report, &now.status["uncountedTerminatedPods"]);
    outcome(report, &now, &before);
    times(report, &now, &before);
    conditions_behind(report, &now, &before);
    finished(report, &new["spec"], &now, &before);
    indexes_of(report, &new["spec"], &now, &before);
    pods(report, &now, &before);
    contradictions(report, &new["spec"], &now);
    changes(report, new, old, &now, &before);
}

fn conditions(report: &mut Report, why: &str) {
    report.shown(Kind::Invalid, CONDITIONS, why, "");
}

fn uncounted(report: &mut Report, pods: &Value) {
    let mut seen = BTreeSet::new();
    for field in ["succeeded", "failed"] {
        for (index, uid) in list(&pods[field]).iter().enumerate() {
            let path = format!("status.uncountedTerminatedPods.{field}[{index}]");
            if text(uid).is_empty() {
                report.invalid(path, uid, "must not be empty");
            } else if !seen.insert(text(uid)) {
                report.duplicate(path, uid);
            }
        }
    }
}

fn outcome(report: &mut Report, now: &Reported<'_>, before: &Reported<'_>) {
    let completed = now.complete() != before.complete();
    if (completed || now.failed() != before.failed()) && now.complete() && now.failed() {
        conditions(
            report,
            "cannot set Complete=True and Failed=true conditions",
        );
    }
    let targeted = now.failure_target() != before.failure_target();
    if (completed || targeted) && now.complete() && now.failure_target() {
        conditions(
            report,
            "cannot set Complete=True and FailureTarget=true conditions",
        );
    }
}

fn times(report: &mut Report, now: &Reported<'_>, before: &Reported<'_>) {
    let changed = |field: &str| now.status[field] != before.status[field];
    let end = &now.status["completionTime"];
    let path = "status.completionTime";
    if now.complete() != before.complete() || changed("completionTime") {
        if !end.is_null() && !now.complete() {
            let why = "cannot set completionTime when there is no Complete=True condition";
            report.invalid(path, end, why);
        }
        if end.is_null() && now.complete() {
            let why = "completionTime is required for Complete jobs";
            report.required_because(path, why);
        }
    }
    let start = &now.status["startTime"];
    let both = !start.is_null() && !end.is_null();
    // Times are kept in one form, in which earlier ones come first.
    if (changed("startTime") || changed("completionTime")) && both && text(end) < text(start) {
        report.invalid(path, end, "must be equal to or after `startTime`");
    }
}

fn conditions_behind(report: &mut Report, now: &Reported<'_>, before: &Reported<'_>) {
    let changed = |field: &str| now.status[field] != before.status[field];
    let fails = now.failed() != before.failed() || changed("failedIndexes");
    if fails && now.failed() && !now.failure_target() {
        let why = "cannot set Failed=True condition without the FailureTarget=true condition";
        conditions(report, why);
    }
    let met = now.success_met() != before.success_met();
    if (now.complete() != before.complete() || met) && now.complete() && !now.success_met() {
        let why =
            "cannot set Complete=True condition without the SuccessCriteriaMet=true condition";
        conditions(report, why);
    }
}

fn finished(report: &mut Report, spec: &Value, now: &Reported<'_>, before: &Reported<'_>) {
    if !now.finished() {
        return;
    }
    let ended = now.finished() != before.finished();
    if (ended || now.count("active") != before.count("active")) && now.count("active") > 0 {
        let why = "active>0 is invalid for finished job";
        report.invalid("status.active", &now.status["active"], why);
    }
    let nothing_to_do = spec["suspend"] == json!(true) && spec["completions"] == json!(0);
    let start = &now.status["startTime"];
    let started = ended || *start != before.status["startTime"];
    if started && !nothing_to_do && start.is_null() {
        let why = "startTime is required for finished job";
        report.required_because("status.startTime", why);
    }
    let field = "uncountedTerminatedPods";
    let pods = &now.status[field];
    let some = ["succeeded", "failed"]
        .iter()
        .any(|kind| !list(&pods[*kind]).is_empty());
    if (ended || *pods != before.status[field]) && some {
        report.invalid(
            format!("status.{field}"),
            pods,
            "must be empty for finished job",
        );
    }
}

fn indexes_of(report: &mut Report, spec: &Value, now: &Reported<'_>, before: &Reported<'_>) {
    let completed = &now.status["completedIndexes"];
    let failed = &now.status["failedIndexes"];
    let completed_changed = text(completed) != text(&before.status["completedIndexes"]);
    let failed_changed = *failed != before.status["failedIndexes"];
    let completions = spec["completions"].as_i64();
    let limited = !spec["backoffLimitPerIndex"].is_null();
    let format = |report: &mut Report, field: &str, value: &Value| {
        let found = completions.map(|count| indexes::check(text(value), count));
        if let Some(Err(why)) = found {
            let why = format!("error parsing {field}: {why}");
            report.invalid(format!("status.{field}"), value, &why);
        }
    };
    if completed_changed {
        format(report, "completedIndexes", completed);
    }
    if failed_changed && limited && failed.is_string() {
        format(report, "failedIndexes", failed);
    }
    let indexed = spec["completionMode"] == "Indexed";
    if completed_changed && !text(completed).is_empty() && !indexed {
        let why = "cannot set non-empty completedIndexes when non-indexed completion mode";
        report.invalid("status.completedIndexes", completed, why);
    }
    if failed_changed && !limited && failed.is_string() {
        let why = "cannot set non-null failedIndexes when backoffLimitPerIndex is null";
        report.invalid("status.failedIndexes", failed, why);
    }
    if (failed_changed || completed_changed)
        && let Some(count) = completions
        && let Some(index) = indexes::overlap(text(completed), text(failed), count)
    {
        let why = format!("failedIndexes and completedIndexes overlap at index: {index}");
        report.invalid("status.failedIndexes", failed, &why);
    }
}

fn pods(report: &mut Report, now: &Reported<'_>, before: &Reported<'_>) {
    let changed = |field: &str| now.status[field] != before.status[field];
    let ended = now.finished() != before.finished();
    let terminating = now.count("terminating") > 0 && now.finished();
    if (ended || changed("terminating")) && terminating {
        let why = "terminating>0 is invalid for finished job";
        report.invalid("status.terminating", &now.status["terminating"], why);
    }
    let active = now.count("active") != before.count("active");
    let ready = &now.status["ready"];
    let too_many = ready
        .as_i64()
        .is_some_and(|ready| ready > now.count("active"));
    if (changed("ready") || active) && too_many {
        let why = "cannot set more ready pods than active";
        report.invalid("status.ready", ready, why);
    }
}

fn contradictions(report: &mut Report, spec: &Value, now: &Reported<'_>) {
    if now.success_met() && now.failed() {
        let why = "cannot set SuccessCriteriaMet=True and Failed=true conditions";
        conditions(report, why);
    }
    if now.success_met() && now.failure_target() {
        let why = "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions";
        conditions(report, why);
    }
    if spec["successPolicy"].is_object() && !now.success_met() && now.complete() {
        let why =
            "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True";
        conditions(report, why);
    }
}

/// What was reported once stays so.
fn changes(
    report: &mut Report,
    new: &Value,
    old: &Value,
    now: &Reported<'_>,
    before: &Reported<'_>,
) {
    let spec = &new["spec"];
    for condition in ["Failed", "Complete", "FailureTarget"] {
        if is(before.status, condition, "True") && !is(now.status, condition, "True") {
            let why = format!("cannot disable the terminal {condition}=True condition");
            conditions(report, &why);
        }
    }
    let mut decreases = |field: &str| {
        if now.count(field) < before.count(field) {
            let why = format!("cannot decrease the {field} counter");
            report.invalid(format!("status.{field}"), &json!(now.count(field)), &why);
        }
    };
    decreases("failed");
    // A job of which every pod has an index can be made smaller.
    let elastic = spec["completionMode"] == "Indexed" && spec["completions"] == spec["parallelism"];
    if !elastic {
        decreases("succeeded");
    }
    let (end, ended) = (
        &now.status["completionTime"],
        &before.status["completionTime"],
    );
    if !end.is_null() && !ended.is_null() && end != ended {
        report.invalid("status.completionTime", end, "field is immutable");
    }
    let (start, started) = (&now.status["startTime"], &before.status["startTime"]);
    let resumes =
        is(&old["status"], "Suspended", "True") && is(&new["status"], "Suspended", "False");
    let suspended = spec["suspend"] == json!(true);
    if !started.is_null() && start != started && !suspended && !resumes {
        let why = "field is immutable for unsuspended job once set";
        report.invalid("status.startTime", start, why);
    }
    if before.success_met() && !now.success_met() {
        conditions(
            report,
            "cannot disable the SuccessCriteriaMet=True condition",
        );
    }
    if before.complete() && !before.success_met() && now.success_met() {
        let why = "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions";
        conditions(report, why);
    }
}
