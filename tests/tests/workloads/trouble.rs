//! What trouble looks like: annotations make simulated pods crash, start slowly or not at all.

use std::time::Duration;

use k8s_openapi::api::{
    apps::v1::DaemonSet,
    core::v1::{ConfigMap, Event, Pod},
};
use kube::api::{DeleteParams, ListParams, PostParams};
use quadrille_testkit::{
    Cluster,
    builders::{mk, mk_config_map},
    clock::ManualClock,
    eventually, eventually_object,
};
use serde_json::{Value, json};

fn pod(name: &str, annotations: &[(&str, &str)], spec: &Value) -> Pod {
    let annotations: serde_json::Map<String, Value> = annotations
        .iter()
        .map(|(name, value)| (format!("node.quadrille.dev/{name}"), json!(value)))
        .collect();
    let mut pod = json!({
        "metadata": { "name": name, "annotations": annotations },
        "spec": { "containers": [{ "name": "main", "image": "example.com/app:1" }] },
    });
    for (key, value) in spec.as_object().into_iter().flatten() {
        pod["spec"][key] = value.clone();
    }
    mk(pod)
}

/// `phase: waiting reason` or `phase: ready`, and the number of restarts.
fn told(pod: Option<&Pod>) -> String {
    let value = serde_json::to_value(pod).unwrap_or_default();
    let status = &value["status"];
    let container = &status["containerStatuses"][0];
    let state = container["state"].as_object();
    let state = state.and_then(|state| state.iter().next());
    let state =
        state.map(|(kind, what)| format!("{kind} {}", what["reason"].as_str().unwrap_or("-")));
    format!(
        "{}, {}, {}, restarts {}",
        status["phase"].as_str().unwrap_or("none"),
        state.unwrap_or_default(),
        if container["ready"] == true {
            "ready"
        } else {
            "not ready"
        },
        container["restartCount"]
    )
}

async fn create(cluster: &Cluster, pod: &Pod) -> anyhow::Result<()> {
    cluster
        .api::<Pod>()
        .create(&PostParams::default(), pod)
        .await?;
    Ok(())
}

async fn until(cluster: &Cluster, name: &str, what: &str) {
    let api = cluster.api::<Pod>();
    eventually_object(&api, name, what, |pod| told(pod) == what).await;
}

#[tokio::test]
async fn a_pod_that_crashes_is_started_ever_later() -> anyhow::Result<()> {
    let clock = ManualClock::default();
    let cluster = Cluster::with_node_at(&clock).await?;
    create(&cluster, &pod("crash", &[("crash", "3")], &json!({}))).await?;
    until(
        &cluster,
        "crash",
        "Running, waiting CrashLoopBackOff, not ready, restarts 1",
    )
    .await;
    clock.advance(Duration::from_secs(10));
    until(
        &cluster,
        "crash",
        "Running, waiting CrashLoopBackOff, not ready, restarts 2",
    )
    .await;
    let events = cluster.api::<Event>();
    eventually("an event tells of it", async || {
        let list = events
            .list(&ListParams::default())
            .await
            .map_err(|error| error.to_string())?;
        let is_told = |event: &Event| event.reason.as_deref() == Some("BackOff");
        if list.items.iter().any(is_told) {
            Ok(())
        } else {
            Err("not yet")
        }
        .map_err(str::to_owned)
    })
    .await;
    clock.advance(Duration::from_secs(20));
    until(&cluster, "crash", "Running, running -, ready, restarts 3").await;
    Ok(())
}

#[tokio::test]
async fn an_image_that_cannot_be_had_a_slow_start_and_a_pod_that_never_serves() -> anyhow::Result<()>
{
    let clock = ManualClock::default();
    let cluster = Cluster::with_node_at(&clock).await?;
    let not_found = [("pull-error", "example.com/app:1: not found")];
    create(&cluster, &pod("pull", &not_found, &json!({}))).await?;
    create(
        &cluster,
        &pod(
            "slow",
            &[("start-after", "30s"), ("ready-after", "5s")],
            &json!({}),
        ),
    )
    .await?;
    create(
        &cluster,
        &pod("never", &[("ready-after", "never")], &json!({})),
    )
    .await?;
    until(
        &cluster,
        "pull",
        "Pending, waiting ErrImagePull, not ready, restarts 0",
    )
    .await;
    until(
        &cluster,
        "slow",
        "Pending, waiting ContainerCreating, not ready, restarts 0",
    )
    .await;
    until(
        &cluster,
        "never",
        "Running, running -, not ready, restarts 0",
    )
    .await;
    clock.advance(Duration::from_secs(2));
    until(
        &cluster,
        "pull",
        "Pending, waiting ImagePullBackOff, not ready, restarts 0",
    )
    .await;
    clock.advance(Duration::from_secs(28));
    until(
        &cluster,
        "slow",
        "Running, running -, not ready, restarts 0",
    )
    .await;
    clock.advance(Duration::from_secs(5));
    until(&cluster, "slow", "Running, running -, ready, restarts 0").await;
    Ok(())
}

