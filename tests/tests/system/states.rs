//! Stopped, taken away, and back.

use quadrille_types::{
    ApiBinding, ApiClass, PublishedApi, Release, ScheduledTask, ScheduledTaskBinding, Service,
    ServiceBinding, WebApplication, WebApplicationBinding,
};
use serde_json::{Value, json};

use crate::{
    instances::{api, workload},
    orchard::{Orchard, Ours, with},
};

fn state(word: &str) -> Value {
    json!({ "spec": { "releaseState": word } })
}

/// An instance is stopped, taken away and brought back by its binding, and nobody undoes that.
async fn goes_and_comes<I: Ours, B: Ours>(runs: &str) {
    let orchard = Orchard::open().await;
    orchard.instance::<I>("cart", "shop", json!({})).await;
    orchard.until_ready::<B>("cart").await;
    orchard.patch::<B>("cart", state("Suspend")).await;
    orchard
        .until::<B>("cart", "False", "ResourcesSuspended")
        .await;
    let stopped = orchard.object("cart", runs).await.unwrap();
    let is_stopped = stopped["spec"]["replicas"] == 0 || stopped["spec"]["suspend"] == true;
    assert!(is_stopped, "{stopped:#}");
    // Another version comes by: it is stopped, too.
    orchard
        .workload("cart", "shop", workload("registry.test/cart:2"))
        .await;
    quadrille_testkit::eventually("the binding has the other version", async || {
        let binding = orchard.get::<B>("cart").await.unwrap();
        let spec = &binding["spec"];
        let image = &spec["workloadSpec"]["containers"]["main"]["image"];
        let is_next = image == "registry.test/cart:2" && spec["releaseState"] == "Suspend";
        is_next.then_some(()).ok_or(spec.to_string())
    })
    .await;
    orchard
        .until::<B>("cart", "False", "ResourcesSuspended")
        .await;
    orchard.patch::<B>("cart", state("Undeploy")).await;
    orchard.gone::<Release>("cart").await;
    orchard
        .until::<B>("cart", "False", "ResourcesUndeployed")
        .await;
    // Nobody else is there, so the cell goes, too.
    orchard.nothing_placed().await;
    let binding = orchard.get::<B>("cart").await.unwrap();
    let endpoints = binding["status"]["endpoints"].as_array();
    assert!(endpoints.is_none_or(Vec::is_empty), "{binding:#}");
    orchard.patch::<B>("cart", state("Active")).await;
    orchard.until::<B>("cart", "True", "ResourcesActive").await;
    let back = orchard.object("cart", runs).await.unwrap();
    let text = back.to_string();
    assert!(text.contains("registry.test/cart:2"), "{text}");
}

#[tokio::test]
async fn a_service_is_suspended_undeployed_and_brought_back() {
    goes_and_comes::<Service, ServiceBinding>("Deployment").await;
}

#[tokio::test]
async fn a_web_application_is_suspended_undeployed_and_brought_back() {
    goes_and_comes::<WebApplication, WebApplicationBinding>("Deployment").await;
}

#[tokio::test]
async fn a_scheduled_task_is_suspended_undeployed_and_brought_back() {
    goes_and_comes::<ScheduledTask, ScheduledTaskBinding>("CronJob").await;
}

#[tokio::test]
async fn an_api_is_taken_away_and_brought_back_and_its_component_goes_on() {
    let orchard = Orchard::open().await;
    orchard.put::<ApiClass>("default", &[], json!({})).await;
    orchard.instance::<Service>("cart", "shop", json!({})).await;
    orchard.until_ready::<ServiceBinding>("cart").await;
    let spec = with(
        api("default", "/v1", &["Public"]),
        &json!({
            "owner": { "projectName": "shop", "componentName": "cart" }, "environmentName": "dev",
        }),
    );
    orchard.put::<PublishedApi>("cart-api", &[], spec).await;
    let binding = json!({
        "apiClassName": "default", "apiName": "cart-api", "environmentName": "dev",
    });
    orchard.put::<ApiBinding>("offered", &[], binding).await;
    orchard.until_ready::<ApiBinding>("offered").await;
    let before = orchard.releases().await["cart"].clone();
    orchard
        .patch::<ApiBinding>("offered", state("Undeploy"))
        .await;
    orchard.gone::<Release>("offered").await;
    orchard
        .until::<ApiBinding>("offered", "False", "ResourcesUndeployed")
        .await;
    assert_eq!(orchard.releases().await["cart"], before);
    orchard
        .patch::<ApiBinding>("offered", state("Active"))
        .await;
    orchard.until_ready::<ApiBinding>("offered").await;
    assert_eq!(orchard.releases().await["cart"], before);
}

#[tokio::test]
async fn what_is_taken_away_leaves_the_cell_to_who_is_still_there() {
    let orchard = Orchard::open().await;
    orchard.instance::<Service>("cart", "shop", json!({})).await;
    orchard.service("stock", "shop").await;
    orchard.until_ready::<ServiceBinding>("cart").await;
    orchard
        .until_ready::<quadrille_types::Deployment>("stock-dev")
        .await;
    let cell = quadrille_render::cell::release_name("shop", "dev");
    let before = orchard.releases().await;
    orchard
        .patch::<ServiceBinding>("cart", state("Undeploy"))
        .await;
    orchard.gone::<Release>("cart").await;
    let after = orchard.releases().await;
    assert_eq!(after.get(&cell), before.get(&cell));
    let own = "deployment-stock-dev";
    assert_eq!(after.get(own), before.get(own));
}
