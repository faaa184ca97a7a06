//! What runs: a Deployment or a `CronJob`, and the Service in front of it.

use quadrille_machinery::cron::Schedule;
use quadrille_types::{application::Task, names::generate};
use serde_json::{Value, json};

use super::{
    error::{At, Found},
    place::Place,
};
use crate::ports::{self, Listens};

/// Whose clock a schedule means where nothing is said.
const UTC: &str = "Etc/UTC";

/// A `Deployment` of Kubernetes. It says nothing about how many: an autoscaler may.
pub(super) fn deployment(
    names: &[&str],
    place: &Place,
    pod: &Value,
    revision_history_limit: Option<i32>,
) -> Value {
    let mut object = json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": place.metadata(&generate::name(names)),
        "spec": {
            "selector": { "matchLabels": place.selector },
            "template": { "metadata": { "labels": place.pods }, "spec": pod },
        },
    });
    if let Some(limit) = revision_history_limit {
        object["spec"]["revisionHistoryLimit"] = limit.into();
    }
    object
}

/// A `CronJob`.
pub(super) fn cron_job(
    names: &[&str],
    place: &Place,
    pod: &Value,
    task: Option<&(Task, At)>,
    fallback: &At,
    found: &mut Found,
) -> Value {
    let (task, at) = match task {
        Some((task, at)) => (task.clone(), at.clone()),
        None => (Task::default(), fallback.below("task")),
    };
    let schedule = task.schedule.unwrap_or_default();
    check_schedule(&schedule.cron, &at.below("schedule.cron"), found);
    let zone = schedule.timezone.filter(|zone| !zone.is_empty());
    json!({
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": place.metadata(&generate::name_within(generate::CRON_JOB_LIMIT, names)),
        "spec": {
            "schedule": schedule.cron,
            "timeZone": zone.as_deref().unwrap_or(UTC),
            "suspend": task.disabled.unwrap_or_default(),
            "concurrencyPolicy": "Forbid",
            "jobTemplate": {
                "metadata": { "labels": place.labels },
                "spec": {
                    "activeDeadlineSeconds": 300,
                    "backoffLimit": 4,
                    "ttlSecondsAfterFinished": 360,
                    "template": { "metadata": { "labels": place.pods }, "spec": pod },
                },
            },
        },
    })
}

/// Notes what is wrong with a schedule.
pub(super) fn check_schedule(cron: &str, at: &At, found: &mut Found) {
    if cron.is_empty() {
        found.push(at.wrong("is missing: give when it runs, such as \"0 6 * * *\""));
    } else if let Err(words) = Schedule::parse(cron) {
        found.push(at.wrong(format!("is {cron:?}: {words}")));
    }
}

/// The Service in front of what listens; nothing where nothing does, since a server takes none without ports.
pub(super) fn service(names: &[&str], place: &Place, listens: &[Listens]) -> Option<Value> {
    let ports = ports::of_older_service(listens, false);
    if ports.is_empty() {
        return None;
    }
    Some(json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": place.metadata(&service_name(names)),
        "spec": { "type": "ClusterIP", "selector": place.selector, "ports": ports },
    }))
}

/// What the Service is called.
pub(super) fn service_name(names: &[&str]) -> String {
    generate::name_within(generate::SERVICE_LIMIT, names)
}
