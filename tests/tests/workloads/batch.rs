//! Jobs and cron jobs. Those that wait for hours do so by a clock in the test's hand, which a real cluster can't take:
//! they run on the embedded cluster only.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::{
    batch::v1::{CronJob, Job},
    core::v1::Pod,
};
use kube::{
    Api,
    api::{ListParams, Patch, PatchParams, PostParams},
};
use quadrille_testkit::{Cluster, builders::mk, clock::ManualClock, eventually, eventually_object};
use serde_json::{Value, json};

use crate::recorder::{condition, dynamic, now, record, told_alike};

fn job(name: &str, spec: &Value, annotations: &Value) -> Job {
    let mut job = json!({ "metadata": { "name": name }, "spec": spec });
    job["spec"]["template"] = json!({
        "metadata": { "annotations": annotations },
        "spec": {
            "restartPolicy": "Never",
            "containers": [{ "name": "main", "image": "example.com/job:1" }],
        },
    });
    mk(job)
}

async fn until(cluster: &Cluster, name: &str, kind: &str) -> Value {
    let api = cluster.api::<Job>();
    let object = eventually_object(&api, name, kind, |job| {
        let value = serde_json::to_value(job).unwrap_or_default();
        condition(&value, kind).is_some_and(|told| told.contains("=True/"))
    })
    .await;
    serde_json::to_value(object).unwrap()
}

#[tokio::test]
async fn a_job_counts_its_pods_and_completes() -> anyhow::Result<()> {
    let cluster = Cluster::start_with_node().await?;
    let spec = json!({ "completions": 3, "parallelism": 2 });
    let from = now(&cluster).await?;
    let turns = record(
        dynamic(&cluster, "batch", "Job"),
        &from,
        |_, job| {
            let list = job["status"]["conditions"].as_array();
            let list = list.into_iter().flatten();
            list.filter_map(|told| condition(job, told["type"].as_str()?))
                .collect()
        },
        |lines| {
            lines
                .last()
                .is_some_and(|line| line.starts_with("Complete="))
        },
    );
    let create = async {
        let api = cluster.api::<Job>();
        api.create(&PostParams::default(), &job("work", &spec, &json!({})))
            .await
    };
    let (turns, created) = tokio::join!(turns, create);
    created?;
    // What was said once is said again in each later event.
    let mut turns = turns?;
    turns.dedup();
    assert_eq!(
        turns.first().unwrap(),
        "SuccessCriteriaMet=True/CompletionsReached"
    );
    assert_eq!(turns.last().unwrap(), "Complete=True/CompletionsReached");
    let done = until(&cluster, "work", "Complete").await;
    let status = &done["status"];
    assert_eq!(
        (&status["succeeded"], &status["ready"]),
        (&json!(3), &json!(0))
    );
    assert_eq!(status["uncountedTerminatedPods"], json!({}));
    let pods = cluster.api::<Pod>().list(&ListParams::default()).await?;
    assert_eq!(pods.items.len(), 3);
    assert!(
        pods.items
            .iter()
            .all(|pod| pod.metadata.finalizers.is_none())
    );
    Ok(())
}

#[tokio::test]
async fn a_job_whose_pods_fail_fails_when_its_patience_ends() -> anyhow::Result<()> {
    let clock = ManualClock::default();
    let cluster = Cluster::with_node_at(&clock).await?;
    let api = cluster.api::<Job>();
    let crash = json!({ "node.quadrille.dev/exit-code": "3" });
    let spec = json!({ "backoffLimit": 1 });
    api.create(&PostParams::default(), &job("bad", &spec, &crash))
        .await?;
    let failed = async |count: i32| {
        eventually_object(&api, "bad", "a pod has failed", |job| {
            let status = job.and_then(|job| job.status.as_ref());
            status.is_some_and(|status| status.failed == Some(count))
        })
        .await
    };
    failed(1).await;
    // The next pod comes after a pause of ten seconds.
    advance_until(&clock, Duration::from_secs(1), async || {
        let job = api.get("bad").await?;
        Ok(job.status.and_then(|status| status.failed) == Some(2))
    })
    .await;
    let bad = until(&cluster, "bad", "Failed").await;
    assert_eq!(
        condition(&bad, "FailureTarget").unwrap(),
        "FailureTarget=True/BackoffLimitExceeded"
    );
    assert_eq!(
        condition(&bad, "Failed").unwrap(),
        "Failed=True/BackoffLimitExceeded"
    );
    assert_eq!(bad["status"]["failed"], 2);
    assert!(
        clock.elapsed() >= Duration::from_secs(10),
        "{:?}",
        clock.elapsed()
    );
    Ok(())
}

