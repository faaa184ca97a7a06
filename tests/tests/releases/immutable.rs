//! Fields that cannot change, and what is done when they do.

use quadrille_testkit::eventually;
use quadrille_types::{annotations, conditions::ConditionType};
use serde_json::{Value, json};

use crate::{
    objects::{deployment, job, stateful_set},
    platform::{Platform, config},
};

/// Another selector, and labels that fit it.
fn reselected(mut object: Value) -> Value {
    let labels = json!({ "app": "another" });
    object["spec"]["selector"]["matchLabels"] = labels.clone();
    object["spec"]["template"]["metadata"]["labels"] = labels;
    object
}

#[tokio::test]
async fn a_job_whose_template_changes_is_replaced() {
    let platform = Platform::start().await;
    let old = job("migrate", "example.com/app:1");
    platform.release("cart", &[("job", old.clone())]).await;
    platform.applied("cart").await;
    let uid = platform.uid(&old).await;
    let new = job("migrate", "example.com/app:2");
    platform.release("cart", &[("job", new.clone())]).await;
    eventually("the new job is there", async || {
        let Some(found) = platform.found(&new).await else {
            return Err("there is none".to_owned());
        };
        let image = &found.data["spec"]["template"]["spec"]["containers"][0]["image"];
        if image == "example.com/app:2" && found.metadata.uid.as_ref() != Some(&uid) {
            Ok(())
        } else {
            Err(format!("{:?}", found.data["spec"]))
        }
    })
    .await;
    platform.applied("cart").await;
    platform.delete("cart").await;
    platform.gone("cart").await;
    assert!(platform.found(&new).await.is_none());
}

#[tokio::test]
async fn a_job_is_not_replaced_by_one_that_the_server_would_refuse() {
    let platform = Platform::start().await;
    let old = job("migrate", "example.com/app:1");
    platform.release("cart", &[("job", old.clone())]).await;
    platform.applied("cart").await;
    let uid = platform.uid(&old).await;
    let mut bad = job("migrate", "example.com/app:2");
    bad["spec"]["template"]["spec"]["restartPolicy"] = "Sometimes".into();
    platform.release("cart", &[("job", bad)]).await;
    platform.until_error("cart", "job", "Invalid").await;
    assert_eq!(platform.uid(&old).await, uid);
}

#[tokio::test]
async fn a_changed_selector_is_refused_unless_the_object_may_be_replaced() {
    let platform = Platform::start().await;
    let old = deployment("app", Some(0));
    platform.release("cart", &[("app", old.clone())]).await;
    platform.applied("cart").await;
    let uid = platform.uid(&old).await;
    let mut new = reselected(old.clone());
    let objects = [("app", new.clone()), ("b", config("b", "1"))];
    platform.release("cart", &objects).await;
    let error = platform
        .until_error("cart", "app", "FieldIsImmutable")
        .await;
    assert!(
        error.message.contains(annotations::ALLOW_REPLACE),
        "{error:?}"
    );
    assert_eq!(platform.uid(&old).await, uid);
    platform.until_configs(&[("b", "1")]).await;
    new["metadata"]["annotations"] = json!({ annotations::ALLOW_REPLACE: "true" });
    platform.release("cart", &[("app", new.clone())]).await;
    platform.applied("cart").await;
    assert_ne!(platform.uid(&old).await, uid);
    platform
        .until_object("it selects anew", &new, |found| {
            found.is_some_and(|found| found["spec"]["selector"]["matchLabels"]["app"] == "another")
        })
        .await;
}

#[tokio::test]
async fn what_may_hold_data_is_never_replaced() {
    let platform = Platform::start().await;
    let old = stateful_set("db");
    platform.release("cart", &[("db", old.clone())]).await;
    platform.applied("cart").await;
    let uid = platform.uid(&old).await;
    let mut new = stateful_set("db");
    new["spec"]["serviceName"] = "another".into();
    new["metadata"]["annotations"] = json!({ annotations::ALLOW_REPLACE: "true" });
    platform.release("cart", &[("db", new)]).await;
    let error = platform.until_error("cart", "db", "FieldIsImmutable").await;
    assert!(error.message.contains("could lose data"), "{error:?}");
    platform
        .until_said("cart", ConditionType::Ready, "False", "resource \"db\"")
        .await;
    assert_eq!(platform.uid(&old).await, uid);
    platform.release("cart", &[("db", old.clone())]).await;
    platform.applied("cart").await;
    assert_eq!(platform.uid(&old).await, uid);
}
