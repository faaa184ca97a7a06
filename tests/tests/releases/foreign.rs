//! Objects of others: never touched, unless a person says so.

use kube::api::{DynamicObject, PostParams};
use quadrille_types::{annotations, conditions::ConditionType};
use serde_json::{Value, json};

use crate::{
    hands::called,
    platform::{Platform, config},
};

/// Whether an object is exactly as it was.
async fn is_untouched(platform: &Platform, before: &DynamicObject, object: &Value) {
    let now = platform.found(object).await.expect("it is still there");
    assert_eq!(
        (&now.metadata.uid, &now.metadata.resource_version),
        (&before.metadata.uid, &before.metadata.resource_version),
        "{} was touched: {now:?}",
        called(before)
    );
}

#[tokio::test]
async fn an_object_of_somebody_else_is_untouched_whatever_its_fields() {
    let platform = Platform::start().await;
    let equal = config("equal", "1");
    let mut disjoint = config("disjoint", "1");
    disjoint["data"] = json!({ "other": "1" });
    let conflicting = config("conflicting", "2");
    let mut theirs = Vec::new();
    for object in [&equal, &disjoint, &conflicting] {
        theirs.push((platform.create(object).await, object.clone()));
    }
    let objects = [
        ("equal", config("equal", "1")),
        ("disjoint", config("disjoint", "1")),
        ("conflicting", config("conflicting", "1")),
        ("mine", config("mine", "1")),
    ];
    platform.release("cart", &objects).await;
    for id in ["equal", "disjoint", "conflicting"] {
        let error = platform.until_error("cart", id, "OwnershipConflict").await;
        assert!(error.message.contains("made by somebody"), "{error:?}");
        assert!(error.message.contains(annotations::ADOPT), "{error:?}");
    }
    assert!(platform.found(&config("mine", "1")).await.is_some());
    for (before, object) in &theirs {
        is_untouched(&platform, before, object).await;
    }
    platform.delete("cart").await;
    platform.gone("cart").await;
    for (before, object) in &theirs {
        is_untouched(&platform, before, object).await;
    }
    assert!(platform.found(&config("mine", "1")).await.is_none());
}

#[tokio::test]
async fn an_object_of_somebody_else_is_taken_over_when_a_person_says_so() {
    let platform = Platform::start().await;
    let mut theirs = config("a", "2");
    theirs["data"]["more"] = "kept".into();
    platform.create(&theirs).await;
    let uid = platform.uid(&theirs).await;
    platform.release("cart", &[("a", config("a", "1"))]).await;
    platform.until_error("cart", "a", "OwnershipConflict").await;
    platform.annotate("cart", annotations::ADOPT, "true").await;
    platform.until("cart", ConditionType::Ready, "True").await;
    let now = platform.found(&theirs).await.unwrap();
    assert_eq!(now.metadata.uid.as_ref(), Some(&uid));
    assert_eq!(now.data["data"], json!({ "value": "1", "more": "kept" }));
    platform
        .edit(&theirs, json!({ "data": { "value": "3" } }))
        .await;
    platform
        .until_object("it is mended like any other", &theirs, |found| {
            found.is_some_and(|found| found["data"]["value"] == "1")
        })
        .await;
    platform.delete("cart").await;
    platform.gone("cart").await;
    assert!(platform.found(&theirs).await.is_none());
}

/// An object with all the labels and annotations of another one.
fn copied(of: &DynamicObject, name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {
            "name": name, "labels": of.metadata.labels, "annotations": of.metadata.annotations,
        },
        "data": { "value": "theirs" },
    })
}

#[tokio::test]
async fn an_object_with_copied_labels_is_never_touched_or_removed() {
    let platform = Platform::start().await;
    platform.release("cart", &[("a", config("a", "1"))]).await;
    platform.until("cart", ConditionType::Ready, "True").await;
    let ours = platform.found(&config("a", "1")).await.unwrap();
    let elsewhere = copied(&ours, "copy");
    let at_our_name = copied(&ours, "b");
    let copies = [
        (platform.create(&elsewhere).await, elsewhere),
        (platform.create(&at_our_name).await, at_our_name),
    ];
    let objects = [("a", config("a", "2")), ("b", config("b", "1"))];
    platform.release("cart", &objects).await;
    platform.until_error("cart", "b", "OwnershipConflict").await;
    platform
        .until_object("ours is changed", &config("a", "2"), |found| {
            found.is_some_and(|found| found["data"]["value"] == "2")
        })
        .await;
    for (before, object) in &copies {
        is_untouched(&platform, before, object).await;
    }
    platform.release("cart", &[("a", config("a", "2"))]).await;
    platform.until("cart", ConditionType::Ready, "True").await;
    platform.delete("cart").await;
    platform.gone("cart").await;
    for (before, object) in &copies {
        is_untouched(&platform, before, object).await;
    }
    assert!(platform.found(&config("a", "2")).await.is_none());
}

#[tokio::test]
async fn an_object_that_was_replaced_by_a_copy_stays_the_copiers() {
    let mut platform = Platform::start().await;
    let objects = [("a", config("a", "1")), ("b", config("b", "1"))];
    platform.release("cart", &objects).await;
    platform.until("cart", ConditionType::Ready, "True").await;
    let ours = platform.found(&config("a", "1")).await.unwrap();
    platform.kill();
    platform.remove(&config("a", "1")).await;
    let copy = copied(&ours, "a");
    let before = platform
        .like(&copy)
        .create(
            &PostParams::default(),
            &serde_json::from_value(copy.clone()).unwrap(),
        )
        .await
        .unwrap();
    platform.run();
    platform.until_error("cart", "a", "OwnershipConflict").await;
    is_untouched(&platform, &before, &copy).await;
    platform.release("cart", &[("b", config("b", "1"))]).await;
    platform.until("cart", ConditionType::Ready, "True").await;
    is_untouched(&platform, &before, &copy).await;
    platform.delete("cart").await;
    platform.gone("cart").await;
    is_untouched(&platform, &before, &copy).await;
}