/// Moves the clock in steps until something is so.
async fn advance_until(
    clock: &ManualClock,
    step: Duration,
    is_so: impl AsyncFn() -> anyhow::Result<bool>,
) {
    eventually("the time has come", async || match is_so().await {
        Ok(true) => Ok(()),
        Ok(false) => {
            clock.advance(step);
            Err("not yet".to_owned())
        }
        Err(error) => Err(error.to_string()),
    })
    .await;
}

#[tokio::test]
async fn a_suspended_job_waits_and_goes_on_and_an_old_one_is_cleared_away() -> anyhow::Result<()> {
    let clock = ManualClock::default();
    let cluster = Cluster::with_node_at(&clock).await?;
    let api = cluster.api::<Job>();
    let spec = json!({ "suspend": true, "ttlSecondsAfterFinished": 60 });
    api.create(&PostParams::default(), &job("late", &spec, &json!({})))
        .await?;
    let waiting = until(&cluster, "late", "Suspended").await;
    assert_eq!(waiting["status"]["startTime"], Value::Null);
    let patch = json!({ "spec": { "suspend": false } });
    api.patch("late", &PatchParams::default(), &Patch::Merge(&patch))
        .await?;
    advance_until(&clock, Duration::from_secs(1), async || {
        let job = api.get_opt("late").await?;
        let value = serde_json::to_value(job)?;
        Ok(condition(&value, "Complete").is_some())
    })
    .await;
    advance_until(&clock, Duration::from_secs(30), async || {
        Ok(api.get_opt("late").await?.is_none())
    })
    .await;
    let pods = cluster.api::<Pod>();
    eventually("its pods go with it", async || {
        match pods.list(&ListParams::default()).await {
            Ok(list) if list.items.is_empty() => Ok(()),
            other => Err(format!("{other:?}")),
        }
    })
    .await;
    Ok(())
}

/// Waits for something of a cron job.
async fn cron_until(api: &Api<CronJob>, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
    let object = eventually_object(api, "tick", what, |cron| {
        holds(&serde_json::to_value(cron).unwrap_or_default())
    })
    .await;
    serde_json::to_value(object).unwrap()
}

