//! What is no longer asked for goes, unless that looks like a mistake.

use quadrille_types::{
    annotations,
    conditions::{ConditionType, find},
};
use serde_json::Value;

use crate::{
    objects::{claim, stateful_set},
    platform::{Platform, config},
};

fn configs(names: &[&'static str]) -> Vec<(&'static str, Value)> {
    names
        .iter()
        .map(|name| (*name, config(name, "1")))
        .collect()
}

/// Allows the prune that waits.
async fn allow(platform: &Platform, release: &str) {
    let generation = platform.read(release).await.metadata.generation.unwrap();
    platform
        .annotate(release, annotations::ALLOW_PRUNE, &generation.to_string())
        .await;
}

async fn until_unblocked(platform: &Platform, release: &str) {
    quadrille_testkit::eventually("nothing is blocked", async || {
        let status = platform.read(release).await.status.unwrap();
        match find(&status.conditions, ConditionType::PruneBlocked) {
            None => Ok(()),
            Some(blocked) => Err(blocked.message.clone()),
        }
    })
    .await;
}

#[tokio::test]
async fn a_prune_of_more_than_half_waits_for_a_word() {
    let platform = Platform::start().await;
    let all = ["a", "b", "c", "d", "e", "f"];
    platform.release("cart", &configs(&all)).await;
    platform.until("cart", ConditionType::Ready, "True").await;
    platform
        .annotate("cart", annotations::ALLOW_PRUNE, "1")
        .await;
    platform.release("cart", &[("a", config("a", "2"))]).await;
    let words = "5 of 6 objects would be removed";
    let release = platform
        .until_said("cart", ConditionType::PruneBlocked, "True", words)
        .await;
    let status = release.status.unwrap();
    let blocked = find(&status.conditions, ConditionType::PruneBlocked).unwrap();
    let hint = format!("{}: \"2\"", annotations::ALLOW_PRUNE);
    assert!(blocked.message.contains(&hint), "{}", blocked.message);
    assert_eq!(platform.names().await, all, "what is asked for is applied");
    assert_eq!(platform.configs().await[0].1["value"], "2");
    allow(&platform, "cart").await;
    platform.until_configs(&[("a", "2")]).await;
    until_unblocked(&platform, "cart").await;
}

#[tokio::test]
async fn asking_for_nothing_removes_nothing_without_a_word() {
    let platform = Platform::start().await;
    platform.release("cart", &configs(&["a", "b"])).await;
    platform.until("cart", ConditionType::Ready, "True").await;
    platform.release("cart", &[]).await;
    platform
        .until_said("cart", ConditionType::PruneBlocked, "True", "all 2 objects")
        .await;
    assert_eq!(platform.names().await, ["a", "b"]);
    allow(&platform, "cart").await;
    platform.until_configs(&[]).await;
    until_unblocked(&platform, "cart").await;
}

#[tokio::test]
async fn what_may_hold_data_is_not_pruned_without_a_word() {
    let platform = Platform::start().await;
    for (name, object) in [("db", stateful_set("db")), ("disk", claim("disk"))] {
        let objects = [("data", object.clone()), ("a", config(name, "1"))];
        platform.release(name, &objects).await;
        platform.applied(name).await;
        platform.release(name, &[("a", config(name, "1"))]).await;
        platform
            .until_said(
                name,
                ConditionType::PruneBlocked,
                "True",
                "may hold data and would be removed",
            )
            .await;
        assert!(platform.found(&object).await.is_some());
        allow(&platform, name).await;
        platform
            .until_object("it is removed", &object, |found| found.is_none())
            .await;
        until_unblocked(&platform, name).await;
    }
}
