//! From one environment to the next: in order, and where somebody has to agree, not before.

use quadrille_types::{Deployment, DeploymentPipeline, Release, Service, ServiceBinding};
use serde_json::{Value, json};

use crate::{
    instances::workload,
    orchard::{Orchard, Ours, image, offering, paths},
};

/// Waits until somebody has to agree, and tells to what.
async fn waits<K: Ours>(orchard: &Orchard, name: &str) -> String {
    orchard.until::<K>(name, "False", "ApprovalRequired").await;
    let object = orchard.get::<K>(name).await.unwrap();
    let asked = object["status"]["requestedRelease"].as_str();
    asked.unwrap_or_else(|| panic!("{object:#}")).to_owned()
}

async fn strict(orchard: &Orchard) {
    let strict = json!({ "promotionPaths": paths(), "enforcement": "Strict" });
    orchard.pipeline(strict).await;
    orchard.until_ready::<DeploymentPipeline>("main").await;
}

async fn image_of(orchard: &Orchard, release: &str) -> Value {
    let runs = orchard.object(release, "Deployment").await;
    let runs = runs.unwrap_or_default();
    runs["spec"]["template"]["spec"]["containers"][0]["image"].clone()
}

#[tokio::test]
async fn a_deployment_is_promoted_in_order_and_runs_in_production_once_somebody_agrees() {
    let orchard = Orchard::open().await;
    strict(&orchard).await;
    orchard.component("cart", "shop", "Service").await;
    let first = image("registry.test/cart:1", offering());
    orchard.artifact("cart-1", "cart", "shop", first).await;
    // Nobody has seen it run in dev.
    orchard.deploy("cart", "shop", "staging", "cart-1").await;
    orchard
        .until::<Deployment>("cart-staging", "False", "PromotionOutOfOrder")
        .await;
    assert_eq!(orchard.released().await, Vec::<String>::new());
    orchard.deploy("cart", "shop", "dev", "cart-1").await;
    orchard.until_ready::<Deployment>("cart-dev").await;
    orchard.until_ready::<Deployment>("cart-staging").await;
    orchard.deploy("cart", "shop", "prod", "cart-1").await;
    let waiting = waits::<Deployment>(&orchard, "cart-prod").await;
    assert_eq!(orchard.get::<Release>("deployment-cart-prod").await, None);
    // A word about something else is none about this.
    orchard.approve("cart", "prod", "cart-another").await;
    orchard.approve("cart", "staging", &waiting).await;
    waits::<Deployment>(&orchard, "cart-prod").await;
    orchard.approve("cart", "prod", &waiting).await;
    orchard.until_ready::<Deployment>("cart-prod").await;

    // The next one waits, and the first one goes on.
    let second = image("registry.test/cart:2", offering());
    orchard.artifact("cart-2", "cart", "shop", second).await;
    for environment in ["dev", "staging"] {
        orchard.deploy("cart", "shop", environment, "cart-2").await;
        let name = format!("cart-{environment}");
        orchard.until_ready::<Deployment>(&name).await;
    }
    orchard.deploy("cart", "shop", "prod", "cart-2").await;
    let next = waits::<Deployment>(&orchard, "cart-prod").await;
    assert_ne!(next, waiting);
    assert_eq!(
        image_of(&orchard, "deployment-cart-prod").await,
        "registry.test/cart:1"
    );
    orchard.approve("cart", "prod", &next).await;
    orchard.until_ready::<Deployment>("cart-prod").await;
    assert_eq!(
        image_of(&orchard, "deployment-cart-prod").await,
        "registry.test/cart:2"
    );
}

#[tokio::test]
async fn an_advising_pipeline_lets_a_deployment_skip_a_stage() {
    let orchard = Orchard::open().await;
    orchard.component("cart", "shop", "Service").await;
    let first = image("registry.test/cart:1", offering());
    orchard.artifact("cart-1", "cart", "shop", first).await;
    orchard.deploy("cart", "shop", "staging", "cart-1").await;
    orchard.until_ready::<Deployment>("cart-staging").await;
}

/// The binding of an instance, copied to another environment.
async fn promote(orchard: &Orchard, to: &str) {
    let source = orchard.get::<ServiceBinding>("cart").await.unwrap();
    let mut spec = source["spec"].clone();
    spec["environment"] = json!(to);
    spec["releaseState"] = json!("Active");
    orchard
        .put::<ServiceBinding>(&format!("cart-{to}"), &[], spec)
        .await;
}

#[tokio::test]
async fn a_binding_is_promoted_in_order_and_runs_in_production_once_somebody_agrees() {
    let orchard = Orchard::open().await;
    strict(&orchard).await;
    orchard.instance::<Service>("cart", "shop", json!({})).await;
    orchard.until_ready::<ServiceBinding>("cart").await;
    promote(&orchard, "prod").await;
    orchard
        .until::<ServiceBinding>("cart-prod", "False", "PromotionOutOfOrder")
        .await;
    assert_eq!(orchard.get::<Release>("cart-prod").await, None);
    promote(&orchard, "staging").await;
    orchard.until_ready::<ServiceBinding>("cart-staging").await;
    let waiting = waits::<ServiceBinding>(&orchard, "cart-prod").await;
    assert_eq!(orchard.get::<Release>("cart-prod").await, None);
    orchard.approve("cart", "prod", &waiting).await;
    orchard.until_ready::<ServiceBinding>("cart-prod").await;

    // Another version is another thing to agree to.
    orchard
        .workload("cart", "shop", workload("registry.test/cart:2"))
        .await;
    quadrille_testkit::eventually("dev has it", async || {
        let image = image_of(&orchard, "cart").await;
        (image == "registry.test/cart:2")
            .then_some(())
            .ok_or(image.to_string())
    })
    .await;
    orchard.until_ready::<ServiceBinding>("cart").await;
    promote(&orchard, "staging").await;
    orchard.until_ready::<ServiceBinding>("cart-staging").await;
    promote(&orchard, "prod").await;
    let next = waits::<ServiceBinding>(&orchard, "cart-prod").await;
    assert_ne!(next, waiting);
    assert_eq!(
        image_of(&orchard, "cart-prod").await,
        "registry.test/cart:1"
    );
    orchard.approve("cart", "prod", &next).await;
    orchard.until_ready::<ServiceBinding>("cart-prod").await;
    assert_eq!(
        image_of(&orchard, "cart-prod").await,
        "registry.test/cart:2"
    );
}

#[tokio::test]
async fn an_instance_follows_the_pipeline_to_another_first_environment() {
    let orchard = Orchard::open().await;
    let from_staging = json!([
        { "sourceEnvironmentRef": "staging", "targetEnvironmentRefs": [{ "name": "prod" }] }]);
    orchard
        .pipeline(json!({ "promotionPaths": from_staging }))
        .await;
    orchard.instance::<Service>("cart", "shop", json!({})).await;
    orchard.until_ready::<ServiceBinding>("cart").await;
    let binding = orchard.get::<ServiceBinding>("cart").await.unwrap();
    assert_eq!(binding["spec"]["environment"], "staging");
    let cell = orchard.cell("shop", "staging");
    assert!(orchard.placed("Namespace", &cell).await.is_some());
}
