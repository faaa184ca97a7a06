//! How objects are doing.

use k8s_openapi::api::core::v1::Pod;
use kube::api::{ListParams, Patch, PatchParams, PostParams};
use quadrille_testkit::{
    ClusterKind, eventually,
    wire::{Matcher, Verb, WatchEnd},
};
use quadrille_types::{Release, annotations, conditions::ConditionType, release::Health};
use serde_json::{Value, json};

use crate::{
    hands::entry,
    objects::deployment,
    platform::{Platform, config},
};

/// On the embedded cluster nobody runs workloads: says of a deployment what a controller would say.
async fn say(platform: &Platform, available: i64) {
    if platform.cluster.kind() == ClusterKind::Real {
        return;
    }
    let api = platform.any("apps", "v1", "Deployment");
    let found = api.get("app").await.unwrap();
    let is_available = if available > 0 { "True" } else { "False" };
    let status = json!({ "status": {
        "observedGeneration": found.metadata.generation,
        "replicas": 1, "updatedReplicas": 1,
        "readyReplicas": available, "availableReplicas": available,
        "unavailableReplicas": 1 - available,
        "conditions": [
            { "type": "Available", "status": is_available, "reason": "Said", "message": "" },
            { "type": "Progressing", "status": "True", "reason": "ReplicaSetUpdated", "message": "" },
        ],
    }});
    let params = PatchParams::default();
    api.patch_status("app", &params, &Patch::Merge(&status))
        .await
        .unwrap();
}

/// A pod of the deployment: made by hand where nobody else makes it.
async fn pod(platform: &Platform) -> String {
    if platform.cluster.kind() == ClusterKind::Embedded {
        let app = deployment("app", None);
        let pod: Pod = serde_json::from_value(json!({
            "metadata": { "name": "app-1", "labels": { "app": "app" } },
            "spec": app["spec"]["template"]["spec"],
        }))
        .unwrap();
        let pods = platform.cluster.api::<Pod>();
        pods.create(&PostParams::default(), &pod).await.unwrap();
    }
    eventually("there is a pod", async || {
        let pods = platform.cluster.api::<Pod>();
        let found = pods.list(&ListParams::default().labels("app=app")).await;
        let found = found.unwrap().items.into_iter().next();
        found.and_then(|pod| pod.metadata.name).ok_or("none")
    })
    .await
}

async fn say_of_pod(platform: &Platform, name: &str, status: Value) {
    let patch = json!({ "status": status });
    let pods = platform.cluster.api::<Pod>();
    pods.patch_status(name, &PatchParams::default(), &Patch::Merge(&patch))
        .await
        .unwrap();
}

#[tokio::test]
async fn a_workload_is_healthy_when_it_runs() {
    let platform = Platform::start().await;
    let objects = [
        ("app", deployment("app", Some(1))),
        ("config", config("a", "1")),
    ];
    platform.release("cart", &objects).await;
    platform.applied("cart").await;
    say(&platform, 1).await;
    let release = platform.until("cart", ConditionType::Ready, "True").await;
    let app = entry(&release, "app").unwrap();
    assert_eq!(app.health_status, Some(Health::Healthy));
    assert_eq!(release.status.unwrap().healthy.as_deref(), Some("2/2"));
}

/// A release of one workload that no node takes.
async fn unschedulable(platform: &Platform) -> Release {
    let mut app = deployment("app", Some(1));
    app["spec"]["template"]["spec"]["nodeSelector"] = json!({ "moon": "dark-side" });
    platform.release("cart", &[("app", app)]).await;
    platform.applied("cart").await;
    let pod = pod(platform).await;
    if platform.cluster.kind() == ClusterKind::Embedded {
        let unschedulable = json!({ "phase": "Pending", "conditions": [{
            "type": "PodScheduled", "status": "False", "reason": "Unschedulable",
            "message": "0/1 nodes are available: 1 node(s) didn't match",
        }]});
        say_of_pod(platform, &pod, unschedulable).await;
    }
    say(platform, 0).await;
    platform
        .until_said(
            "cart",
            ConditionType::ResourcesReady,
            "False",
            "ResourcesDegraded",
        )
        .await
}

#[tokio::test]
async fn pods_of_a_workload_that_is_gone_or_left_are_not_watched_any_more() {
    for is_left in [false, true] {
        let platform = Platform::start().await;
        let release = unschedulable(&platform).await;
        let watches = Matcher::verb(Verb::Watch).resource("pods");
        assert!(platform.wire.count(&watches) > 0, "they were");
        if is_left {
            let word = annotations::ABANDON;
            platform.annotate("cart", word, "true").await;
        }
        platform.delete("cart").await;
        platform.gone("cart").await;
        platform.wire.forget();
        platform.release("later", &[("a", config("a", "1"))]).await;
        platform.until("later", ConditionType::Ready, "True").await;
        let others = Matcher::verb(Verb::Watch).resource("configmaps");
        // All that are open are opened anew; several times, so that one that takes longer than others shows, too.
        for _ in 0..3 {
            let before = platform.wire.count(&others);
            platform.wire.end_watches(WatchEnd::Closed);
            eventually("others are watched", async || {
                let again = platform.wire.count(&others) > before;
                again.then_some(()).ok_or("not yet")
            })
            .await;
        }
        assert_eq!(platform.wire.count(&watches), 0, "of {release:?}");
    }
}

#[tokio::test]
async fn a_workload_that_cannot_be_scheduled_is_degraded_and_says_why() {
    let platform = Platform::start().await;
    let release = unschedulable(&platform).await;
    let entry = entry(&release, "app").unwrap();
    assert_eq!(entry.health_status, Some(Health::Degraded));
    let message = entry.health_message.clone().unwrap();
    assert!(message.contains("no node takes its pod"), "{message}");
}

#[tokio::test]
async fn a_container_that_crashes_again_and_again_is_degraded_and_named() {
    let platform = Platform::start().await;
    platform
        .release("cart", &[("app", deployment("app", Some(1)))])
        .await;
    platform.applied("cart").await;
    let pod = pod(&platform).await;
    if platform.cluster.kind() == ClusterKind::Real {
        platform.until("cart", ConditionType::Ready, "True").await;
    }
    let crashing = json!({
        "phase": "Running",
        "conditions": [
            { "type": "Ready", "status": "False", "reason": "ContainersNotReady" },
            { "type": "ContainersReady", "status": "False", "reason": "ContainersNotReady" },
        ],
        "containerStatuses": [{
            "name": "main", "image": "example.com/app:1", "imageID": "", "ready": false,
            "restartCount": 7,
            "state": { "waiting": { "reason": "CrashLoopBackOff", "message": "back-off 5m0s" } },
            "lastState": { "terminated": { "exitCode": 3, "reason": "Error" } },
        }],
    });
    say_of_pod(&platform, &pod, crashing).await;
    say(&platform, 0).await;
    let release = platform
        .until_said(
            "cart",
            ConditionType::ResourcesReady,
            "False",
            "ResourcesDegraded",
        )
        .await;
    let message = entry(&release, "app").unwrap().health_message.clone();
    let message = message.unwrap();
    assert!(message.contains("container main"), "{message}");
    assert!(message.contains("ends again and again"), "{message}");
    assert!(message.contains("exit code 3"), "{message}");
}
