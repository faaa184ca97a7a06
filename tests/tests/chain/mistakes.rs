//! Mistakes that people make: a condition names the field and what to do, and nothing is applied.

use quadrille_types::{Component, ReleaseBinding, Workload, conditions::ConditionType};
use serde_json::json;

use crate::{shop::Shop, stage::until_said};

const SYNCED: ConditionType = ConditionType::ReleaseSynced;
const READY: ConditionType = ConditionType::Ready;

#[tokio::test]
async fn a_binding_says_what_it_stands_on_that_is_not_there() {
    let shop = Shop::open().await;
    shop.component("cart", "shop", "cart:1").await;
    shop.component("other", "shop", "other:1").await;
    shop.until_ready("cart", "dev").await;
    shop.until_ready("other", "dev").await;
    let (release, others) = (shop.latest("cart").await, shop.latest("other").await);
    shop.bind("cart", "shop", "moon", &release).await;
    shop.until(
        "cart",
        "moon",
        SYNCED,
        "False",
        "there is no Environment \"moon\"",
    )
    .await;
    shop.bind("cart", "shop", "staging", "cart-never").await;
    shop.until("cart", "staging", SYNCED, "False", "quad release list cart")
        .await;
    shop.bind("cart", "shop", "staging", &others).await;
    shop.until(
        "cart",
        "staging",
        SYNCED,
        "False",
        "belongs to another component",
    )
    .await;
    shop.bind("nobody", "shop", "dev", &release).await;
    shop.until(
        "nobody",
        "dev",
        SYNCED,
        "False",
        "there is no Component \"nobody\"",
    )
    .await;
    assert_eq!(shop.data("cart", "shop", "staging").await, None);
    // What is mended clears itself.
    shop.bind("cart", "shop", "staging", &release).await;
    shop.until_ready("cart", "staging").await;
    // What runs goes on, and is not taken for what is asked for.
    shop.bind("cart", "shop", "staging", "cart-never").await;
    let words = format!(
        "there is no ComponentRelease \"cart-never\": see which there are: quad release list cart; {release} keeps running"
    );
    for condition in [SYNCED, READY] {
        shop.until("cart", "staging", condition, "False", &words)
            .await;
    }
    assert!(shop.data("cart", "shop", "staging").await.is_some());
    shop.bind("cart", "shop", "staging", &release).await;
    shop.until_ready("cart", "staging").await;
}

#[tokio::test]
async fn two_bindings_for_one_environment_are_one_too_many() {
    let shop = Shop::open().await;
    shop.component("cart", "shop", "cart:1").await;
    shop.until_ready("cart", "dev").await;
    let spec = json!({
        "owner": { "projectName": "shop", "componentName": "cart" },
        "environment": "dev", "releaseName": shop.latest("cart").await,
    });
    shop.apply::<ReleaseBinding>("later", spec).await;
    let bindings = shop.api::<ReleaseBinding>();
    until_said(
        &bindings,
        "later",
        SYNCED,
        "False",
        "delete cart-dev or this one",
    )
    .await;
    shop.until_ready("cart", "dev").await;
}

#[tokio::test]
async fn a_component_says_what_is_wrong_with_it() {
    let shop = Shop::open().await;
    let components = shop.api::<Component>();
    let workload = json!({ "container": { "image": "x:1" } });
    let cases = [
        (
            "no-type",
            json!({ "componentType": { "name": "proxy/moon" } }),
            "there is no ComponentType \"moon\"",
        ),
        (
            "no-trait",
            json!({ "traits": [{ "name": "moon", "instanceName": "m" }] }),
            "there is no Trait \"moon\"",
        ),
        (
            "runs-else",
            json!({ "componentType": { "name": "deployment/page" } }),
            "says deployment",
        ),
        (
            "no-project",
            json!({ "owner": { "projectName": "moon" } }),
            "there is no Project \"moon\"",
        ),
        (
            "workflow",
            json!({ "workflow": { "name": "moon" } }),
            "allowedWorkflows",
        ),
    ];
    for (name, more, _) in &cases {
        let project = more["owner"]["projectName"].as_str().unwrap_or("shop");
        shop.component_with(name, project, workload.clone(), more.clone())
            .await;
    }
    for (name, _, words) in &cases {
        until_said(&components, name, READY, "False", words).await;
        assert_eq!(shop.snapshots(name).await, Vec::<String>::new(), "{name}");
    }
}

