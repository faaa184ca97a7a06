//! Whoever looks for a way around, and whoever stumbles into one.

use k8s_openapi::api::core::v1::Namespace;
use kube::api::{DeleteParams, ListParams, PostParams};
use quadrille_testkit::eventually;
use quadrille_types::{
    Approval, Component, ComponentRelease, DeploymentPipeline, Environment, Project,
    ReleaseBinding, Trait, annotations, conditions::ConditionType,
};
use serde_json::{Value, json};

use crate::{
    shop::{Shop, page, paths},
    stage::{gone, until_said},
};

const READY: ConditionType = ConditionType::Ready;
const ADMITTED: ConditionType = ConditionType::Admitted;

/// Makes a release under a name of somebody's own, as it is but for its image.
async fn released(shop: &Shop, name: &str, like: &str, image: &str) -> String {
    let api = shop.api::<ComponentRelease>();
    let known = api.get(like).await.unwrap();
    let mut spec = json!(known.spec);
    spec["workload"]["container"]["image"] = json!(image);
    let object = json!({
        "apiVersion": "openchoreo.dev/v1alpha1", "kind": "ComponentRelease",
        "metadata": { "name": name }, "spec": spec,
    });
    let object = serde_json::from_value(object).unwrap();
    let made = api.create(&PostParams::default(), &object).await.unwrap();
    made.metadata.uid.unwrap()
}

async fn delete<K>(shop: &Shop, name: &str)
where
    K: kube::Resource<Scope = kube::core::NamespaceResourceScope, DynamicType = ()>
        + Clone
        + std::fmt::Debug
        + serde::Serialize
        + serde::de::DeserializeOwned,
{
    let api = shop.api::<K>();
    api.delete(name, &DeleteParams::default()).await.unwrap();
    gone(&api, name).await;
}

/// Everything is rendered anew.
async fn stir(shop: &Shop, mark: &str) {
    for environment in ["dev", "staging", "prod"] {
        let note = json!({ "metadata": { "annotations": { "openchoreo.dev/stirred": mark } } });
        shop.patch::<Environment>(environment, note).await;
    }
    shop.component(mark, "office", "other:1").await;
    shop.until_ready(mark, "dev").await;
}

#[tokio::test]
async fn nobody_puts_something_else_in_the_place_of_what_was_agreed_to() {
    let shop = Shop::open().await;
    shop.component("cart", "shop", "cart:1").await;
    shop.until_ready("cart", "dev").await;
    let latest = shop.latest("cart").await;
    let uid = released(&shop, "cart-v1", &latest, "good:1").await;
    shop.bind("cart", "shop", "staging", "cart-v1").await;
    shop.until_ready("cart", "staging").await;
    shop.bind("cart", "shop", "prod", "cart-v1").await;
    // A word that does not say which of that name is about none.
    shop.approve("cart", "prod", "cart-v1", json!({})).await;
    let words = shop.api::<Approval>();
    let word = words
        .list(&ListParams::default())
        .await
        .unwrap()
        .items
        .remove(0);
    let word = word.metadata.name.unwrap();
    until_said(&words, &word, READY, "False", "spec.releaseUid: must be").await;
    shop.until_asked("cart").await;
    let exactly = json!({ "releaseUid": uid });
    shop.approve("cart", "prod", "cart-v1", exactly).await;
    shop.until_ready("cart", "prod").await;
    shop.until_data("cart", "prod", "image", "good:1").await;
    // Another of that name is another one.
    delete::<ComponentRelease>(&shop, "cart-v1").await;
    let gone = ConditionType::ReleaseSynced;
    shop.until(
        "cart",
        "prod",
        gone,
        "False",
        "there is no ComponentRelease",
    )
    .await;
    let evil = released(&shop, "cart-v1", &latest, "evil:1").await;
    shop.until("cart", "prod", ADMITTED, "False", "ApprovalRequired")
        .await;
    stir(&shop, "again").await;
    shop.until("cart", "prod", ADMITTED, "False", "ApprovalRequired")
        .await;
    shop.until_data("cart", "prod", "image", "good:1").await;
    shop.approve("cart", "prod", "cart-v1", json!({ "releaseUid": evil }))
        .await;
    shop.until_data("cart", "prod", "image", "evil:1").await;
}

