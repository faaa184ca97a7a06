//! Jobs: pods that do something and end, counted exactly.
//!
//! A pod that ended keeps a finalizer until its end is in the job's status: first its uid is written there, then the
//! finalizer goes, then the number grows. So no pod is counted twice or not at all, whenever this process dies.

mod decide;
mod indexes;

use std::{sync::Arc, time::Duration};

use futures::future::join_all;
use quadrille_planes::Trouble;
use serde_json::{Value, json};

use self::decide::{Counted, End, set_count};
use crate::{
    clock::{after, shown},
    hands::{Ending, Hands, Manager, Outcome},
    kinds::Kind,
    pods::{self, BURST},
    queue::{Key, Task},
    read::{self, Place, int, list, text},
    replicas,
    seen::{INDEX_ANNOTATION, Pod, TRACKING_FINALIZER},
};

/// Looks at a job.
pub(crate) async fn look(hands: &Hands, place: &Place) -> Outcome {
    let job = hands.seen.get(Kind::Job, place);
    let uid = job.as_deref().map_or("", read::uid);
    release_orphans(hands, place, uid).await?;
    let Some(job) = job else { return Ok(()) };
    let manager = text(&job["spec"]["managedBy"]);
    if !manager.is_empty() && manager != "kubernetes.io/job-controller" {
        return Ok(());
    }
    if let Some(finished) = decide::finished(&job) {
        return expire(hands, place, &job, finished).await;
    }
    let selector = read::selector(Kind::Job, &job);
    let pods = pods::claim(hands, Kind::Job, &job, &selector).await?;
    work(hands, place, &job, &pods).await
}

async fn work(hands: &Hands, place: &Place, job: &Value, pods: &[Arc<Pod>]) -> Outcome {
    let now = hands.now();
    let counted = Counted::new(job, pods, now);
    let mut status = job["status"].clone();
    if !status.is_object() {
        status = json!({});
    }
    if status["uncountedTerminatedPods"].is_null() {
        status["uncountedTerminatedPods"] = json!({});
    }
    if status["startTime"].is_null() && !decide::is_suspended(job) {
        status["startTime"] = json!(shown(now));
    }
    let mut active = i64::try_from(counted.active.len()).unwrap_or(i64::MAX);
    let mut ready = ready(&counted.active);
    let mut terminating = counted.terminating();
    let mut end = counted.end();
    let mut outcome = Ok(());
    if end.is_some() {
        pods::delete(hands, &counted.active).await?;
        terminating += active;
        (active, ready) = (0, 0);
    } else {
        if !read::is_deleting(job) {
            let managed = manage(hands, place, job, &counted).await;
            let removed = i64::try_from(managed.removed.len()).unwrap_or(0);
            active += managed.made - removed;
            ready -= self::ready(&managed.removed);
            terminating += removed;
            outcome = managed.trouble.map_or(Ok(()), Err);
        }
        end = counted.success(active);
        if end.is_none() {
            suspend(&mut status, job, now);
        }
    }
    if let Some(deadline) = counted.deadline() {
        let key = Key {
            task: Task::Job,
            place: place.clone(),
        };
        hands.queue.add_at(key, deadline);
    }
    set_count(&mut status, "active", active);
    status["ready"] = json!(ready);
    status["terminating"] = json!(terminating);
    track(hands, job, &counted, pods, status, end).await?;
    outcome
}

fn ready(pods: &[Arc<Pod>]) -> i64 {
    i64::try_from(pods.iter().filter(|pod| pod.is_ready()).count()).unwrap_or(i64::MAX)
}

/// What became of making and ending pods.
#[derive(Default)]
struct Managed {
    made: i64,
    removed: Vec<Arc<Pod>>,
    trouble: Option<Trouble>,
}

