//! Services know their pods, claims get volumes, budgets and autoscalers count.

use k8s_openapi::api::{
    apps::v1::{Deployment, StatefulSet},
    autoscaling::v2::HorizontalPodAutoscaler,
    core::v1::{Event, PersistentVolume, PersistentVolumeClaim, Service},
    discovery::v1::EndpointSlice,
    policy::v1::PodDisruptionBudget,
};
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use quadrille_testkit::{
    Cluster,
    builders::{mk, mk_deployment, mk_service},
    eventually, eventually_object,
};
use serde_json::json;

async fn endpoints(cluster: &Cluster, service: &str, count: usize) -> Vec<EndpointSlice> {
    let api = cluster.api::<EndpointSlice>();
    let params = ListParams::default().labels(&format!("kubernetes.io/service-name={service}"));
    eventually("the service has that many endpoints", async || {
        let list = api.list(&params).await.map_err(|error| error.to_string())?;
        let ready = |slice: &EndpointSlice| {
            let endpoints = slice.endpoints.iter().flatten();
            let ready = endpoints.filter(|endpoint| {
                endpoint.conditions.as_ref().and_then(|told| told.ready) == Some(true)
            });
            ready.count()
        };
        let found: usize = list.items.iter().map(ready).sum();
        if found == count && !list.items.is_empty() {
            Ok(list.items)
        } else {
            Err(format!("{found} endpoints"))
        }
    })
    .await
}

#[tokio::test]
async fn a_service_follows_its_pods() -> anyhow::Result<()> {
    let cluster = Cluster::start_with_node().await?;
    let params = PostParams::default();
    cluster
        .api::<Service>()
        .create(&params, &mk_service("web", 80))
        .await?;
    let deployments = cluster.api::<Deployment>();
    deployments
        .create(&params, &mk_deployment("web", 3))
        .await?;
    let slices = endpoints(&cluster, "web", 3).await;
    let port = slices[0]
        .ports
        .as_ref()
        .and_then(|ports| ports.first())
        .unwrap();
    assert_eq!(
        (port.port, port.protocol.as_deref()),
        (Some(80), Some("TCP"))
    );
    let owner = &slices[0].metadata.owner_references.as_ref().unwrap()[0];
    assert_eq!(
        (owner.kind.as_str(), owner.name.as_str()),
        ("Service", "web")
    );
    let patch = json!({ "spec": { "replicas": 1 } });
    deployments
        .patch("web", &PatchParams::default(), &Patch::Merge(&patch))
        .await?;
    endpoints(&cluster, "web", 1).await;
    Ok(())
}

#[tokio::test]
async fn a_stateful_sets_claims_get_volumes() -> anyhow::Result<()> {
    let cluster = Cluster::with_node().await?;
    let set: StatefulSet = mk(json!({
        "metadata": { "name": "db" },
        "spec": {
            "serviceName": "db", "replicas": 2, "podManagementPolicy": "Parallel",
            "selector": { "matchLabels": { "app": "db" } },
            "template": { "metadata": { "labels": { "app": "db" } }, "spec": {
                "containers": [{ "name": "main", "image": "example.com/db:1" }],
            }},
            "volumeClaimTemplates": [{ "metadata": { "name": "data" }, "spec": {
                "accessModes": ["ReadWriteOnce"],
                "resources": { "requests": { "storage": "1Gi" } },
            }}],
        },
    }));
    let sets = cluster.api::<StatefulSet>();
    sets.create(&PostParams::default(), &set).await?;
    eventually_object(&sets, "db", "all replicas are ready", |set| {
        let status = set.and_then(|set| set.status.as_ref());
        status.is_some_and(|status| status.ready_replicas == Some(2))
    })
    .await;
    let claims = cluster.api::<PersistentVolumeClaim>();
    let claims = claims.list(&ListParams::default()).await?;
    let told: Vec<_> = claims
        .items
        .iter()
        .map(|claim| {
            let value = serde_json::to_value(claim).unwrap();
            let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
            (
                text(&value["metadata"]["name"]),
                text(&value["status"]["phase"]),
                text(&value["spec"]["storageClassName"]),
            )
        })
        .collect();
    let bound = |name: &str| (name.to_owned(), "Bound".to_owned(), "standard".to_owned());
    assert_eq!(told, [bound("data-db-0"), bound("data-db-1")]);
    Ok(())
}