#[tokio::test]
async fn a_release_in_use_that_somebody_deletes_comes_back_and_everything_goes_on() {
    let (shop, release) = Shop::asking().await;
    shop.approve("cart", "prod", &release, json!({})).await;
    shop.until_ready("cart", "prod").await;
    let api = shop.api::<ComponentRelease>();
    let uid = api.get(&release).await.unwrap().metadata.uid;
    api.delete(&release, &DeleteParams::default())
        .await
        .unwrap();
    eventually("it is there again", async || {
        let found = api.get_opt(&release).await.unwrap();
        let is_new = found.is_some_and(|found| found.metadata.uid != uid);
        is_new.then_some(()).ok_or("not yet")
    })
    .await;
    stir(&shop, "again").await;
    for environment in ["dev", "staging", "prod"] {
        shop.until_ready("cart", environment).await;
        let status = shop.binding("cart", environment).await.status.unwrap();
        assert_eq!(status.history.len(), 1, "{environment}");
    }
    // Nobody has to agree anew: its name says what is in it.
    shop.until("cart", "prod", ADMITTED, "True", "Approved")
        .await;
}

/// A component whose own pipeline knows nothing of production asks for it.
async fn asking_from_elsewhere() -> Shop {
    let shop = Shop::open().await;
    let short = json!([{ "sourceEnvironmentRef": "dev", "targetEnvironmentRefs": [] }]);
    shop.apply::<DeploymentPipeline>("short", json!({ "promotionPaths": short }))
        .await;
    shop.apply::<Project>("office", json!({ "deploymentPipelineRef": "short" }))
        .await;
    shop.component("desk", "office", "desk:1").await;
    shop.until_ready("desk", "dev").await;
    let release = shop.latest("desk").await;
    shop.bind("desk", "office", "prod", &release).await;
    shop.until_asked("desk").await;
    assert_eq!(shop.data("desk", "office", "prod").await, None);
    shop
}

#[tokio::test]
async fn who_is_not_promoted_to_a_guarded_place_does_not_get_there_either() {
    let shop = asking_from_elsewhere().await;
    // Staging is nobody's to guard.
    let release = shop.latest("desk").await;
    shop.bind("desk", "office", "staging", &release).await;
    shop.until_ready("desk", "staging").await;
    // The guard goes: so does what kept it out.
    let mut open = paths();
    open[1]["targetEnvironmentRefs"][0] = json!({ "name": "prod" });
    shop.pipeline(json!({ "promotionPaths": open })).await;
    shop.until_ready("desk", "prod").await;
}

#[tokio::test]
async fn a_place_that_a_pipeline_does_not_lead_to_any_more_is_not_guarded_by_it() {
    let shop = asking_from_elsewhere().await;
    // Whoever comes later is through, so there is nothing left to look at.
    shop.component("cart", "shop", "cart:1").await;
    shop.until_ready("cart", "dev").await;
    let mut shorter = paths();
    shorter.as_array_mut().unwrap().pop();
    shop.pipeline(json!({ "promotionPaths": shorter })).await;
    shop.until_ready("desk", "prod").await;
}

#[tokio::test]
async fn a_pipeline_that_goes_stops_what_is_new_and_nothing_that_runs() {
    let (shop, release) = Shop::asking().await;
    // It is in use, so it stays until the projects are elsewhere.
    let pipelines = shop.api::<DeploymentPipeline>();
    let how = DeleteParams::default();
    pipelines.delete("main", &how).await.unwrap();
    shop.approve("cart", "prod", &release, json!({})).await;
    shop.until_ready("cart", "prod").await;
    for project in ["shop", "office"] {
        shop.apply::<Project>(project, json!({ "deploymentPipelineRef": "other" }))
            .await;
    }
    gone(&pipelines, "main").await;
    let components = shop.api::<Component>();
    until_said(
        &components,
        "cart",
        READY,
        "False",
        "DeploymentPipelineNotFound",
    )
    .await;
    for environment in ["dev", "staging", "prod"] {
        shop.until_ready("cart", environment).await;
    }
    shop.component("cart", "shop", "cart:2").await;
    until_said(
        &components,
        "cart",
        READY,
        "False",
        "there is no DeploymentPipeline",
    )
    .await;
    shop.until_data("cart", "dev", "image", "cart:1").await;
    shop.apply::<DeploymentPipeline>("other", json!({ "promotionPaths": paths() }))
        .await;
    shop.until_data("cart", "dev", "image", "cart:2").await;
    shop.until_data("cart", "prod", "image", "cart:1").await;
}

