//! What somebody does to objects of a release, and objects that look as if somebody had.

use quadrille_testkit::wire::Matcher;
use quadrille_types::{conditions::ConditionType, labels::tracking};
use serde_json::{Value, json};

use crate::{
    objects::{autoscaler, deployment},
    platform::{Platform, config},
};

/// Waits until a label of the config map `a` has a value again.
async fn until_label(platform: &Platform, label: &str, value: &str) {
    platform
        .until_object("the label is back", &config("a", "1"), |found| {
            found.is_some_and(|found| found["metadata"]["labels"][label] == value)
        })
        .await;
}

#[tokio::test]
async fn labels_that_somebody_takes_off_or_changes_are_put_back() {
    let platform = Platform::start().await;
    platform.release("cart", &[("a", config("a", "1"))]).await;
    let release = platform.until("cart", ConditionType::Ready, "True").await;
    let release_uid = release.metadata.uid.unwrap();
    let uid = platform.uid(&config("a", "1")).await;
    for (label, value, edits) in [
        (
            tracking::MANAGED_BY,
            tracking::RELEASE_CONTROLLER,
            [Value::Null, "me".into()],
        ),
        (
            tracking::RELEASE_UID,
            &*release_uid,
            [Value::Null, "nonsense".into()],
        ),
        (tracking::RESOURCE_ID, "a", [Value::Null, "b".into()]),
    ] {
        for edit in edits {
            let patch = json!({ "metadata": { "labels": { label: edit } } });
            platform.edit(&config("a", "1"), patch).await;
            until_label(&platform, label, value).await;
        }
    }
    platform
        .edit(
            &config("a", "1"),
            json!({ "metadata": { "labels": null, "annotations": null } }),
        )
        .await;
    until_label(&platform, tracking::RELEASE_UID, &release_uid).await;
    assert_eq!(platform.uid(&config("a", "1")).await, uid);
    platform.delete("cart").await;
    platform.gone("cart").await;
    platform.until_configs(&[]).await;
}

#[tokio::test]
async fn fields_that_others_add_are_theirs() {
    let platform = Platform::start().await;
    platform.release("cart", &[("a", config("a", "1"))]).await;
    platform.until("cart", ConditionType::Ready, "True").await;
    let patch = json!({
        "metadata": { "labels": { "team": "blue" } }, "data": { "more": "theirs" },
    });
    platform.edit(&config("a", "1"), patch).await;
    platform.release("cart", &[("a", config("a", "2"))]).await;
    platform.until("cart", ConditionType::Ready, "True").await;
    let found = platform.found(&config("a", "1")).await.unwrap();
    assert_eq!(
        found.data["data"],
        json!({ "value": "2", "more": "theirs" })
    );
    assert_eq!(found.metadata.labels.unwrap()["team"], "blue");
}

#[tokio::test]
async fn an_object_that_was_copied_from_a_server_is_as_good_as_any() {
    let platform = Platform::start().await;
    let original = platform.create(&deployment("original", Some(0))).await;
    let mut copy = serde_json::to_value(&original).unwrap();
    copy["metadata"]["name"] = "copy".into();
    copy["status"] = json!({ "replicas": 7 });
    platform.release("cart", &[("app", copy)]).await;
    platform.applied("cart").await;
    platform.wire.forget();
    platform.release("more", &[("a", config("a", "1"))]).await;
    platform.applied("more").await;
    let deployments = Matcher::writes().resource("deployments");
    assert_eq!(platform.wire.count(&deployments), 0, "nobody changed it");
}

#[tokio::test]
async fn an_object_may_be_written_in_another_version_of_its_api() {
    let platform = Platform::start().await;
    let app = deployment("app", Some(1));
    let new = autoscaler("app");
    let mut old = new.clone();
    old["apiVersion"] = "autoscaling/v1".into();
    old["spec"] = json!({
        "scaleTargetRef": new["spec"]["scaleTargetRef"],
        "minReplicas": 1, "maxReplicas": 10, "targetCPUUtilizationPercentage": 50,
    });
    let objects = [("app", app.clone()), ("scaler", old)];
    platform.release("cart", &objects).await;
    platform.applied("cart").await;
    let uid = platform.uid(&new).await;
    let objects = [("app", app), ("scaler", new.clone())];
    platform.release("cart", &objects).await;
    platform.applied("cart").await;
    assert_eq!(platform.uid(&new).await, uid);
    let release = platform.read("cart").await;
    let entry = crate::hands::entry(&release, "scaler").unwrap();
    assert_eq!(entry.version, "v2");
    platform.delete("cart").await;
    platform.gone("cart").await;
    assert!(platform.found(&new).await.is_none());
}