#[tokio::test]
async fn two_workloads_are_one_too_many_and_what_ran_goes_on() {
    let shop = Shop::open().await;
    shop.component("cart", "shop", "cart:1").await;
    shop.until_ready("cart", "dev").await;
    let second = json!({
        "owner": { "projectName": "shop", "componentName": "cart" },
        "container": { "image": "cart:2" },
    });
    shop.apply::<Workload>("second", second).await;
    let components = shop.api::<Component>();
    until_said(&components, "cart", READY, "False", "delete all but one").await;
    shop.until_data("cart", "dev", "image", "cart:1").await;
    shop.stage.delete(&shop.api::<Workload>(), "second").await;
    until_said(&components, "cart", READY, "True", "").await;
}

#[tokio::test]
async fn overrides_that_the_schema_refuses_apply_nothing() {
    let shop = Shop::open().await;
    shop.component("cart", "shop", "cart:1").await;
    shop.until_ready("cart", "dev").await;
    let mut spec = json!({
        "owner": { "projectName": "shop", "componentName": "cart" },
        "environment": "staging", "releaseName": shop.latest("cart").await,
        "componentTypeEnvironmentConfigs": { "size": "large" },
    });
    shop.apply::<ReleaseBinding>("cart-staging", spec.clone())
        .await;
    shop.until(
        "cart",
        "staging",
        SYNCED,
        "False",
        "size: must be an integer (got \"large\")",
    )
    .await;
    let overrides = json!({ "container": { "env": [
        { "key": "A", "value": "1", "valueFrom": { "secretKeyRef": { "name": "x", "key": "y" } } }] } });
    spec["componentTypeEnvironmentConfigs"] = json!({ "size": 2 });
    spec["workloadOverrides"] = json!({ "container": { "env": [
        { "key": "A", "valueFrom": { "secretKeyRef": { "name": "nobody", "key": "y" } } }] } });
    shop.apply::<ReleaseBinding>("cart-staging", spec.clone())
        .await;
    shop.until(
        "cart",
        "staging",
        SYNCED,
        "False",
        "there is no SecretReference nobody",
    )
    .await;
    assert_eq!(shop.data("cart", "shop", "staging").await, None);
    assert!(!shop.releases().await.contains(&"cart-staging".to_owned()));
    // The server itself refuses what says two things at once.
    spec["workloadOverrides"] = overrides;
    let object = json!({
        "apiVersion": "openchoreo.dev/v1alpha1", "kind": "ReleaseBinding",
        "metadata": { "name": "cart-staging" }, "spec": spec,
    });
    let bindings = shop.api::<ReleaseBinding>();
    let how = kube::api::PatchParams::apply("test").force();
    let refused = bindings
        .patch("cart-staging", &how, &kube::api::Patch::Apply(&object))
        .await;
    assert!(matches!(refused, Err(kube::Error::Api(status)) if status.code == 422));
}

#[tokio::test]
async fn a_pipeline_that_begins_nowhere_is_told_and_deploys_nothing() {
    let shop = Shop::open().await;
    let nowhere = json!([{ "sourceEnvironmentRef": "moon", "targetEnvironmentRefs": [] }]);
    shop.pipeline(json!({ "promotionPaths": nowhere })).await;
    shop.component("cart", "shop", "cart:1").await;
    let components = shop.api::<Component>();
    until_said(
        &components,
        "cart",
        READY,
        "False",
        "cannot be deployed to moon",
    )
    .await;
    assert_eq!(shop.releases().await, Vec::<String>::new());
    shop.pipeline(json!({ "promotionPaths": crate::shop::paths() }))
        .await;
    shop.until_ready("cart", "dev").await;
    until_said(&components, "cart", READY, "True", "").await;
}