/// Makes pods that are missing, or ends some that are too many.
async fn manage(hands: &Hands, place: &Place, job: &Value, counted: &Counted<'_>) -> Managed {
    let surplus = i64::try_from(counted.active.len()).unwrap_or(i64::MAX) - counted.wanted();
    if surplus > 0 {
        let count = usize::try_from(surplus).unwrap_or(0).min(BURST);
        let chosen = replicas::to_delete(&counted.active, count);
        return match pods::delete(hands, &chosen).await {
            Ok(()) => Managed {
                removed: chosen,
                ..Managed::default()
            },
            Err(trouble) => Managed {
                trouble: Some(trouble),
                ..Managed::default()
            },
        };
    }
    let missing = usize::try_from(counted.missing()).unwrap_or(0).min(BURST);
    if missing == 0 {
        return Managed::default();
    }
    if let Some(until) = counted.paused_until() {
        let key = Key {
            task: Task::Job,
            place: place.clone(),
        };
        hands.queue.add_at(key, until);
        return Managed::default();
    }
    let new: Vec<Value> = if counted.done.is_some() {
        let indexes = counted.pending_indexes(missing);
        indexes
            .into_iter()
            .map(|index| pod(job, Some(index)))
            .collect()
    } else {
        vec![pod(job, None); missing]
    };
    let made = pods::create(hands, &new).await;
    Managed {
        made: made.count,
        removed: Vec::new(),
        trouble: made
            .trouble
            .filter(|trouble| !pods::is_terminating(trouble)),
    }
}

/// A pod of the job, for an index where it has indexes.
fn pod(job: &Value, index: Option<u32>) -> Value {
    let mut pod = pods::from_template(Kind::Job, job, &job["spec"]["template"]);
    let mut finalizers = list(&pod["metadata"]["finalizers"]).to_vec();
    if !finalizers.iter().any(|name| name == TRACKING_FINALIZER) {
        finalizers.push(json!(TRACKING_FINALIZER));
    }
    pod["metadata"]["finalizers"] = Value::Array(finalizers);
    let Some(index) = index else { return pod };
    let name = format!("{}-{index}", read::name(job));
    pod["metadata"]["generateName"] = json!(format!("{name}-"));
    pod["metadata"]["annotations"][INDEX_ANNOTATION] = json!(index.to_string());
    pod["metadata"]["labels"][INDEX_ANNOTATION] = json!(index.to_string());
    pod["spec"]["hostname"] = json!(name);
    let variable = json!({ "name": "JOB_COMPLETION_INDEX", "valueFrom": { "fieldRef": {
        "fieldPath": format!("metadata.labels['{INDEX_ANNOTATION}']"),
    }}});
    for field in ["initContainers", "containers"] {
        for container in pod["spec"][field].as_array_mut().into_iter().flatten() {
            let mut variables = list(&container["env"]).to_vec();
            if !variables
                .iter()
                .any(|known| known["name"] == variable["name"])
            {
                variables.push(variable.clone());
            }
            container["env"] = Value::Array(variables);
        }
    }
    pod
}

/// Says that a job is put off, or no longer.
fn suspend(status: &mut Value, job: &Value, now: jiff::Timestamp) {
    let known = read::condition(status, "Suspended").map(|known| text(&known["status"]).to_owned());
    if decide::is_suspended(job) {
        if known.as_deref() != Some("True") {
            let words = ("Suspended", "True", "JobSuspended", "Job suspended");
            decide::add_condition(status, words, now);
            if let Some(fields) = status.as_object_mut() {
                fields.remove("startTime");
            }
        }
    } else if known.as_deref() == Some("True") {
        let words = ("Suspended", "False", "JobResumed", "Job resumed");
        decide::add_condition(status, words, now);
        status["startTime"] = json!(shown(now));
    }
}

