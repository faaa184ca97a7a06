//! Releases end, whatever is in their way.

use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use quadrille_testkit::{
    eventually,
    wire::{Failure, Fault, Gate, Matcher, Verb},
};
use quadrille_types::{DataPlane, Environment, Release, annotations, conditions::ConditionType};

use serde_json::json;

use crate::{
    hands::FOREIGN_FINALIZER,
    platform::{Platform, config},
};

#[tokio::test]
async fn parents_may_be_deleted_first_and_everything_goes() {
    let mut platform = Platform::start().await;
    platform.release("cart", &[("a", config("a", "1"))]).await;
    platform.until("cart", ConditionType::Ready, "True").await;
    // An environment that no controller holds is gone at once.
    platform.kill();
    let environments = platform.cluster.api::<Environment>();
    let free = json!({ "metadata": { "finalizers": [] } });
    let merge = PatchParams::default();
    environments
        .patch("dev", &merge, &Patch::Merge(&free))
        .await
        .unwrap();
    let delete = DeleteParams::default();
    environments.delete("dev", &delete).await.unwrap();
    platform.run();
    platform
        .until_said(
            "cart",
            ConditionType::Ready,
            "False",
            "there is no Environment \"dev\"",
        )
        .await;
    let planes = platform.cluster.api::<DataPlane>();
    planes.delete("local", &delete).await.unwrap();
    eventually("the plane says who is on it", async || {
        let plane = planes.get("local").await.unwrap();
        let status = plane.status.unwrap_or_default();
        let said = status.conditions.iter().find(|condition| {
            condition.type_ == "Finalizing" && condition.message.contains("cart")
        });
        said.map(drop).ok_or(format!("{:?}", status.conditions))
    })
    .await;
    platform.until_configs(&[("a", "1")]).await;
    platform.delete("cart").await;
    platform.gone("cart").await;
    platform.until_configs(&[]).await;
    eventually("the plane is gone", async || {
        match planes.get_opt("local").await.unwrap() {
            None => Ok(()),
            Some(left) => Err(format!("{:?}", left.metadata)),
        }
    })
    .await;
}

#[tokio::test]
async fn a_foreign_finalizer_is_named_and_a_person_may_leave_the_object() {
    let platform = Platform::start().await;
    let objects = [("a", config("a", "1")), ("b", config("b", "1"))];
    platform.release("cart", &objects).await;
    platform.until("cart", ConditionType::Ready, "True").await;
    platform.hold(&config("a", "1")).await;
    platform.delete("cart").await;
    let release = platform
        .until_said("cart", ConditionType::Finalizing, "True", FOREIGN_FINALIZER)
        .await;
    let left = release.status.unwrap().resources;
    let names: Vec<&str> = left.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(names, ["a"], "only what is left is in the inventory");
    platform
        .annotate("cart", annotations::ABANDON, "true")
        .await;
    platform.gone("cart").await;
    let event = platform.until_event("cart", "left behind, as asked").await;
    assert!(event.contains("/a") && !event.contains("/b"), "{event}");
    platform.let_go(&config("a", "1")).await;
    platform.until_configs(&[]).await;
}

#[tokio::test]
async fn a_foreign_finalizer_that_is_taken_away_lets_the_release_end() {
    let platform = Platform::start().await;
    platform.release("cart", &[("a", config("a", "1"))]).await;
    platform.until("cart", ConditionType::Ready, "True").await;
    platform.hold(&config("a", "1")).await;
    platform.delete("cart").await;
    platform
        .until_said("cart", ConditionType::Finalizing, "True", FOREIGN_FINALIZER)
        .await;
    platform.let_go(&config("a", "1")).await;
    platform.gone("cart").await;
    platform.until_configs(&[]).await;
}

/// The first deletion of a config map does not come through.
fn refuse_a_deletion(platform: &Platform) {
    let deletes = Matcher::verb(Verb::Delete).resource("configmaps");
    let refusal = Fault::Fail(Failure::internal_error());
    platform.wire.inject(deletes.first(1), refusal);
}