#[tokio::test]
async fn two_whose_names_run_together_are_told_apart() {
    let shop = Shop::open().await;
    for environment in ["eu-dev"] {
        let spec = json!({ "dataPlaneRef": "local" });
        shop.apply::<Environment>(environment, spec).await;
    }
    shop.component("cart", "shop", "cart:1").await;
    shop.until_ready("cart", "dev").await;
    let release = shop.latest("cart").await;
    // cart in eu-dev, and cart-eu in dev.
    shop.bind("cart", "shop", "eu-dev", &release).await;
    shop.until_ready("cart", "eu-dev").await;
    shop.component("cart-eu", "shop", "other:1").await;
    let components = shop.api::<Component>();
    let words = "which is the name of another's";
    until_said(&components, "cart-eu", READY, "False", words).await;
    shop.until_data("cart", "eu-dev", "image", "cart:1").await;
    assert_eq!(shop.data("cart-eu", "shop", "dev").await, None);
}

#[tokio::test]
async fn switching_automatic_deployment_off_and_on_changes_nothing_by_itself() {
    let shop = Shop::open().await;
    shop.component("cart", "shop", "cart:1").await;
    shop.until_ready("cart", "dev").await;
    let first = shop.latest("cart").await;
    shop.component("cart", "shop", "cart:2").await;
    let second = shop.until_another("cart", "dev", &first).await;
    let auto = |is_on: bool| json!({ "spec": { "autoDeploy": is_on } });
    shop.patch::<Component>("cart", auto(false)).await;
    shop.patch::<ReleaseBinding>("cart-dev", json!({ "spec": { "releaseName": first } }))
        .await;
    shop.until_another("cart", "dev", &second).await;
    shop.patch::<Component>("cart", auto(true)).await;
    stir(&shop, "on").await;
    let binding = shop.binding("cart", "dev").await;
    assert_eq!(binding.spec.release_name, Some(first.clone()));
    // What was changed meanwhile is deployed once it is on again.
    shop.patch::<Component>("cart", auto(false)).await;
    shop.component_with(
        "cart",
        "shop",
        json!({ "container": { "image": "cart:3" } }),
        json!({ "autoDeploy": false }),
    )
    .await;
    stir(&shop, "off").await;
    shop.until_data("cart", "dev", "image", "cart:1").await;
    shop.patch::<Component>("cart", auto(true)).await;
    shop.until_data("cart", "dev", "image", "cart:3").await;
}

#[tokio::test]
async fn a_trait_that_is_taken_away_while_it_is_used_leaves_what_runs() {
    let shop = Shop::open().await;
    let note = |text: &str| {
        json!({ "patches": [{
            "target": { "group": "", "version": "v1", "kind": "ConfigMap" },
            "operations": [{ "op": "add", "path": "/data/note", "value": text }],
        }]})
    };
    shop.apply::<Trait>("note", note("one")).await;
    let own = json!({ "traits": [{ "name": "note", "instanceName": "n" }] });
    let workload = json!({ "container": { "image": "page:1" } });
    shop.component_with("own", "shop", workload, own).await;
    shop.until_data("own", "dev", "note", "one").await;
    delete::<Trait>(&shop, "note").await;
    let components = shop.api::<Component>();
    until_said(&components, "own", READY, "False", "there is no Trait").await;
    stir(&shop, "gone").await;
    // The snapshot has it still.
    shop.until_ready("own", "dev").await;
    shop.until_data("own", "dev", "note", "one").await;
    shop.apply::<Trait>("note", note("two")).await;
    shop.until_data("own", "dev", "note", "two").await;
    until_said(&components, "own", READY, "True", "").await;
}

