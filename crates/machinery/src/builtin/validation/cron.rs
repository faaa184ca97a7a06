//! Cron jobs and their schedules.

use serde_json::{Value, json};

use super::{
    job,
    report::{Report, text},
};

pub(super) fn cron_job(report: &mut Report, object: &Value) {
    let spec = &object["spec"];
    let schedule = text(&spec["schedule"]);
    if schedule.is_empty() {
        report.required("spec.schedule");
    } else if schedule.contains("TZ") {
        let why = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead";
        report.invalid("spec.schedule", &spec["schedule"], why);
    } else if let Err(why) = parse(schedule) {
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

/// Lowest and highest value of each field, and names for values.
const FIELDS: [(u32, u32, &[&str]); 5] = [
    (0, 59, &[]),
    (0, 23, &[]),
    (1, 31, &[]),
    (
        1,
        12,
        &[
            "", "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
        ],
    ),
    (0, 6, &["sun", "mon", "tue", "wed", "thu", "fri", "sat"]),
];

/// Reads a schedule only to see what is wrong with it.
fn parse(schedule: &str) -> Result<(), String> {
    if let Some(descriptor) = schedule.strip_prefix('@') {
        let known = [
            "yearly", "annually", "monthly", "weekly", "daily", "midnight", "hourly",
        ];
        let every = descriptor.starts_with("every ");
        return if known.contains(&descriptor) || every {
            Ok(())
        } else {
            Err(format!("unrecognized descriptor: {schedule}"))
        };
    }
    let fields: Vec<&str> = schedule.split_whitespace().collect();
    if fields.len() != FIELDS.len() {
        let found = fields.len();
        return Err(format!(
            "expected exactly 5 fields, found {found}: [{}]",
            fields.join(" ")
        ));
    }
    for (field, bounds) in fields.iter().zip(FIELDS) {
        for expression in field.split(',') {
            range(expression, bounds)?;
        }
    }
    Ok(())
}

fn range(expression: &str, (low, high, words): (u32, u32, &[&str])) -> Result<(), String> {
    let mut parts = expression.split('/');
    let span = parts.next().unwrap_or_default();
    let step = parts.next();
    if parts.next().is_some() {
        return Err(format!("too many slashes: {expression}"));
    }
    let mut ends = span.split('-');
    let first = ends.next().unwrap_or_default();
    let last = ends.next();
    if ends.next().is_some() {
        return Err(format!("too many hyphens: {expression}"));
    }
    let value = |text: &str| -> Result<u32, String> {
        let named = words
            .iter()
            .position(|word| !word.is_empty() && text.eq_ignore_ascii_case(word));
        if let Some(at) = named {
            return u32::try_from(at).map_err(|_| text.to_owned());
        }
        text.parse().map_err(|_| {
            format!(
                "failed to parse int from {text}: strconv.Atoi: parsing {text:?}: invalid syntax"
            )
        })
    };
    let (start, end) = if matches!(first, "*" | "?") {
        (low, high)
    } else {
        let start = value(first)?;
        let end = match last {
            Some(last) => value(last)?,
            None if step.is_some() => high,
            None => start,
        };
        (start, end)
    };
    if let Some(step) = step
        && value(step)? == 0
    {
        return Err(format!(
            "step of range should be a positive number: {expression}"
        ));
    }
    if start < low {
        return Err(format!(
            "beginning of range ({start}) below minimum ({low}): {expression}"
        ));
    }
    if end > high {
        return Err(format!(
            "end of range ({end}) above maximum ({high}): {expression}"
        ));
    }
    if start > end {
        return Err(format!(
            "beginning of range ({start}) beyond end of range ({end}): {expression}"
        ));
    }
    Ok(())
}
