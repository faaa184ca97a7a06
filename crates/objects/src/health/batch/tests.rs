//! Tests of jobs and schedules.

use crate::health::{
    of,
    tests::{check, read},
};

const JOB: &str = "apiVersion: batch/v1\nkind: Job";
const CRON: &str = "apiVersion: batch/v1\nkind: CronJob";

#[test]
fn a_job_ends_well_or_with_the_reason_of_its_failure() {
    check(
        JOB,
        &[
            (
                "status: {succeeded: 1, conditions: [{type: Complete, status: 'True'}]}",
                "Healthy",
            ),
            (
                "status: {conditions: [{type: Failed, status: 'True', reason: BackoffLimitExceeded, message: too often}]}",
                "Degraded | BackoffLimitExceeded | too often",
            ),
            (
                "status: {conditions: [{type: FailureTarget, status: 'True', reason: DeadlineExceeded}]}",
                "Degraded | DeadlineExceeded",
            ),
            (
                "spec: {suspend: true}\nstatus: {conditions: [{type: Suspended, status: 'True'}]}",
                "Suspended",
            ),
            (
                "spec: {suspend: true}\nstatus: {conditions: [{type: Complete, status: 'True'}]}",
                "Healthy",
            ),
            (
                "spec: {completions: 3}\nstatus: {succeeded: 1, failed: 2}",
                "Progressing | Running | 1 of 3 pods have succeeded, 2 have failed",
            ),
            (
                "spec: {}",
                "Progressing | Running | 0 of 1 pods have succeeded",
            ),
        ],
    );
}

#[test]
fn a_job_has_to_start_in_time_and_may_then_take_for_ever() {
    let deadline = |status: &str| of(&read(&format!("{JOB}\nstatus: {{{status}}}"))).deadline;
    assert!(deadline("active: 1, ready: 0").is_some());
    assert!(deadline("active: 1, ready: 1").is_none());
}

#[test]
fn a_schedule_is_well_unless_its_last_run_failed() {
    let early = "2025-01-01T00:00:00Z";
    let late = "2025-01-01T00:01:00Z";
    check(
        CRON,
        &[
            // It has never fired: it is scheduled, which is all that was asked.
            ("spec: {schedule: 0 0 1 1 *}", "Healthy"),
            (
                "spec: {suspend: true}\nstatus: {active: [{name: a}]}",
                "Suspended",
            ),
            (
                &format!("status: {{active: [{{name: a}}], lastScheduleTime: {late}}}"),
                "Healthy",
            ),
            (
                &format!("status: {{lastScheduleTime: {early}, lastSuccessfulTime: {late}}}"),
                "Healthy",
            ),
            (
                &format!("status: {{lastScheduleTime: {late}, lastSuccessfulTime: {early}}}"),
                "Degraded | LastRunFailed",
            ),
            (
                &format!("status: {{lastScheduleTime: {late}}}"),
                "Degraded | LastRunFailed",
            ),
            // Jobs that vanish at once may not have been counted.
            (
                &format!(
                    "spec: {{jobTemplate: {{spec: {{ttlSecondsAfterFinished: 0}}}}}}\nstatus: {{lastScheduleTime: {late}}}"
                ),
                "Healthy",
            ),
        ],
    );
}