#[tokio::test]
async fn a_removal_that_failed_once_and_is_under_way_now_is_only_waited_for() {
    let platform = Platform::start().await;
    platform.release("cart", &[("a", config("a", "1"))]).await;
    platform.until("cart", ConditionType::Ready, "True").await;
    platform.hold(&config("a", "1")).await;
    refuse_a_deletion(&platform);
    platform.delete("cart").await;
    platform
        .until_said("cart", ConditionType::Finalizing, "True", FOREIGN_FINALIZER)
        .await;
    platform.let_go(&config("a", "1")).await;
    platform.gone("cart").await;
    platform.until_configs(&[]).await;
}

#[tokio::test]
async fn a_prune_that_failed_once_and_is_under_way_now_asks_for_nothing() {
    let platform = Platform::start().await;
    let objects = ["a", "b", "c"].map(|name| (name, config(name, "1")));
    platform.release("cart", &objects).await;
    platform.until("cart", ConditionType::Ready, "True").await;
    platform.hold(&config("a", "1")).await;
    refuse_a_deletion(&platform);
    platform.release("cart", &objects[1..]).await;
    platform
        .until_object("it is on its way out", &config("a", "1"), |found| {
            found.is_some_and(|found| found["metadata"]["deletionTimestamp"].is_string())
        })
        .await;
    platform.wire.forget();
    // Whatever else there is to do is done meanwhile.
    for name in ["x", "y", "z"] {
        platform.release(name, &[("it", config(name, "1"))]).await;
        platform.until(name, ConditionType::Ready, "True").await;
    }
    let asked = Matcher::verb(Verb::Get).resource("releases").name("cart");
    let asked = platform.wire.count(&asked);
    assert!(asked < 5, "asked {asked} times");
    platform.let_go(&config("a", "1")).await;
    let left = ["b", "c", "x", "y", "z"].map(|name| (name, "1"));
    platform.until_configs(&left).await;
}

#[tokio::test]
async fn an_object_is_not_gone_because_somebody_before_the_plane_knows_nothing() {
    let platform = Platform::start().await;
    platform.release("cart", &[("a", config("a", "1"))]).await;
    platform.until("cart", ConditionType::Ready, "True").await;
    // As a balancer answers that has nobody to ask: it names no object.
    let nothing = Fault::Fail(Failure::new(404, "NotFound"));
    let asked = Matcher::any().resource("configmaps");
    platform.wire.inject(asked, nothing);
    platform.delete("cart").await;
    let words = "knows none when asked for it";
    platform
        .until_said("cart", ConditionType::Finalizing, "True", words)
        .await;
    platform.until_configs(&[("a", "1")]).await;
    platform.wire.heal();
    platform.gone("cart").await;
    platform.until_configs(&[]).await;
}

#[tokio::test]
async fn an_object_that_was_just_made_again_goes_with_its_release() {
    let platform = Platform::start().await;
    platform.release("cart", &[("a", config("a", "1"))]).await;
    platform.until("cart", ConditionType::Ready, "True").await;
    // It is made again, and the release is deleted before that could be written down.
    let gate = Gate::closed();
    let told = Matcher::verb(Verb::Patch).resource("releases/status");
    platform
        .wire
        .inject(told.first(1), Fault::Hold(gate.clone()));
    platform.remove(&config("a", "1")).await;
    gate.reached_by(1).await;
    platform.delete("cart").await;
    gate.open();
    platform.gone("cart").await;
    platform.until_configs(&[]).await;
}

#[tokio::test]
async fn a_release_that_is_deleted_while_it_is_created_leaves_nothing() {
    let platform = Platform::start().await;
    let gate = Gate::closed();
    let applies = Matcher::verb(Verb::Patch).resource("configmaps");
    platform.wire.inject(applies, Fault::Hold(gate.clone()));
    let objects = [("a", config("a", "1")), ("b", config("b", "1"))];
    platform.release("cart", &objects).await;
    gate.reached_by(2).await;
    platform.delete("cart").await;
    gate.open();
    platform.gone("cart").await;
    platform.until_configs(&[]).await;
}

#[tokio::test]
async fn a_release_that_is_deleted_before_anybody_saw_it_leaves_nothing() {
    let mut platform = Platform::at_rest().await;
    platform.release("cart", &[("a", config("a", "1"))]).await;
    platform.delete("cart").await;
    platform.run();
    platform.gone("cart").await;
    platform.until_configs(&[]).await;
}

