//! Somebody works against the controllers: they hold their own, and don't make it worse.

use futures::{StreamExt as _, TryStreamExt as _};
use k8s_openapi::api::{apps::v1::Deployment, core::v1::ConfigMap};
use kube::{
    api::{DeleteParams, Patch, PatchParams, PostParams},
    runtime::{WatchStreamExt as _, watcher},
};
use quadrille_testkit::{
    ClusterKind,
    builders::mk_config_map,
    eventually,
    wire::{Fault, Gate, Matcher, Verb},
};
use serde_json::json;

use crate::{
    platform::{Platform, config},
    stories::workload,
};

/// Whatever is applied is changed at once, as an admission webhook or another operator would.
#[tokio::test]
async fn who_undoes_every_write_is_named_and_not_fought_without_pause() {
    let platform = Platform::start().await;
    platform.release("cart", &[("a", config("a", "1"))]).await;
    platform.applied("cart").await;
    let api = platform.cluster.api::<ConfigMap>();
    let foe = tokio::spawn(async move {
        let name = watcher::Config::default().fields("metadata.name=a");
        let mut seen = watcher(api.clone(), name).applied_objects().boxed();
        while let Ok(Some(_)) = seen.try_next().await {
            let edit = Patch::Merge(json!({ "data": { "value": "evil" } }));
            let by = PatchParams {
                field_manager: Some("foe".to_owned()),
                ..PatchParams::default()
            };
            let _ = api.patch("a", &by, &edit).await;
        }
    });
    eventually("the fight is told", async || {
        let events = platform.events("cart").await;
        let told = |event: &String| event.starts_with("DriftRepeated") && event.contains("foe");
        if events.iter().any(told) {
            Ok(())
        } else {
            Err(format!("{events:?}"))
        }
    })
    .await;
    let applies = platform
        .wire
        .count(&Matcher::verb(Verb::Patch).resource("configmaps"));
    assert!(applies < 12, "{applies} applies: a hot loop");
    foe.abort();
    platform.until_configs(&[("a", "1")]).await;
}

/// Only on the embedded cluster: on a real one, the deployment's own controller has a say.
#[tokio::test]
async fn health_that_flaps_does_not_flood_the_status() {
    let platform = Platform::start().await;
    if platform.cluster.kind() == ClusterKind::Real {
        return;
    }
    platform
        .release("cart", &[("web", workload("web", 1))])
        .await;
    platform.applied("cart").await;
    platform.wire.forget();
    let api = platform.cluster.api::<Deployment>();
    for turn in 0..60 {
        let up = turn % 2;
        let status = json!({ "status": {
            "observedGeneration": 1, "replicas": 1, "updatedReplicas": 1,
            "readyReplicas": up, "availableReplicas": up, "unavailableReplicas": 1 - up,
        }});
        let by = PatchParams::default();
        api.patch_status("web", &by, &Patch::Merge(&status))
            .await
            .unwrap();
    }
    let ready = quadrille_types::conditions::ConditionType::Ready;
    platform.until("cart", ready, "True").await;
    let writes = platform
        .wire
        .count(&Matcher::verb(Verb::Patch).resource("releases/status"));
    assert!(writes <= 6, "{writes} writes for 60 turns");
}

#[tokio::test]
async fn a_field_that_is_no_longer_asked_for_goes() {
    let platform = Platform::start().await;
    let mut object = config("a", "1");
    object["data"]["more"] = json!("x");
    platform.release("cart", &[("a", object)]).await;
    platform.applied("cart").await;
    platform.release("cart", &[("a", config("a", "1"))]).await;
    platform.until_configs(&[("a", "1")]).await;
}

#[tokio::test]
async fn a_list_that_somebody_else_wrote_is_put_back_whole() {
    let platform = Platform::start().await;
    let mut object = workload("web", 1);
    object["spec"]["template"]["spec"]["containers"][0]["args"] = json!(["serve", "--quiet"]);
    platform.release("cart", &[("web", object)]).await;
    platform.applied("cart").await;
    let api = platform.cluster.api::<Deployment>();
    let edit = Patch::Strategic(json!({ "spec": { "template": { "spec": {
        "containers": [{ "name": "main", "args": ["serve", "--loud", "--more"] }],
    }}}}));
    api.patch("web", &PatchParams::default(), &edit)
        .await
        .unwrap();
    eventually("the arguments are as asked", async || {
        let now = serde_json::to_value(api.get("web").await.unwrap()).unwrap();
        let arguments = &now["spec"]["template"]["spec"]["containers"][0]["args"];
        if *arguments == json!(["serve", "--quiet"]) {
            Ok(())
        } else {
            Err(arguments.to_string())
        }
    })
    .await;
}

#[tokio::test]
async fn a_key_that_is_given_twice_in_a_list_is_refused_and_the_rest_is_applied() {
    let platform = Platform::start().await;
    let service = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": { "name": "web" },
        "spec": { "ports": [{ "port": 80, "name": "a" }, { "port": 80, "name": "b" }] },
    });
    platform
        .release("cart", &[("web", service), ("a", config("a", "1"))])
        .await;
    let applied = quadrille_types::conditions::ConditionType::ResourcesApplied;
    platform
        .until_said("cart", applied, "False", "resource \"web\"")
        .await;
    platform.until_configs(&[("a", "1")]).await;
}

#[tokio::test]
async fn a_delete_that_arrives_late_does_not_hit_another_object_of_the_name() {
    let platform = Platform::start().await;
    let objects = [("a", config("a", "1")), ("b", config("b", "1"))];
    platform.release("cart", &objects).await;
    platform.applied("cart").await;
    let gate = Gate::closed();
    let late = Matcher::verb(Verb::Delete).resource("configmaps").name("b");
    platform.wire.inject(late, Fault::Hold(gate.clone()));
    platform.release("cart", &objects[..1]).await;
    gate.reached_by(1).await;
    let api = platform.cluster.api::<ConfigMap>();
    api.delete("b", &DeleteParams::default()).await.unwrap();
    let theirs = mk_config_map("b", &[("value", "theirs")]);
    let made = api.create(&PostParams::default(), &theirs).await.unwrap();
    gate.open();
    eventually("only one object is left in the inventory", async || {
        let status = platform.read("cart").await.status.unwrap();
        if status.resources.len() == 1 {
            Ok(())
        } else {
            Err(format!("{:?}", status.resources))
        }
    })
    .await;
    assert_eq!(api.get("b").await.unwrap().metadata.uid, made.metadata.uid);
}
