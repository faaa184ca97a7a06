//! From a component to what runs of it.

use k8s_openapi::api::core::v1::PersistentVolumeClaim;
use kube::{
    Api,
    api::{DeleteParams, ListParams, PostParams},
};
use quadrille_testkit::eventually;
use quadrille_types::{
    Component, Release, ReleaseBinding, Workload, annotations, conditions::ConditionType,
};
use serde_json::json;

use crate::{
    shop::Shop,
    stage::{gone, until_said},
};

#[tokio::test]
async fn a_component_deploys_itself_to_the_first_environment() {
    let shop = Shop::open().await;
    shop.component("cart", "shop", "cart:1").await;
    shop.until_ready("cart", "dev").await;
    let latest = shop.latest("cart").await;
    let binding = shop.binding("cart", "dev").await;
    assert_eq!(binding.spec.release_name.as_ref(), Some(&latest));
    let status = binding.status.unwrap();
    assert_eq!(status.current_release.as_ref(), Some(&latest));
    assert_eq!(status.history.len(), 1);
    assert!(status.history[0].ready_at.is_some());
    let mut releases = shop.releases().await;
    releases.sort();
    let cell = quadrille_render::cell::release_name("shop", "dev");
    assert_eq!(releases, ["cart-dev".to_owned(), cell.clone()]);
    let release = shop.api::<Release>().get("cart-dev").await.unwrap();
    assert_eq!(release.spec.depends_on[0].name.as_str(), cell);
    let data = shop.data("cart", "shop", "dev").await.unwrap();
    assert_eq!(
        (&data["image"], &data["title"], &data["size"]),
        (&json!("cart:1"), &json!("untitled"), &json!("1"))
    );
    // Nothing is written when nothing changes.
    let before = shop.binding("cart", "dev").await.metadata.resource_version;
    shop.patch::<Component>(
        "cart",
        json!({ "metadata": { "labels": { "seen": "yes" } } }),
    )
    .await;
    shop.component("other", "shop", "other:1").await;
    shop.until_ready("other", "dev").await;
    let after = shop.binding("cart", "dev").await.metadata.resource_version;
    assert_eq!(before, after);
}

#[tokio::test]
async fn a_change_of_the_workload_is_a_new_release_and_rolls_out() {
    let shop = Shop::open().await;
    shop.component("cart", "shop", "cart:1").await;
    shop.until_ready("cart", "dev").await;
    let first = shop.latest("cart").await;
    shop.component("cart", "shop", "cart:2").await;
    let second = shop.until_another("cart", "dev", &first).await;
    shop.until_data("cart", "dev", "image", "cart:2").await;
    assert_eq!(shop.snapshots("cart").await.len(), 2);
    let history = shop.binding("cart", "dev").await.status.unwrap().history;
    let names: Vec<&str> = history
        .iter()
        .map(|ran| ran.release_name.as_str())
        .collect();
    assert_eq!(names, [second.as_str(), first.as_str()]);
    // The same content is the same release, also when it comes back.
    shop.component("cart", "shop", "cart:1").await;
    assert_eq!(shop.until_another("cart", "dev", &second).await, first);
    assert_eq!(shop.snapshots("cart").await.len(), 2);
}

#[tokio::test]
async fn a_rollback_by_hand_holds_until_the_developer_changes_something() {
    let shop = Shop::open().await;
    shop.component("cart", "shop", "cart:1").await;
    shop.until_ready("cart", "dev").await;
    let first = shop.latest("cart").await;
    shop.component("cart", "shop", "cart:2").await;
    let second = shop.until_another("cart", "dev", &first).await;
    shop.patch::<ReleaseBinding>("cart-dev", json!({ "spec": { "releaseName": first } }))
        .await;
    shop.until_another("cart", "dev", &second).await;
    // What makes the controllers look again changes nothing.
    shop.patch::<Component>(
        "cart",
        json!({ "metadata": { "labels": { "seen": "yes" } } }),
    )
    .await;
    shop.component("other", "shop", "other:1").await;
    shop.until_ready("other", "dev").await;
    let binding = shop.binding("cart", "dev").await;
    assert_eq!(binding.spec.release_name.as_ref(), Some(&first));
    shop.component("cart", "shop", "cart:3").await;
    let third = shop.until_another("cart", "dev", &first).await;
    assert_eq!(shop.latest("cart").await, third);
    shop.until_data("cart", "dev", "image", "cart:3").await;
}

