//! Rollouts and scaling say the same on the embedded cluster as the controllers of Kubernetes do on a real one.
//!
//! What is compared is what does not hang on timing. Of a Deployment: the sizes that it gives its ReplicaSets, step by
//! step, and each turn of its conditions (type, status, reason). Left out are numbers of ready pods between two steps,
//! since several may become ready between two writes, and `ReplicaSetUpdated`, which tells of them. Of a StatefulSet:
//! the order in which pods come and go, and its ready replicas. The lists below are what a real cluster tells: run with
//! `QUADRILLE_TEST_REAL=start`, each story is told on both kinds of cluster and held against the same list.

use std::collections::BTreeMap;

use k8s_openapi::api::apps::v1::{Deployment, StatefulSet};
use kube::api::{Patch, PatchParams, PostParams};
use quadrille_testkit::{
    Cluster,
    builders::{mk, mk_deployment},
    eventually_object,
};
use serde_json::{Value, json};

use crate::recorder::{condition, dynamic, now, record, told_alike};

fn web() -> Deployment {
    let mut deployment = serde_json::to_value(mk_deployment("web", 3)).expect("a deployment");
    deployment["spec"]["strategy"] = json!({
        "type": "RollingUpdate", "rollingUpdate": { "maxSurge": 1, "maxUnavailable": 0 },
    });
    mk(deployment)
}

/// What a deployment's conditions say, turn by turn.
async fn conditions(
    cluster: &Cluster,
    from: &str,
    last: &str,
    times: usize,
) -> anyhow::Result<Vec<String>> {
    let api = dynamic(cluster, "apps", "Deployment");
    let read = |_: &str, object: &Value| {
        let told =
            condition(object, "Progressing").filter(|told| !told.ends_with("/ReplicaSetUpdated"));
        told.into_iter().collect()
    };
    let is_over = |lines: &[String]| lines.iter().filter(|line| *line == last).count() == times;
    record(api, from, read, is_over).await
}

/// The sizes that a deployment gives its replica sets, as `revision:size`.
async fn sizes(cluster: &Cluster, from: &str, last: &str) -> anyhow::Result<Vec<String>> {
    let mut sizes: BTreeMap<String, String> = BTreeMap::new();
    let read = move |_: &str, set: &Value| {
        let name = set["metadata"]["name"].as_str().unwrap_or_default();
        let revision = &set["metadata"]["annotations"]["deployment.kubernetes.io/revision"];
        let revision = revision.as_str().unwrap_or_default();
        sizes.insert(
            name.to_owned(),
            format!("{revision}:{}", set["spec"]["replicas"]),
        );
        let mut shown: Vec<&str> = sizes.values().map(String::as_str).collect();
        shown.sort_unstable();
        vec![shown.join(" ")]
    };
    let api = dynamic(cluster, "apps", "ReplicaSet");
    record(api, from, read, |lines| {
        lines.last().is_some_and(|line| line == last)
    })
    .await
}

async fn until_available(cluster: &Cluster, generation: i64) -> anyhow::Result<Deployment> {
    let api = cluster.api::<Deployment>();
    let object = eventually_object(&api, "web", "the rollout is complete", |deployment| {
        let Some(deployment) = deployment else {
            return false;
        };
        let Some(status) = &deployment.status else {
            return false;
        };
        status.observed_generation == Some(generation)
            && status.updated_replicas == Some(3)
            && status.replicas == Some(3)
            && status.available_replicas == Some(3)
    })
    .await;
    Ok(object.expect("it exists"))
}

async fn change_template(cluster: &Cluster, spec: Value) -> anyhow::Result<()> {
    change(cluster, json!({ "template": { "spec": spec } })).await
}

async fn change(cluster: &Cluster, spec: Value) -> anyhow::Result<()> {
    let patch = json!({ "spec": spec });
    let api = cluster.api::<Deployment>();
    let params = PatchParams::default();
    api.patch("web", &params, &Patch::Strategic(&patch)).await?;
    Ok(())
}