#[tokio::test]
async fn a_component_belongs_to_one_project_for_good_and_its_words_go_with_it() {
    let (shop, release) = Shop::asking().await;
    shop.approve("cart", "prod", &release, json!({})).await;
    shop.until_ready("cart", "prod").await;
    let components = shop.api::<Component>();
    let moved = json!({ "spec": { "owner": { "projectName": "office" } } });
    let refused = components
        .patch(
            "cart",
            &kube::api::PatchParams::default(),
            &kube::api::Patch::Merge(&moved),
        )
        .await;
    assert!(matches!(refused, Err(kube::Error::Api(status)) if status.code == 422));
    delete::<Component>(&shop, "cart").await;
    let left = shop.api::<Approval>().list(&ListParams::default()).await;
    assert!(left.unwrap().items.is_empty());
    // The same again, in another project: nothing that was said of the other one counts.
    shop.component("cart", "office", "cart:1").await;
    shop.until_ready("cart", "dev").await;
    let again = shop.latest("cart").await;
    assert_eq!(again, release, "the content is the same");
    shop.bind("cart", "office", "prod", &again).await;
    shop.until_asked("cart").await;
    let namespaces = shop.stage.cluster.all::<Namespace>();
    gone(&namespaces, &shop.cell("shop", "prod")).await;
}

#[tokio::test]
async fn who_deploys_and_who_rolls_back_at_once_end_with_one_of_the_two() {
    let shop = Shop::open().await;
    shop.component("cart", "shop", "cart:0").await;
    shop.until_ready("cart", "dev").await;
    let first = shop.latest("cart").await;
    for turn in 1..8 {
        let image = format!("cart:{turn}");
        let back = json!({ "spec": { "releaseName": first } });
        tokio::join!(
            shop.component("cart", "shop", &image),
            shop.patch::<ReleaseBinding>("cart-dev", back)
        );
    }
    // What a developer deployed last comes, unless somebody went back after that.
    shop.component("cart", "shop", "cart:9").await;
    shop.until_data("cart", "dev", "image", "cart:9").await;
    shop.until_ready("cart", "dev").await;
    let binding = shop.binding("cart", "dev").await;
    let (asked, status) = (binding.spec.release_name, binding.status.unwrap());
    assert_eq!(asked, status.current_release);
    assert_eq!(asked, Some(shop.latest("cart").await));
    let snapshots = shop.snapshots("cart").await;
    for ran in &status.history {
        assert!(snapshots.contains(&ran.release_name), "{ran:?}");
    }
}

#[tokio::test]
async fn what_is_promoted_while_it_is_in_trouble_waits_for_nobody_and_is_told() {
    let shop = Shop::open().await;
    shop.pipeline(json!({ "promotionPaths": paths(), "enforcement": "Strict" }))
        .await;
    let mut broken = page("one");
    broken["resources"][0]["template"]["kind"] = json!("NoSuchKind");
    shop.apply::<quadrille_types::ComponentType>("broken", broken)
        .await;
    let typed = json!({ "componentType": { "name": "proxy/broken" } });
    let workload = json!({ "container": { "image": "cart:1" } });
    shop.component_with("cart", "shop", workload, typed).await;
    shop.until("cart", "dev", READY, "False", "NoSuchKind")
        .await;
    let release = shop.latest("cart").await;
    shop.bind("cart", "shop", "staging", &release).await;
    shop.until("cart", "staging", ADMITTED, "False", "PromotionOutOfOrder")
        .await;
    assert!(!shop.releases().await.contains(&"cart-staging".to_owned()));
}

#[tokio::test]
async fn marks_that_only_we_set_do_nothing_when_others_set_them() {
    let (shop, release) = Shop::asking().await;
    let marks: Value = json!({
        annotations::AUTO_PROMOTED: release, annotations::AUTO_DEPLOYED: "x",
        annotations::COMPONENT_RELEASE: release, annotations::RENDERED_FROM: "x@1",
        annotations::ADOPT: "true",
    });
    let marked = json!({ "metadata": { "annotations": marks } });
    shop.patch::<ReleaseBinding>("cart-prod", marked.clone())
        .await;
    shop.patch::<Component>("cart", marked).await;
    stir(&shop, "marked").await;
    shop.until_asked("cart").await;
    assert_eq!(shop.data("cart", "shop", "prod").await, None);
}
