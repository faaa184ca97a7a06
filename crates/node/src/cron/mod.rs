//! CronJobs: a job whenever it is due.

mod due;

use std::sync::Arc;

use jiff::Timestamp;
use quadrille_planes::Trouble;
use serde_json::{Value, json};

use self::due::Due;
use crate::{
    clock::shown,
    hands::{Ending, Hands, Outcome},
    kinds::Kind,
    queue::{Key, Task},
    read::{self, Place, is_true, list, owner_reference, text, time},
};

/// Looks at a cron job: what its jobs are doing, and whether one is due.
pub(crate) async fn look(hands: &Hands, place: &Place) -> Outcome {
    let Some(cron) = hands.seen.get(Kind::CronJob, place) else {
        return Ok(());
    };
    let jobs = hands.seen.of(Kind::Job, read::uid(&cron));
    let mut status = seen(hands, &cron, &jobs).await;
    if !read::is_deleting(&cron) && !is_true(&cron["spec"]["suspend"]) {
        match Due::of(&cron) {
            Ok(due) => {
                start_due(hands, &cron, &due, &mut status).await?;
                if let Some(next) = due.next(hands.now()) {
                    let key = Key {
                        task: Task::CronJob,
                        place: place.clone(),
                    };
                    hands.queue.add_at(key, next);
                }
            }
            Err(why) => {
                let words = ("Warning", "UnparseableSchedule", why.as_str());
                hands.event(Kind::CronJob, &cron, words).await;
            }
        }
    }
    clean_up(hands, &cron, &jobs).await?;
    hands.set_status(Kind::CronJob, &cron, &status).await
}

/// How a job ended, if it has.
fn ended(job: &Value) -> Option<&'static str> {
    ["Complete", "Failed"].into_iter().find(|kind| {
        read::condition(&job["status"], kind).is_some_and(|condition| condition["status"] == "True")
    })
}

/// The status, with what its jobs are doing by now.
async fn seen(hands: &Hands, cron: &Value, jobs: &[Arc<Value>]) -> Value {
    let mut status = cron["status"].clone();
    if !status.is_object() {
        status = json!({});
    }
    let mut active = list(&status["active"]).to_vec();
    for job in jobs {
        let Some(end) = ended(job) else { continue };
        let before = active.len();
        active.retain(|known| known["uid"] != job["metadata"]["uid"]);
        if active.len() < before {
            let message = format!("Saw completed job: {}, condition: {end}", read::name(job));
            let words = ("Normal", "SawCompletedJob", message.as_str());
            hands.event(Kind::CronJob, cron, words).await;
        }
        let completed = time(&job["status"]["completionTime"]);
        if end == "Complete" && completed > time(&status["lastSuccessfulTime"]) {
            status["lastSuccessfulTime"] = job["status"]["completionTime"].clone();
        }
    }
    active.retain(|known| {
        jobs.iter()
            .any(|job| known["uid"] == job["metadata"]["uid"])
    });
    set_active(&mut status, active);
    status
}

fn set_active(status: &mut Value, active: Vec<Value>) {
    if let Some(fields) = status.as_object_mut() {
        if active.is_empty() {
            fields.remove("active");
        } else {
            fields.insert("active".to_owned(), Value::Array(active));
        }
    }
}

/// Makes the job that is due, if its policy allows it.
async fn start_due(hands: &Hands, cron: &Value, due: &Due, status: &mut Value) -> Outcome {
    let now = hands.now();
    let Some(at) = due.missed(cron, now) else {
        return Ok(());
    };
    let name = job_name(cron, at);
    let mut active = list(&status["active"]).to_vec();
    if active.iter().any(|known| known["name"] == name) {
        return Ok(());
    }
    match text(&cron["spec"]["concurrencyPolicy"]) {
        "Forbid" if !active.is_empty() => {
            let message = "Not starting job because prior execution is running and concurrency policy is Forbid";
            hands
                .event(Kind::CronJob, cron, ("Normal", "JobAlreadyActive", message))
                .await;
            return Ok(());
        }
        "Replace" => {
            for known in active.drain(..) {
                let place = Place::new(read::namespace(cron), text(&known["name"]));
                let how = Ending {
                    propagation: Some("Background"),
                    ..Ending::default()
                };
                hands
                    .delete(Kind::Job, &place, text(&known["uid"]), how)
                    .await?;
            }
        }
        _ => {}
    }
    let made = match hands
        .create(Kind::Job, &job(cron, &name, &due.shown(at)))
        .await
    {
        Ok(made) => {
            let message = format!("Created job {name}");
            hands
                .event(
                    Kind::CronJob,
                    cron,
                    ("Normal", "SuccessfulCreate", &message),
                )
                .await;
            made
        }
        // Made before, by this process or the one before it, and not told yet.
        Err(Trouble::AlreadyExists(exists)) => {
            let place = Place::new(read::namespace(cron), &name);
            let found = hands.get(Kind::Job, &place).await?;
            let ours = |job: &Value| {
                read::controller(job).is_some_and(|owner| &*owner.uid == read::uid(cron))
            };
            found.filter(ours).ok_or(Trouble::AlreadyExists(exists))?
        }
        Err(trouble) if crate::pods::is_terminating(&trouble) => return Ok(()),
        Err(trouble) => return Err(trouble),
    };
    active.push(json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "name": name,
        "namespace": read::namespace(cron),
        "resourceVersion": made["metadata"]["resourceVersion"],
        "uid": made["metadata"]["uid"],
    }));
    set_active(status, active);
    status["lastScheduleTime"] = json!(shown(at));
    Ok(())
}

/// A job is named by the minute that it is for, so that none is made twice.
fn job_name(cron: &Value, at: Timestamp) -> String {
    format!("{}-{}", read::name(cron), at.as_second() / 60)
}

fn job(cron: &Value, name: &str, due: &str) -> Value {
    let template = &cron["spec"]["jobTemplate"];
    let mut annotations = template["metadata"]["annotations"].clone();
    annotations["batch.kubernetes.io/cronjob-scheduled-timestamp"] = json!(due);
    let mut job = json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": name,
            "namespace": read::namespace(cron),
            "annotations": annotations,
            "ownerReferences": [owner_reference(Kind::CronJob, cron)],
        },
        "spec": template["spec"],
    });
    if !template["metadata"]["labels"].is_null() {
        job["metadata"]["labels"] = template["metadata"]["labels"].clone();
    }
    job
}

/// Ends the oldest jobs beyond the numbers that are kept.
async fn clean_up(hands: &Hands, cron: &Value, jobs: &[Arc<Value>]) -> Outcome {
    for (end, limit) in [
        ("Complete", "successfulJobsHistoryLimit"),
        ("Failed", "failedJobsHistoryLimit"),
    ] {
        let Some(kept) = cron["spec"][limit].as_u64() else {
            continue;
        };
        let mut over: Vec<_> = jobs
            .iter()
            .filter(|job| ended(job) == Some(end) && !read::is_deleting(job))
            .collect();
        over.sort_by_key(|job| {
            (
                time(&job["status"]["startTime"]),
                read::name(job).to_owned(),
            )
        });
        let surplus = over
            .len()
            .saturating_sub(usize::try_from(kept).unwrap_or(usize::MAX));
        for job in over.into_iter().take(surplus) {
            let how = Ending {
                propagation: Some("Background"),
                ..Ending::default()
            };
            hands
                .delete(Kind::Job, &Place::of(job), read::uid(job), how)
                .await?;
        }
    }
    Ok(())
}