#[tokio::test]
async fn a_rolling_update_goes_step_by_step() -> anyhow::Result<()> {
    let story = async |cluster: &Cluster| {
        let from = now(cluster).await?;
        let sizes = sizes(cluster, &from, "1:0 2:3");
        let act = async {
            let api = cluster.api::<Deployment>();
            api.create(&PostParams::default(), &web()).await?;
            let first = until_available(cluster, 1).await?;
            let image = json!({ "containers": [{ "name": "main", "image": "example.com/app:2" }] });
            change_template(cluster, image).await?;
            let second = until_available(cluster, 2).await?;
            anyhow::Ok((first, second))
        };
        let (lines, acted) = tokio::join!(sizes, act);
        let (first, second) = acted?;
        let mut lines = lines?;
        for deployment in [first, second] {
            let value = serde_json::to_value(&deployment)?;
            lines.extend(condition(&value, "Available"));
            lines.extend(condition(&value, "Progressing"));
            let status = &value["status"];
            let number = |field: &str| status[field].as_i64().unwrap_or(0);
            lines.push(format!(
                "revision {} replicas {} updated {} ready {} available {} unavailable {}",
                value["metadata"]["annotations"]["deployment.kubernetes.io/revision"],
                number("replicas"),
                number("updatedReplicas"),
                number("readyReplicas"),
                number("availableReplicas"),
                number("unavailableReplicas"),
            ));
        }
        Ok(lines)
    };
    let expected = [
        "1:3",
        "1:3 2:1",
        "1:2 2:1",
        "1:2 2:2",
        "1:1 2:2",
        "1:1 2:3",
        "1:0 2:3",
        "Available=True/MinimumReplicasAvailable",
        "Progressing=True/NewReplicaSetAvailable",
        "revision \"1\" replicas 3 updated 3 ready 3 available 3 unavailable 0",
        "Available=True/MinimumReplicasAvailable",
        "Progressing=True/NewReplicaSetAvailable",
        "revision \"2\" replicas 3 updated 3 ready 3 available 3 unavailable 0",
    ];
    Box::pin(told_alike(story, &expected)).await
}

#[tokio::test]
async fn a_rollout_that_cannot_go_on_fails_and_can_be_taken_back() -> anyhow::Result<()> {
    let story = async |cluster: &Cluster| {
        let from = now(cluster).await?;
        let turns = conditions(cluster, &from, "Progressing=True/NewReplicaSetAvailable", 2);
        let sizes = sizes(cluster, &from, "2:0 3:3");
        let act = async {
            let api = cluster.api::<Deployment>();
            api.create(&PostParams::default(), &web()).await?;
            until_available(cluster, 1).await?;
            // Only the rollout that is stuck is in a hurry: a busy machine may take longer than that for the others.
            let placed_on = |label: Value, deadline: u32| {
                json!({
                    "progressDeadlineSeconds": deadline,
                    "template": { "spec": { "nodeSelector": { "there-is": label } } },
                })
            };
            change(cluster, placed_on(json!("none-such"), 1)).await?;
            let stuck = eventually_object(&api, "web", "the rollout has failed", |deployment| {
                let value = serde_json::to_value(deployment).unwrap_or_default();
                // A busy controller may tell of the deadline before it has counted the pods that it made.
                value["status"]["updatedReplicas"] == 1
                    && condition(&value, "Progressing")
                        .is_some_and(|told| told.contains("Deadline"))
            })
            .await;
            let value = serde_json::to_value(stuck.expect("it exists"))?;
            change(cluster, placed_on(Value::Null, 600)).await?;
            until_available(cluster, 3).await?;
            anyhow::Ok(value)
        };
        let (turns, sizes, stuck) = tokio::join!(turns, sizes, act);
        let stuck = stuck?;
        let mut lines = turns?;
        lines.extend(sizes?);
        lines.extend(condition(&stuck, "Available"));
        let status = &stuck["status"];
        for field in [
            "replicas",
            "updatedReplicas",
            "readyReplicas",
            "unavailableReplicas",
        ] {
            lines.push(format!("{field} {}", status[field]));
        }
        Ok(lines)
    };
    let expected = [
        "Progressing=True/NewReplicaSetCreated",
        "Progressing=True/NewReplicaSetAvailable",
        "Progressing=True/NewReplicaSetCreated",
        "Progressing=False/ProgressDeadlineExceeded",
        "Progressing=True/NewReplicaSetAvailable",
        "1:3",
        "1:3 2:1",
        "2:1 3:3",
        "2:0 3:3",
        "Available=True/MinimumReplicasAvailable",
        "replicas 4",
        "updatedReplicas 1",
        "readyReplicas 3",
        "unavailableReplicas 1",
    ];
    Box::pin(told_alike(story, &expected)).await
}