/// Counts pods that ended: their uids, then their finalizers, then the numbers; and the end of the job.
async fn track(
    hands: &Hands,
    job: &Value,
    counted: &Counted<'_>,
    pods: &[Arc<Pod>],
    mut status: Value,
    end: Option<End>,
) -> Outcome {
    let now = hands.now();
    let has_finalizer = |uid: &str| pods.iter().any(|pod| &*pod.uid == uid && pod.is_tracked);
    decide::settle(&mut status, has_finalizer);
    let mut to_release: Vec<Arc<Pod>> = Vec::new();
    for pod in pods.iter().filter(|pod| pod.is_tracked) {
        let known = |how: &str| {
            let uids = list(&status["uncountedTerminatedPods"][how]);
            uids.iter().any(|uid| text(uid) == &*pod.uid)
        };
        let is_of = |pods: &[Arc<Pod>]| pods.iter().any(|other| other.uid == pod.uid);
        let is_over = known("succeeded")
            || known("failed")
            || is_of(&counted.new_succeeded)
            || is_of(&counted.new_failed);
        if is_over || read::is_deleting(job) || end.is_some() {
            to_release.push(pod.clone());
        }
    }
    if let Some(done) = &counted.done {
        status["completedIndexes"] = json!(indexes::format(done));
        set_count(&mut status, "succeeded", counted.succeeded);
    } else {
        add_uncounted(&mut status, "succeeded", &counted.new_succeeded);
    }
    // When a job fails, pods that still run count as failed too.
    let mut failed = counted.new_failed.clone();
    if end.as_ref().is_some_and(|end| !end.is_success) {
        failed.extend(counted.active.iter().filter(|pod| pod.is_tracked).cloned());
    }
    add_uncounted(&mut status, "failed", &failed);
    if let Some(end) = &end {
        let words = (
            end.types().0,
            "True",
            end.reason.as_str(),
            end.message.as_str(),
        );
        decide::add_condition(&mut status, words, now);
    }
    hands.set_status(Kind::Job, job, &status).await?;

    let released = join_all(to_release.iter().map(|pod| release(hands, &pod.place))).await;
    released.into_iter().collect::<Outcome>()?;
    if to_release.is_empty() && end.is_none() {
        return Ok(());
    }
    // Go on from what was just written.
    let Some(job) = hands.seen.get(Kind::Job, &Place::of(job)) else {
        return Ok(());
    };
    let mut status = job["status"].clone();
    decide::settle(&mut status, |uid| {
        has_finalizer(uid) && !to_release.iter().any(|pod| &*pod.uid == uid)
    });
    if let Some(end) = end.filter(|_| int(&status["terminating"]) == 0) {
        let (_, kind) = end.types();
        let words = (kind, "True", end.reason.as_str(), end.message.as_str());
        decide::add_condition(&mut status, words, now);
        if end.is_success {
            status["completionTime"] = json!(shown(now));
        }
        let word = if end.is_success {
            ("Normal", "Completed", "Job completed")
        } else {
            ("Warning", end.reason.as_str(), end.message.as_str())
        };
        hands.event(Kind::Job, &job, word).await;
    }
    hands.set_status(Kind::Job, &job, &status).await
}

fn add_uncounted(status: &mut Value, how: &str, pods: &[Arc<Pod>]) {
    let mut uids = list(&status["uncountedTerminatedPods"][how]).to_vec();
    for pod in pods {
        let uid = json!(&*pod.uid);
        if !uids.contains(&uid) {
            uids.push(uid);
        }
    }
    decide::set_list(&mut status["uncountedTerminatedPods"], how, uids);
}

/// Takes the finalizer from a pod that is counted.
async fn release(hands: &Hands, pod: &Place) -> Outcome {
    let patch = json!({ "metadata": {
        "$deleteFromPrimitiveList/finalizers": [TRACKING_FINALIZER],
    }});
    let released = hands
        .patch(
            Kind::Pod,
            pod,
            "",
            &patch,
            "strategic",
            Manager::Controllers,
        )
        .await;
    match released {
        Ok(_) | Err(Trouble::NotFound(_)) => Ok(()),
        Err(trouble) => Err(trouble),
    }
}

/// Pods of a job that is gone have nobody to count them.
async fn release_orphans(hands: &Hands, job: &Place, uid: &str) -> Outcome {
    let orphans = hands.seen.pods_within(&job.namespace, |pod| {
        pod.is_tracked
            && match &pod.controller {
                Some(owner) => {
                    owner.kind == Kind::Job && owner.name == job.name && &*owner.uid != uid
                }
                None => !pod.is_controlled && uid.is_empty(),
            }
    });
    let released = join_all(orphans.iter().map(|pod| release(hands, &pod.place))).await;
    released.into_iter().collect()
}

/// Ends a job that has been over for long enough.
async fn expire(hands: &Hands, place: &Place, job: &Value, finished: jiff::Timestamp) -> Outcome {
    let Some(seconds) = job["spec"]["ttlSecondsAfterFinished"].as_u64() else {
        return Ok(());
    };
    if read::is_deleting(job) {
        return Ok(());
    }
    let due = after(finished, Duration::from_secs(seconds));
    if due > hands.now() {
        let key = Key {
            task: Task::Job,
            place: place.clone(),
        };
        hands.queue.add_at(key, due);
        return Ok(());
    }
    let how = Ending {
        propagation: Some("Foreground"),
        ..Ending::default()
    };
    hands.delete(Kind::Job, place, read::uid(job), how).await
}
