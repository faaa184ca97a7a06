//! Cron jobs and their schedules.

use serde_json::{Value, json};

use super::{
    job,
    report::{Report, text},
};
use crate::cron::Schedule;

pub(super) fn cron_job(report: &mut Report, object: &Value) {
    let spec = &object["spec"];
    let schedule = text(&spec["schedule"]);
    if schedule.is_empty() {
        report.required("spec.schedule");
    } else if schedule.contains("TZ") {
        let why = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead";
        report.invalid("spec.schedule", &spec["schedule"], why);
    } else if let Err(why) = Schedule::parse(schedule) {
        report.invalid("spec.schedule", &spec["schedule"], &why);
    }
    report.not_negative(
        "spec.startingDeadlineSeconds",
        &spec["startingDeadlineSeconds"],
    );
    time_zone(report, &spec["timeZone"]);
    report.one_of(
        "spec.concurrencyPolicy",
        &spec["concurrencyPolicy"],
        &["Allow", "Forbid", "Replace"],
    );
    let job = &spec["jobTemplate"]["spec"];
    job::job_spec(report, job, "spec.jobTemplate.spec");
    if job["manualSelector"] == json!(true) {
        let path = "spec.jobTemplate.spec.manualSelector";
        let why = "supported values: \"nil\", \"false\"";
        report.shown(crate::field_error::Kind::NotSupported, path, "true", why);
    }
    for field in ["successfulJobsHistoryLimit", "failedJobsHistoryLimit"] {
        report.not_negative(format!("spec.{field}"), &spec[field]);
    }
}

fn time_zone(report: &mut Report, zone: &Value) {
    let Some(name) = zone.as_str() else {
        return;
    };
    if name.is_empty() {
        report.invalid(
            "spec.timeZone",
            zone,
            "timeZone must be nil or non-empty string",
        );
    } else if name.eq_ignore_ascii_case("local") {
        report.invalid(
            "spec.timeZone",
            zone,
            "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones",
        );
    } else if jiff::tz::TimeZone::get(name).is_err() {
        report.invalid("spec.timeZone", zone, &format!("unknown time zone {name}"));
    }
}