#[tokio::test]
async fn what_differs_per_environment_is_said_by_its_binding() {
    let shop = Shop::open().await;
    shop.component_with(
        "cart",
        "shop",
        json!({ "container": { "image": "cart:1" } }),
        json!({ "parameters": { "title": "Cart" } }),
    )
    .await;
    shop.until_ready("cart", "dev").await;
    let release = shop.latest("cart").await;
    shop.bind("cart", "shop", "staging", &release).await;
    shop.patch::<ReleaseBinding>(
        "cart-staging",
        json!({ "spec": { "componentTypeEnvironmentConfigs": { "size": 7 } } }),
    )
    .await;
    shop.until_data("cart", "staging", "size", "7").await;
    shop.until_data("cart", "dev", "size", "1").await;
    // What the schema refuses leaves what ran.
    shop.patch::<ReleaseBinding>(
        "cart-staging",
        json!({ "spec": { "componentTypeEnvironmentConfigs": { "size": "large" } } }),
    )
    .await;
    let refused = ConditionType::ReleaseSynced;
    shop.until("cart", "staging", refused, "False", "size")
        .await;
    let binding = shop.binding("cart", "staging").await;
    let said = serde_json::to_string(&binding.status).unwrap();
    assert!(said.contains("keeps running"), "{said}");
    shop.until_data("cart", "staging", "size", "7").await;
    shop.patch::<ReleaseBinding>(
        "cart-staging",
        json!({ "spec": { "componentTypeEnvironmentConfigs": { "size": 8 } } }),
    )
    .await;
    shop.until_ready("cart", "staging").await;
    shop.until_data("cart", "staging", "size", "8").await;
}

#[tokio::test]
async fn what_is_undeployed_goes_with_its_cell_and_comes_back() {
    let shop = Shop::open().await;
    shop.component("cart", "shop", "cart:1").await;
    shop.until_ready("cart", "dev").await;
    shop.patch::<ReleaseBinding>("cart-dev", json!({ "spec": { "state": "Undeploy" } }))
        .await;
    let releases = shop.api::<Release>();
    gone(&releases, "cart-dev").await;
    gone(
        &releases,
        &quadrille_render::cell::release_name("shop", "dev"),
    )
    .await;
    let state = ConditionType::Ready;
    shop.until("cart", "dev", state, "False", "ResourcesUndeployed")
        .await;
    assert_eq!(shop.data("cart", "shop", "dev").await, None);
    shop.patch::<ReleaseBinding>("cart-dev", json!({ "spec": { "state": "Active" } }))
        .await;
    shop.until_ready("cart", "dev").await;
    shop.until_data("cart", "dev", "image", "cart:1").await;
}

#[tokio::test]
async fn a_cell_that_holds_data_stays_until_its_project_goes() {
    let shop = Shop::open().await;
    shop.component("cart", "shop", "cart:1").await;
    shop.until_ready("cart", "dev").await;
    let cell = shop.cell("shop", "dev");
    let claims: Api<PersistentVolumeClaim> = Api::namespaced(shop.stage.client(), &cell);
    let claim = json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": { "name": "orders" },
        "spec": {
            "accessModes": ["ReadWriteOnce"], "resources": { "requests": { "storage": "1Gi" } },
        },
    });
    let claim = serde_json::from_value(claim).unwrap();
    claims.create(&PostParams::default(), &claim).await.unwrap();
    shop.stage.delete(&shop.api::<Component>(), "cart").await;
    gone(&shop.api::<Component>(), "cart").await;
    let name = quadrille_render::cell::release_name("shop", "dev");
    let events: Api<k8s_openapi::api::core::v1::Event> = shop.api();
    eventually("it is said that the cell stays", async || {
        let all = events.list(&ListParams::default()).await.unwrap();
        let mut said = all
            .items
            .iter()
            .filter_map(|event| event.message.as_deref());
        said.any(|words| words.contains("PersistentVolumeClaim orders"))
            .then_some(())
            .ok_or("not yet")
    })
    .await;
    let release = shop.api::<Release>().get(&name).await.unwrap();
    assert!(release.metadata.deletion_timestamp.is_none());
    let parameters = DeleteParams::default();
    let projects = shop.api::<quadrille_types::Project>();
    projects.delete("shop", &parameters).await.unwrap();
    gone(&projects, "shop").await;
    gone(&shop.api::<Release>(), &name).await;
}