#[tokio::test]
async fn an_object_that_is_still_going_is_made_anew_by_the_next_release() {
    let platform = Platform::start().await;
    platform.release("old", &[("a", config("a", "1"))]).await;
    platform.until("old", ConditionType::Ready, "True").await;
    let uid = platform.uid(&config("a", "1")).await;
    platform.hold(&config("a", "1")).await;
    platform.delete("old").await;
    platform
        .until_said("old", ConditionType::Finalizing, "True", FOREIGN_FINALIZER)
        .await;
    platform.release("new", &[("a", config("a", "2"))]).await;
    platform
        .until("new", ConditionType::ResourcesApplied, "False")
        .await;
    platform.let_go(&config("a", "1")).await;
    platform.gone("old").await;
    platform.applied("new").await;
    platform.until_configs(&[("a", "2")]).await;
    assert_ne!(platform.uid(&config("a", "2")).await, uid);
}

#[tokio::test]
async fn a_release_of_the_same_name_may_follow_at_once() {
    let platform = Platform::start().await;
    platform.release("cart", &[("a", config("a", "1"))]).await;
    let old = platform.until("cart", ConditionType::Ready, "True").await;
    let mut new = old.clone();
    new.metadata = kube::api::ObjectMeta {
        name: Some("cart".to_owned()),
        ..kube::api::ObjectMeta::default()
    };
    new.status = None;
    platform.delete("cart").await;
    let api = platform.cluster.api::<Release>();
    let created = eventually("the name is free", async || {
        api.create(&PostParams::default(), &new).await
    })
    .await;
    assert_ne!(created.metadata.uid, old.metadata.uid);
    platform.until("cart", ConditionType::Ready, "True").await;
    platform.until_configs(&[("a", "1")]).await;
    let found = platform.found(&config("a", "1")).await.unwrap();
    let labels = found.metadata.labels.unwrap();
    assert_eq!(
        labels.get("openchoreo.dev/release-uid"),
        created.metadata.uid.as_ref()
    );
}

#[tokio::test]
async fn a_foreign_finalizer_is_named_also_after_a_restart() {
    let mut platform = Platform::start().await;
    platform.release("cart", &[("a", config("a", "1"))]).await;
    platform.until("cart", ConditionType::Ready, "True").await;
    platform.hold(&config("a", "1")).await;
    platform.kill();
    platform.remove(&config("a", "1")).await;
    platform.delete("cart").await;
    platform.run();
    platform
        .until_said("cart", ConditionType::Finalizing, "True", FOREIGN_FINALIZER)
        .await;
    platform.let_go(&config("a", "1")).await;
    platform.gone("cart").await;
    platform.until_configs(&[]).await;
}

#[tokio::test]
async fn a_release_whose_plane_was_taken_away_by_force_says_so_and_can_be_left() {
    let platform = Platform::start().await;
    platform.release("cart", &[("a", config("a", "1"))]).await;
    platform.until("cart", ConditionType::Ready, "True").await;
    let planes = platform.cluster.api::<DataPlane>();
    let delete = DeleteParams::default();
    planes.delete("local", &delete).await.unwrap();
    eventually("the plane is gone", async || {
        let patch = json!({ "metadata": { "finalizers": null } });
        let patch = Patch::Merge(patch);
        let params = PatchParams::default();
        match planes.patch("local", &params, &patch).await {
            Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
            other => Err(format!("{other:?}")),
        }
    })
    .await;
    platform
        .until_said("cart", ConditionType::Ready, "False", "DataPlaneNotFound")
        .await;
    platform.until_configs(&[("a", "1")]).await;
    platform.delete("cart").await;
    let words = format!("annotate the release with {}", annotations::ABANDON);
    platform
        .until_said("cart", ConditionType::Finalizing, "True", &words)
        .await;
    let plane = json!({ "kubernetesCluster": { "inCluster": true } });
    platform.apply::<DataPlane>("local", plane).await;
    platform
        .until_said("cart", ConditionType::Finalizing, "True", "was made anew")
        .await;
    platform
        .annotate("cart", annotations::ABANDON, "true")
        .await;
    platform.gone("cart").await;
    platform.until_configs(&[("a", "1")]).await;
}
