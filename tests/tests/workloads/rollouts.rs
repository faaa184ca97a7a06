//! Rollouts and scaling say the same on the embedded cluster as the controllers of Kubernetes do on a real one.
//!
//! What is compared is what does not hang on timing. Of a Deployment: the sizes that it gives its ReplicaSets, step by
//! step, and each of its conditions' turns (type, status, reason); numbers of ready pods between two steps are left
//! out, since several pods may become ready between two writes. Of a StatefulSet: the order in which pods come and
//! go, and its ready replicas. The lists below are what a real cluster tells: run with `QUADRILLE_TEST_REAL=start`,
//! each story is told on both kinds of cluster.

use std::collections::BTreeMap;

use k8s_openapi::api::{
    apps::v1::{Deployment, ReplicaSet, StatefulSet},
    core::v1::Pod,
};
use kube::api::{ListParams, Patch, PatchParams, PostParams};
use quadrille_testkit::{
    Cluster,
    builders::{mk, mk_deployment},
    eventually_object, real,
};
use serde_json::{Value, json};

use crate::recorder::{condition, dynamic, record};

/// Tells a story on the embedded cluster, and on a real one if the test run asks for it.
async fn told_alike(
    story: impl AsyncFn(&Cluster) -> anyhow::Result<Vec<String>>,
    expected: &[&str],
) -> anyhow::Result<()> {
    let embedded = story(&Cluster::with_node().await?).await?;
    assert_eq!(embedded, expected, "on the embedded cluster");
    if real::is_asked_for() {
        let real = story(&Cluster::real().await?).await?;
        assert_eq!(real, expected, "on a real cluster");
    }
    Ok(())
}

fn web() -> Deployment {
    let mut deployment = serde_json::to_value(mk_deployment("web", 3)).expect("a deployment");
    deployment["spec"]["strategy"] = json!({
        "type": "RollingUpdate", "rollingUpdate": { "maxSurge": 1, "maxUnavailable": 0 },
    });
    mk(deployment)
}

/// What a deployment's conditions say, turn by turn.
async fn conditions(cluster: &Cluster, kind: &str, last: &str) -> anyhow::Result<Vec<String>> {
    let api = dynamic(cluster, "apps", "Deployment");
    let read = |_: &str, object: &Value| condition(object, kind).into_iter().collect();
    record(api, "", read, |lines| lines.last().is_some_and(|line| line == last)).await
}

/// The sizes that a deployment gives its replica sets, as `revision:size`.
async fn sizes(cluster: &Cluster, last: &str) -> anyhow::Result<Vec<String>> {
    let mut sizes: BTreeMap<String, i64> = BTreeMap::new();
    let read = move |_: &str, set: &Value| {
        let revision = &set["metadata"]["annotations"]["deployment.kubernetes.io/revision"];
        let revision = revision.as_str().unwrap_or_default().to_owned();
        sizes.insert(revision, set["spec"]["replicas"].as_i64().unwrap_or(-1));
        let shown: Vec<String> = sizes
            .iter()
            .map(|(revision, size)| format!("{revision}:{size}"))
            .collect();
        vec![shown.join(" ")]
    };
    let api = dynamic(cluster, "apps", "ReplicaSet");
    record(api, "", read, |lines| lines.last().is_some_and(|line| line == last)).await
}

async fn until_available(cluster: &Cluster, generation: i64) -> anyhow::Result<Deployment> {
    let api = cluster.api::<Deployment>();
    let object = eventually_object(&api, "web", "the rollout is complete", |deployment| {
        let Some(deployment) = deployment else { return false };
        let Some(status) = &deployment.status else { return false };
        status.observed_generation == Some(generation)
            && status.updated_replicas == Some(3)
            && status.replicas == Some(3)
            && status.available_replicas == Some(3)
    })
    .await;
    Ok(object.expect("it exists"))
}

async fn change_template(cluster: &Cluster, spec: Value) -> anyhow::Result<()> {
    let patch = json!({ "spec": { "template": { "spec": spec } } });
    let api = cluster.api::<Deployment>();
    let params = PatchParams::default();
    api.patch("web", &params, &Patch::Strategic(&patch)).await?;
    Ok(())
}

#[tokio::test]
async fn a_rolling_update_goes_step_by_step() -> anyhow::Result<()> {
    let story = async |cluster: &Cluster| {
        let turns = conditions(cluster, "Progressing", "done");
        let _ = turns;
        let sizes = sizes(cluster, "1:0 2:3");
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
        "1:3", "1:3 2:1", "1:2 2:1", "1:2 2:2", "1:1 2:2", "1:1 2:3", "1:0 2:3",
        "Available=True/MinimumReplicasAvailable",
        "Progressing=True/NewReplicaSetAvailable",
        "revision \"1\" replicas 3 updated 3 ready 3 available 3 unavailable 0",
        "Available=True/MinimumReplicasAvailable",
        "Progressing=True/NewReplicaSetAvailable",
        "revision \"2\" replicas 3 updated 3 ready 3 available 3 unavailable 0",
    ];
    told_alike(story, &expected).await
}
