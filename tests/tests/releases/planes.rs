//! Several planes: what happens to one does not touch the others.

use kube::api::{DeleteParams, DynamicObject, Patch, PatchParams};
use quadrille_testkit::{Cluster, eventually, eventually_object};
use quadrille_types::{
    DataPlane, Environment,
    conditions::{ConditionType, find},
};
use serde_json::{Value, json};

use crate::{
    doors::{Door, kubeconfig},
    hands::api,
    objects::in_namespace,
    platform::{Platform, config},
};

/// A cluster that is a plane of the platform.
struct Far {
    cluster: Cluster,
    door: Door,
}

impl Far {
    /// Its door is shut.
    async fn beside(platform: &Platform) -> Self {
        let cluster = Cluster::start().await.unwrap();
        let kubeconfig = kubeconfig(&cluster).await;
        let door = Door::shut_before(&kubeconfig).await;
        platform
            .put_kubeconfig("far", &door.through(&kubeconfig))
            .await;
        platform.add_plane("far").await;
        Self { cluster, door }
    }

    /// A config map that belongs there.
    fn config(&self, name: &str, value: &str) -> Value {
        in_namespace(config(name, value), Some(self.cluster.namespace()))
    }

    /// What is there.
    async fn found(&self, name: &str) -> Option<DynamicObject> {
        let like = config(name, "");
        let api = api(self.cluster.client(), &like, Some(self.cluster.namespace()));
        api.get_opt(name).await.unwrap()
    }

    async fn until_value(&self, name: &str, value: Option<&str>) {
        eventually(&format!("{name} is {value:?} there"), async || {
            let found = self.found(name).await;
            let found = found.map(|found| found.data["data"]["value"].clone());
            if found.as_ref().and_then(Value::as_str) == value {
                Ok(())
            } else {
                Err(format!("{found:?}"))
            }
        })
        .await;
    }
}

fn on_far() -> Value {
    json!({ "environmentName": "far" })
}

#[tokio::test]
async fn each_environment_is_on_its_own_plane() {
    let platform = Platform::start().await;
    let far = Far::beside(&platform).await;
    far.door.open();
    platform.release("near", &[("a", config("a", "1"))]).await;
    let objects = [("a", far.config("a", "2"))];
    platform.release_with("far", &objects, on_far()).await;
    platform.until("near", ConditionType::Ready, "True").await;
    let release = platform.until("far", ConditionType::Ready, "True").await;
    assert_eq!(release.status.unwrap().plane.unwrap().name, "far");
    platform.until_configs(&[("a", "1")]).await;
    far.until_value("a", Some("2")).await;
    platform.until_plane("far", "True", "Kubernetes").await;
    let like = config("a", "");
    let there = api(far.cluster.client(), &like, Some(far.cluster.namespace()));
    let edit = Patch::Merge(json!({ "data": { "value": "3" } }));
    there
        .patch("a", &PatchParams::default(), &edit)
        .await
        .unwrap();
    far.until_value("a", Some("2")).await;
    platform.delete("near").await;
    platform.gone("near").await;
    platform.until_configs(&[]).await;
    far.until_value("a", Some("2")).await;
    platform.delete("far").await;
    platform.gone("far").await;
    far.until_value("a", None).await;
}

#[tokio::test]
async fn a_plane_that_is_down_delays_only_its_own_releases() {
    let platform = Platform::start().await;
    let far = Far::beside(&platform).await;
    let objects = [("a", far.config("a", "1"))];
    platform.release_with("far", &objects, on_far()).await;
    platform.until_plane("far", "False", "Unreachable").await;
    platform
        .until_said(
            "far",
            ConditionType::ResourcesApplied,
            "False",
            "PlaneUnreachable",
        )
        .await;
    platform.release("near", &[("a", config("a", "1"))]).await;
    platform.until("near", ConditionType::Ready, "True").await;
    platform.remove(&config("a", "1")).await;
    platform.until_configs(&[("a", "1")]).await;
    platform.delete("near").await;
    platform.gone("near").await;
    far.door.open();
    platform.until("far", ConditionType::Ready, "True").await;
    far.until_value("a", Some("1")).await;
    platform.until_plane("far", "True", "").await;
}

#[tokio::test]
async fn what_changed_while_a_plane_was_down_is_made_up_for() {
    let platform = Platform::start().await;
    let far = Far::beside(&platform).await;
    far.door.open();
    let both = [("a", far.config("a", "1")), ("b", far.config("b", "1"))];
    platform.release_with("far", &both, on_far()).await;
    let gone = [("a", far.config("c", "1"))];
    platform.release_with("gone", &gone, on_far()).await;
    platform.until("far", ConditionType::Ready, "True").await;
    platform.until("gone", ConditionType::Ready, "True").await;
    far.door.shut();
    platform.until_plane("far", "False", "").await;
    let changed = [("a", far.config("a", "2"))];
    platform.release_with("far", &changed, on_far()).await;
    platform.delete("gone").await;
    platform
        .until_said(
            "far",
            ConditionType::ResourcesApplied,
            "False",
            "PlaneUnreachable",
        )
        .await;
    let like = config("a", "");
    let there = api(far.cluster.client(), &like, Some(far.cluster.namespace()));
    there.delete("a", &DeleteParams::default()).await.unwrap();
    assert!(far.found("b").await.is_some() && far.found("c").await.is_some());
    far.door.open();
    platform.gone("gone").await;
    platform.until("far", ConditionType::Ready, "True").await;
    far.until_value("a", Some("2")).await;
    far.until_value("b", None).await;
    far.until_value("c", None).await;
}