#[tokio::test]
async fn a_stateful_set_grows_and_shrinks_in_order() -> anyhow::Result<()> {
    let story = async |cluster: &Cluster| {
        let from = now(cluster).await?;
        let pods = record(
            dynamic(cluster, "", "Pod"),
            &from,
            |what, pod| {
                let name = pod["metadata"]["name"].as_str().unwrap_or_default();
                let is_turn = what != "modified";
                is_turn
                    .then(|| format!("{what} {name}"))
                    .into_iter()
                    .collect()
            },
            |lines| lines.last().is_some_and(|line| line == "deleted db-1"),
        );
        let ready = record(
            dynamic(cluster, "apps", "StatefulSet"),
            &from,
            |_, set| {
                let number = set["status"]["readyReplicas"].as_i64().unwrap_or(0);
                vec![format!("ready {number}")]
            },
            |lines| lines.len() > 3 && lines.last().is_some_and(|line| line == "ready 1"),
        );
        let act = async {
            let api = cluster.api::<StatefulSet>();
            let set: StatefulSet = mk(json!({
                "metadata": { "name": "db" },
                "spec": {
                    "serviceName": "db", "replicas": 3,
                    "selector": { "matchLabels": { "app": "db" } },
                    "template": {
                        "metadata": { "labels": { "app": "db" } },
                        "spec": { "containers": [{ "name": "main", "image": "example.com/db:1" }] },
                    },
                },
            }));
            api.create(&PostParams::default(), &set).await?;
            until_ready(cluster, 3).await;
            let patch = json!({ "spec": { "replicas": 1 } });
            api.patch("db", &PatchParams::default(), &Patch::Merge(&patch))
                .await?;
            anyhow::Ok(until_ready(cluster, 1).await)
        };
        let (pods, ready, last) = tokio::join!(pods, ready, act);
        let mut lines = pods?;
        lines.extend(ready?);
        let value = serde_json::to_value(last?)?;
        for field in [
            "replicas",
            "availableReplicas",
            "currentReplicas",
            "updatedReplicas",
        ] {
            lines.push(format!("{field} {}", value["status"][field]));
        }
        Ok(lines)
    };
    let expected = [
        "added db-0",
        "added db-1",
        "added db-2",
        "deleted db-2",
        "deleted db-1",
        "ready 0",
        "ready 1",
        "ready 2",
        "ready 3",
        "ready 2",
        "ready 1",
        "replicas 1",
        "availableReplicas 1",
        "currentReplicas 1",
        "updatedReplicas 1",
    ];
    Box::pin(told_alike(story, &expected)).await
}

async fn until_ready(cluster: &Cluster, replicas: i32) -> StatefulSet {
    let api = cluster.api::<StatefulSet>();
    let object = eventually_object(&api, "db", "all replicas are ready", |set| {
        let status = set.and_then(|set| set.status.as_ref());
        status.is_some_and(|status| {
            status.replicas == replicas && status.ready_replicas == Some(replicas)
        })
    });
    object.await.expect("it exists")
}