#[tokio::test]
async fn old_releases_that_nobody_uses_go() {
    let shop = Shop::open().await;
    shop.component("cart", "shop", "cart:0").await;
    shop.patch::<Component>(
        "cart",
        json!({ "metadata": { "annotations": { annotations::KEPT_RELEASES: "2" } } }),
    )
    .await;
    shop.until_ready("cart", "dev").await;
    let used = shop.latest("cart").await;
    shop.bind("cart", "shop", "staging", &used).await;
    shop.until_ready("cart", "staging").await;
    let mut last = used.clone();
    for number in 1..6 {
        shop.component("cart", "shop", &format!("cart:{number}"))
            .await;
        last = shop.until_another("cart", "dev", &last).await;
    }
    eventually("only what is used and two more are kept", async || {
        let left = shop.snapshots("cart").await;
        let is_right = left.len() == 4 && left.contains(&used) && left.contains(&last);
        is_right.then_some(()).ok_or(format!("{left:?}"))
    })
    .await;
}

#[tokio::test]
async fn a_component_of_the_older_generation_is_left_to_the_kinds_that_deploy_it() {
    let shop = Shop::open().await;
    let spec = json!({ "owner": { "projectName": "shop" }, "type": "Service" });
    shop.apply::<Component>("older", spec).await;
    shop.component("cart", "shop", "cart:1").await;
    shop.until_ready("cart", "dev").await;
    let ready = ConditionType::Ready;
    until_said(
        &shop.api::<Component>(),
        "older",
        ready,
        "True",
        "Reconciled",
    )
    .await;
    assert_eq!(shop.snapshots("older").await, Vec::<String>::new());
    let all = ListParams::default();
    let bindings = shop.api::<ReleaseBinding>().list(&all).await;
    let bindings = bindings.unwrap().items;
    let names: Vec<String> = bindings.iter().map(kube::ResourceExt::name_any).collect();
    assert_eq!(names, ["cart-dev"]);
}

#[tokio::test]
async fn a_component_that_is_deployed_by_hand_is_only_checked() {
    let shop = Shop::open().await;
    shop.component_with(
        "cart",
        "shop",
        json!({ "container": { "image": "cart:1" } }),
        json!({ "autoDeploy": false }),
    )
    .await;
    let components = shop.api::<Component>();
    until_said(
        &components,
        "cart",
        ConditionType::Ready,
        "True",
        "Reconciled",
    )
    .await;
    assert_eq!(shop.snapshots("cart").await, Vec::<String>::new());
    shop.stage.delete(&shop.api::<Workload>(), "cart").await;
    until_said(
        &components,
        "cart",
        ConditionType::Ready,
        "False",
        "WorkloadNotFound",
    )
    .await;
}

#[tokio::test]
async fn a_binding_that_was_there_before_is_pointed_at_the_release() {
    let shop = Shop::open().await;
    let spec = json!({
        "owner": { "projectName": "shop", "componentName": "cart" }, "environment": "dev",
        "componentTypeEnvironmentConfigs": { "size": 3 },
    });
    shop.apply::<ReleaseBinding>("cart-dev", spec).await;
    shop.component("cart", "shop", "cart:1").await;
    shop.until_ready("cart", "dev").await;
    shop.until_data("cart", "dev", "size", "3").await;
    assert_eq!(shop.releases().await.len(), 2);
}