#[tokio::test]
async fn a_release_on_a_plane_that_is_gone_for_good_can_be_left() {
    let platform = Platform::start().await;
    let far = Far::beside(&platform).await;
    far.door.open();
    let objects = [("a", far.config("a", "1"))];
    platform.release_with("far", &objects, on_far()).await;
    platform.until("far", ConditionType::Ready, "True").await;
    far.door.shut();
    platform.until_plane("far", "False", "").await;
    // How its objects are doing, nobody can tell.
    let ready = ConditionType::ResourcesReady;
    let release = platform
        .until_said("far", ready, "Unknown", "DataPlane")
        .await;
    assert_eq!(release.status.unwrap().healthy.unwrap(), "0/1");
    platform.delete("far").await;
    platform
        .until_said("far", ConditionType::Finalizing, "True", "CleanupFailed")
        .await;
    let key = quadrille_types::annotations::ABANDON;
    let going = ConditionType::Finalizing;
    platform
        .until_said("far", going, "True", "does not answer")
        .await;
    platform.until_said("far", going, "True", key).await;
    // What has not changed is not told again.
    platform.until_event("far", "does not answer").await;
    let events = platform.events("far").await;
    assert_eq!(events.len(), 1, "{events:?}");
    platform.annotate("far", key, "true").await;
    platform.gone("far").await;
    let event = platform.until_event("far", "left behind, as asked").await;
    assert!(event.contains("/a"), "{event}");
    assert!(far.found("a").await.is_some());
}

#[tokio::test]
async fn what_a_plane_needs_may_go_before_its_releases() {
    let platform = Platform::start().await;
    let far = Far::beside(&platform).await;
    far.door.open();
    let objects = [("a", far.config("a", "1"))];
    platform.release_with("far", &objects, on_far()).await;
    platform.until("far", ConditionType::Ready, "True").await;
    let delete = DeleteParams::default();
    let planes = platform.cluster.api::<DataPlane>();
    planes.delete("far", &delete).await.unwrap();
    let is_going = |plane: Option<&DataPlane>| {
        plane.is_some_and(|plane| {
            let status = plane.status.clone().unwrap_or_default();
            find(&status.conditions, ConditionType::Finalizing).is_some()
        })
    };
    eventually_object(&planes, "far", "it is known to go", is_going).await;
    let secrets = platform.any("", "v1", "Secret");
    secrets.delete("far", &delete).await.unwrap();
    let environments = platform.cluster.api::<Environment>();
    environments.delete("far", &delete).await.unwrap();
    platform.delete("far").await;
    platform.gone("far").await;
    far.until_value("a", None).await;
    eventually_object(&planes, "far", "the plane is gone", |plane| plane.is_none()).await;
}

#[tokio::test]
async fn credentials_may_go_before_what_they_led_to() {
    let platform = Platform::start().await;
    let far = Far::beside(&platform).await;
    far.door.open();
    let objects = [("a", far.config("a", "1"))];
    platform.release_with("far", &objects, on_far()).await;
    platform.until("far", ConditionType::Ready, "True").await;
    let delete = DeleteParams::default();
    let secrets = platform.any("", "v1", "Secret");
    secrets.delete("far", &delete).await.unwrap();
    platform.until_plane("far", "False", "SecretMissing").await;
    platform.delete("far").await;
    platform.gone("far").await;
    far.until_value("a", None).await;
}

#[tokio::test]
async fn a_plane_that_is_gone_for_good_is_left_with_all_that_is_on_it() {
    let platform = Platform::start().await;
    let far = Far::beside(&platform).await;
    far.door.open();
    let objects = [("a", far.config("a", "1"))];
    platform.release_with("far", &objects, on_far()).await;
    platform.until("far", ConditionType::Ready, "True").await;
    far.door.shut();
    platform.until_plane("far", "False", "").await;
    platform.delete("far").await;
    let planes = platform.cluster.api::<DataPlane>();
    let delete = DeleteParams::default();
    planes.delete("far", &delete).await.unwrap();
    let key = quadrille_types::annotations::ABANDON;
    let patch = json!({ "metadata": { "annotations": { key: "true" } } });
    let patch = Patch::Merge(patch);
    planes
        .patch("far", &PatchParams::default(), &patch)
        .await
        .unwrap();
    platform.gone("far").await;
    platform.until_event("far", "left behind, as asked").await;
    eventually_object(&planes, "far", "the plane is gone", |plane| plane.is_none()).await;
    assert!(far.found("a").await.is_some());
}