/// A claim to a gibibyte of a class.
fn claim(name: &str, class: &str) -> PersistentVolumeClaim {
    mk(json!({
        "metadata": { "name": name },
        "spec": {
            "storageClassName": class, "accessModes": ["ReadWriteOnce"],
            "resources": { "requests": { "storage": "1Gi" } },
        },
    }))
}

#[tokio::test]
async fn a_class_that_nobody_knows_is_told() -> anyhow::Result<()> {
    let cluster = Cluster::start_with_node().await?;
    let claims = cluster.api::<PersistentVolumeClaim>();
    let lost = claim("lost", "no-such-class");
    claims.create(&PostParams::default(), &lost).await?;
    let events = cluster.api::<Event>();
    eventually("the class is missed", async || {
        let found = events.list(&ListParams::default()).await;
        let found = found.map_err(|error| error.to_string())?.items;
        let told = found.iter().any(|event| {
            event.reason.as_deref() == Some("ProvisioningFailed")
                && event.involved_object.name.as_deref() == Some("lost")
                && event.message.as_deref()
                    == Some(r#"storageclass.storage.k8s.io "no-such-class" not found"#)
        });
        if told {
            Ok(())
        } else {
            Err(format!("{found:?}"))
        }
    })
    .await;
    Ok(())
}

#[tokio::test]
async fn a_volume_that_was_made_ends_with_its_claim_and_others_stay() -> anyhow::Result<()> {
    let cluster = Cluster::with_node().await?;
    let params = PostParams::default();
    let volumes = cluster.all::<PersistentVolume>();
    let own: PersistentVolume = mk(json!({
        "metadata": { "name": "own" },
        "spec": {
            "capacity": { "storage": "1Gi" }, "accessModes": ["ReadWriteOnce"], "storageClassName": "by-hand",
            "persistentVolumeReclaimPolicy": "Retain", "hostPath": { "path": "/own" },
        },
    }));
    volumes.create(&params, &own).await?;
    let claims = cluster.api::<PersistentVolumeClaim>();
    for (name, class) in [("kept", "by-hand"), ("made", "standard")] {
        claims.create(&params, &claim(name, class)).await?;
        eventually_object(&claims, name, "bound", |claim| {
            let status = claim.and_then(|claim| claim.status.as_ref());
            status.and_then(|status| status.phase.as_deref()) == Some("Bound")
        })
        .await;
    }
    let made = claims
        .get("made")
        .await?
        .spec
        .and_then(|spec| spec.volume_name);
    let made = made.expect("a bound claim names its volume");
    for name in ["kept", "made"] {
        claims.delete(name, &DeleteParams::default()).await?;
    }
    eventually_object(&volumes, &made, "gone", |volume| volume.is_none()).await;
    eventually_object(&volumes, "own", "released", |volume| {
        let status = volume.and_then(|volume| volume.status.as_ref());
        status.and_then(|status| status.phase.as_deref()) == Some("Released")
    })
    .await;
    Ok(())
}

#[tokio::test]
async fn a_budget_counts_and_an_autoscaler_scales_by_a_stated_load() -> anyhow::Result<()> {
    let cluster = Cluster::with_node().await?;
    let params = PostParams::default();
    let deployments = cluster.api::<Deployment>();
    deployments
        .create(&params, &mk_deployment("web", 2))
        .await?;
    let budget: PodDisruptionBudget = mk(json!({
        "metadata": { "name": "web" },
        "spec": { "minAvailable": 2, "selector": { "matchLabels": { "app": "web" } } },
    }));
    let budgets = cluster.api::<PodDisruptionBudget>();
    budgets.create(&params, &budget).await?;
    let scaler: HorizontalPodAutoscaler = mk(json!({
        "metadata": { "name": "web", "annotations": { "node.quadrille.dev/load": "300" } },
        "spec": {
            "scaleTargetRef": { "apiVersion": "apps/v1", "kind": "Deployment", "name": "web" },
            "maxReplicas": 10,
            "metrics": [{ "type": "Resource", "resource": {
                "name": "cpu", "target": { "type": "Utilization", "averageUtilization": 60 },
            }}],
        },
    }));
    cluster
        .api::<HorizontalPodAutoscaler>()
        .create(&params, &scaler)
        .await?;
    eventually_object(&budgets, "web", "three of five may go", |budget| {
        let status = budget.and_then(|budget| budget.status.as_ref());
        status.is_some_and(|status| {
            (status.current_healthy, status.disruptions_allowed) == (Some(5), Some(3))
        })
    })
    .await;
    Ok(())
}