#[tokio::test]
async fn a_pod_waits_for_its_config() -> anyhow::Result<()> {
    let clock = ManualClock::default();
    let cluster = Cluster::with_node_at(&clock).await?;
    let needs = json!({ "containers": [{
        "name": "main", "image": "example.com/app:1",
        "envFrom": [{ "configMapRef": { "name": "settings" } }],
    }]});
    create(&cluster, &pod("config", &[], &needs)).await?;
    let what = "Pending, waiting CreateContainerConfigError, not ready, restarts 0";
    until(&cluster, "config", what).await;
    let settings = mk_config_map("settings", &[("a", "b")]);
    let params = PostParams::default();
    cluster
        .api::<ConfigMap>()
        .create(&params, &settings)
        .await?;
    clock.advance(Duration::from_secs(2));
    until(&cluster, "config", "Running, running -, ready, restarts 0").await;
    Ok(())
}

#[tokio::test]
async fn a_wish_that_cannot_be_read_is_told() -> anyhow::Result<()> {
    let cluster = Cluster::with_node().await?;
    let wishes = [
        ("ready-after", "soon"),
        ("crush", "true"),
        ("start-after", "0s"),
    ];
    create(&cluster, &pod("wishes", &wishes, &json!({}))).await?;
    let events = cluster.api::<Event>();
    eventually("both mistakes are told, each once", async || {
        let found = events.list(&ListParams::default()).await;
        let found = found.map_err(|error| error.to_string())?.items;
        let mut told: Vec<String> = found
            .into_iter()
            .filter(|event| event.reason.as_deref() == Some("InvalidAnnotation"))
            .filter_map(|event| event.message)
            .collect();
        told.sort();
        let expected = [
            "annotation node.quadrille.dev/crush is \"true\" and has no effect: there is no such wish",
            "annotation node.quadrille.dev/ready-after is \"soon\" and has no effect: write a time such as 5s, or never",
        ];
        if told == expected {
            Ok(())
        } else {
            Err(format!("{told:?}"))
        }
    })
    .await;
    until(&cluster, "wishes", "Running, running -, ready, restarts 0").await;
    Ok(())
}

#[tokio::test]
async fn a_pod_that_fits_nowhere_is_told_why() -> anyhow::Result<()> {
    let cluster = Cluster::start_with_node().await?;
    let nowhere = json!({ "nodeSelector": { "there-is": "none-such" } });
    create(&cluster, &pod("nowhere", &[], &nowhere)).await?;
    let huge = json!({ "containers": [{
        "name": "main", "image": "example.com/app:1",
        "resources": { "requests": { "cpu": "100k" } },
    }]});
    create(&cluster, &pod("huge", &[], &huge)).await?;
    let api = cluster.api::<Pod>();
    for (name, why) in [
        (
            "nowhere",
            "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector. no new claims to \
             deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
        ),
        (
            "huge",
            "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes \
             are available: 1 Preemption is not helpful for scheduling.",
        ),
    ] {
        let refused = eventually_object(&api, name, "it is said why", |pod| {
            let value = serde_json::to_value(pod).unwrap_or_default();
            !value["status"]["conditions"][0]["message"].is_null()
        })
        .await;
        let value = serde_json::to_value(refused)?;
        let condition = &value["status"]["conditions"][0];
        assert_eq!(condition["reason"], "Unschedulable");
        assert_eq!(condition["message"], why);
    }
    Ok(())
}

#[tokio::test]
async fn a_pod_gets_the_time_that_it_takes_to_end_and_no_more() -> anyhow::Result<()> {
    let clock = ManualClock::default();
    let cluster = Cluster::with_node_at(&clock).await?;
    let slow = json!({ "terminationGracePeriodSeconds": 20 });
    create(&cluster, &pod("slow", &[("stop-after", "1h")], &slow)).await?;
    create(&cluster, &pod("quick", &[], &json!({}))).await?;
    let api = cluster.api::<Pod>();
    for name in ["slow", "quick"] {
        until(&cluster, name, "Running, running -, ready, restarts 0").await;
        api.delete(name, &DeleteParams::default()).await?;
    }
    eventually_object(&api, "quick", "it is gone", |pod| pod.is_none()).await;
    assert!(api.get_opt("slow").await?.is_some());
    clock.advance(Duration::from_secs(20));
    eventually_object(&api, "slow", "it is gone", |pod| pod.is_none()).await;
    Ok(())
}

#[tokio::test]
async fn init_containers_run_first_and_daemons_are_on_every_node() -> anyhow::Result<()> {
    let cluster = Cluster::start_with_node().await?;
    let set: DaemonSet = mk(json!({
        "metadata": { "name": "agent" },
        "spec": {
            "selector": { "matchLabels": { "app": "agent" } },
            "template": { "metadata": { "labels": { "app": "agent" } }, "spec": {
                "initContainers": [{ "name": "first", "image": "example.com/init:1" }],
                "containers": [{ "name": "main", "image": "example.com/app:1" }],
            }},
        },
    }));
    let api = cluster.api::<DaemonSet>();
    api.create(&PostParams::default(), &set).await?;
    let ready = eventually_object(&api, "agent", "every node has one", |set| {
        let status = set.and_then(|set| set.status.as_ref());
        status.is_some_and(|status| {
            status.desired_number_scheduled > 0
                && status.number_available == Some(status.desired_number_scheduled)
                && status.updated_number_scheduled == Some(status.desired_number_scheduled)
        })
    })
    .await;
    let status = ready.and_then(|set| set.status).unwrap();
    assert_eq!(status.number_misscheduled, 0);
    let pods = cluster.api::<Pod>().list(&ListParams::default()).await?;
    for pod in &pods.items {
        let value = serde_json::to_value(pod)?;
        let first = &value["status"]["initContainerStatuses"][0]["state"]["terminated"];
        assert_eq!(first["exitCode"], 0);
    }
    Ok(())
}