#[tokio::test]
async fn a_cron_job_runs_at_its_hours_in_its_time_zone() -> anyhow::Result<()> {
    // Noon in UTC is one o'clock in Zurich.
    let clock = ManualClock::at("2030-01-01T12:30:00Z".parse::<Timestamp>()?);
    let cluster = Cluster::with_node_at(&clock).await?;
    let api = cluster.api::<CronJob>();
    let cron: CronJob = mk(json!({
        "metadata": { "name": "tick" },
        "spec": {
            "schedule": "0 14-16 * * *", "timeZone": "Europe/Zurich",
            "successfulJobsHistoryLimit": 2,
            "jobTemplate": { "spec": { "template": { "spec": {
                "restartPolicy": "Never",
                "containers": [{ "name": "main", "image": "example.com/job:1" }],
            }}}},
        },
    }));
    api.create(&PostParams::default(), &cron).await?;
    let mut told = Vec::new();
    for hour in [13, 14, 15] {
        let due = format!("2030-01-01T{hour}:00:00Z");
        advance_to(&clock, &due)?;
        let started = cron_until(&api, "a job is active", |cron| {
            cron["status"]["lastScheduleTime"] == due
        })
        .await;
        let job = started["status"]["active"][0]["name"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        told.push(format!("{due} {job}"));
        // The pod takes a second; move on until the job is done.
        advance_until(&clock, Duration::from_secs(1), async || {
            let cron = serde_json::to_value(api.get("tick").await?)?;
            Ok(cron["status"]["active"].is_null()
                && !cron["status"]["lastSuccessfulTime"].is_null())
        })
        .await;
    }
    assert_eq!(
        told,
        [
            "2030-01-01T13:00:00Z tick-31558380",
            "2030-01-01T14:00:00Z tick-31558440",
            "2030-01-01T15:00:00Z tick-31558500",
        ]
    );
    let jobs = cluster.api::<Job>();
    eventually("only two finished jobs are kept", async || {
        let list = jobs
            .list(&ListParams::default())
            .await
            .map_err(|error| error.to_string())?;
        let names: Vec<_> = list
            .items
            .iter()
            .filter_map(|job| job.metadata.name.clone())
            .collect();
        if names == ["tick-31558440", "tick-31558500"] {
            Ok(())
        } else {
            Err(format!("{names:?}"))
        }
    })
    .await;
    // The next one is tomorrow.
    advance_to(&clock, "2030-01-02T12:59:59Z")?;
    let still = serde_json::to_value(api.get("tick").await?)?;
    assert_eq!(still["status"]["lastScheduleTime"], "2030-01-01T15:00:00Z");
    advance_to(&clock, "2030-01-02T13:00:00Z")?;
    cron_until(&api, "the next day's job is made", |cron| {
        cron["status"]["lastScheduleTime"] == "2030-01-02T13:00:00Z"
    })
    .await;
    Ok(())
}

fn advance_to(clock: &ManualClock, time: &str) -> anyhow::Result<()> {
    let to: Timestamp = time.parse()?;
    clock.advance(Duration::try_from(to.duration_since(clock.now()))?);
    Ok(())
}

#[tokio::test]
async fn a_cron_job_that_may_not_overlap_waits_and_one_that_may_replace_does() -> anyhow::Result<()>
{
    for (policy, expected) in [("Forbid", 1), ("Replace", 1), ("Allow", 2)] {
        let clock = ManualClock::at("2030-01-01T12:30:00Z".parse::<Timestamp>()?);
        let cluster = Cluster::with_node_at(&clock).await?;
        let api = cluster.api::<CronJob>();
        let cron: CronJob = mk(json!({
            "metadata": { "name": "tick" },
            "spec": {
                "schedule": "0 * * * *", "concurrencyPolicy": policy,
                "jobTemplate": { "spec": { "template": {
                    "metadata": { "annotations": { "node.quadrille.dev/exit-after": "10h" } },
                    "spec": {
                        "restartPolicy": "Never",
                        "containers": [{ "name": "main", "image": "example.com/job:1" }],
                    },
                }}},
            },
        }));
        api.create(&PostParams::default(), &cron).await?;
        advance_to(&clock, "2030-01-01T13:00:00Z")?;
        let first = cron_until(&api, "a job is active", |cron| {
            cron["status"]["lastScheduleTime"] == "2030-01-01T13:00:00Z"
        })
        .await;
        advance_to(&clock, "2030-01-01T14:00:00Z")?;
        let second = if policy == "Forbid" {
            let events = cluster.api::<k8s_openapi::api::core::v1::Event>();
            eventually("it is said that the job waits", async || {
                let list = events
                    .list(&ListParams::default())
                    .await
                    .map_err(|error| error.to_string())?;
                let is_told = |event: &k8s_openapi::api::core::v1::Event| {
                    event.reason.as_deref() == Some("JobAlreadyActive")
                };
                if list.items.iter().any(is_told) {
                    Ok(())
                } else {
                    Err("not yet".to_owned())
                }
            })
            .await;
            serde_json::to_value(api.get("tick").await?)?
        } else {
            cron_until(&api, "the second job is made", |cron| {
                cron["status"]["lastScheduleTime"] == "2030-01-01T14:00:00Z"
            })
            .await
        };
        let active = |cron: &Value| -> Vec<Value> {
            cron["status"]["active"]
                .as_array()
                .cloned()
                .unwrap_or_default()
        };
        assert_eq!(active(&second).len(), expected, "{policy}: {second:#}");
        let has_first = active(&second)
            .iter()
            .any(|job| job["uid"] == active(&first)[0]["uid"]);
        assert_eq!(has_first, policy != "Replace", "{policy}");
    }
    Ok(())
}

#[tokio::test]
async fn a_cron_job_tells_what_its_job_does() -> anyhow::Result<()> {
    let story = async |cluster: &Cluster| {
        let from = now(cluster).await?;
        let turns = record(
            dynamic(cluster, "batch", "CronJob"),
            &from,
            |_, cron| {
                let status = &cron["status"];
                let active = status["active"].as_array().map_or(0, Vec::len);
                let has = |field: &str| {
                    if status[field].is_null() {
                        "never"
                    } else {
                        "once"
                    }
                };
                vec![format!(
                    "active {active}, scheduled {}, succeeded {}",
                    has("lastScheduleTime"),
                    has("lastSuccessfulTime")
                )]
            },
            |lines| {
                lines
                    .last()
                    .is_some_and(|line| line.ends_with("succeeded once"))
            },
        );
        let create = async {
            let cron: CronJob = mk(json!({
                "metadata": { "name": "tick" },
                "spec": {
                    "schedule": "@every 3s",
                    "jobTemplate": { "spec": { "template": { "spec": {
                        "restartPolicy": "Never",
                        "containers": [{ "name": "main", "image": "example.com/job:1" }],
                    }}}},
                },
            }));
            cluster
                .api::<CronJob>()
                .create(&PostParams::default(), &cron)
                .await
        };
        let (turns, created) = tokio::join!(turns, create);
        created?;
        turns
    };
    let expected = [
        "active 0, scheduled never, succeeded never",
        "active 1, scheduled once, succeeded never",
        "active 0, scheduled once, succeeded once",
    ];
    told_alike(story, &expected).await
}
