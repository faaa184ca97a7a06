//! Parents that are missing, come late, or are there twice.

use quadrille_types::{
    ApiBinding, ApiClass, Build, Component, DataPlane, DeployableArtifact, Deployment,
    DeploymentTrack, Endpoint, Environment, Project, PublishedApi, ScheduledTask,
    ScheduledTaskBinding, ScheduledTaskClass, Service, ServiceBinding, ServiceClass,
    WebApplication, WebApplicationBinding, WebApplicationClass, Workload,
    conditions::ConditionType,
};
use serde_json::{Value, json};

use crate::{
    instances::{api, workload},
    orchard::{Orchard, Ours, endpoint_of, image, of_track, offering, template, track_of, with},
};

const RESOLVED: ConditionType = ConditionType::ArtifactResolved;

/// Nothing was released for a Deployment.
async fn nothing_released(orchard: &Orchard) {
    assert_eq!(orchard.released().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_deployment_names_each_parent_that_is_missing_and_goes_on_as_they_come() {
    let orchard = Orchard::open().await;
    let missing = [
        ("project", "garden"),
        ("component", "cart"),
        ("deployment-track", "main"),
    ];
    let mut parents = missing.to_vec();
    parents.push(("environment", "meadow"));
    let spec = json!({ "deploymentArtifactRef": "cart-1" });
    orchard.put::<Deployment>("cart-dev", &parents, spec).await;
    let until = async |words: &str| {
        orchard
            .until::<Deployment>("cart-dev", "False", words)
            .await;
    };
    until("garden").await;
    orchard.project("garden").await;
    until("component").await;
    until("cart").await;
    let component = json!({ "owner": { "projectName": "garden" }, "type": "Service" });
    orchard
        .put::<Component>("cart", &[("project", "garden")], component)
        .await;
    until("main").await;
    orchard.track("cart", "garden").await;
    until("meadow").await;
    nothing_released(&orchard).await;
    orchard.environment("meadow", json!({})).await;
    let paths = json!([{ "sourceEnvironmentRef": "meadow", "targetEnvironmentRefs": [] }]);
    orchard.pipeline(json!({ "promotionPaths": paths })).await;
    orchard
        .until_of::<Deployment>("cart-dev", RESOLVED, "False", "ArtifactNotFound")
        .await;
    until("cart-1").await;
    nothing_released(&orchard).await;
    let artifact = json!({ "targetArtifact": { "fromBuildRef": { "name": "build-1" } } });
    let track = of_track("garden", "cart");
    orchard
        .put::<DeployableArtifact>("cart-1", &track, artifact)
        .await;
    orchard
        .until_of::<Deployment>("cart-dev", RESOLVED, "False", "ArtifactBuildNotFound")
        .await;
    until("build-1").await;
    nothing_released(&orchard).await;
    orchard
        .build("build-1", "cart", "garden", Some("cart:1"))
        .await;
    orchard
        .until_of::<Deployment>("cart-dev", RESOLVED, "True", "ArtifactResolvedSuccessfully")
        .await;
    orchard.until_ready::<Deployment>("cart-dev").await;
}

#[tokio::test]
async fn a_plane_that_comes_late_is_waited_for() {
    let orchard = Orchard::open().await;
    orchard
        .environment("dev", json!({ "dataPlaneRef": "later" }))
        .await;
    orchard.service("cart", "shop").await;
    orchard.instance::<Service>("mail", "shop", json!({})).await;
    orchard
        .until::<Deployment>("cart-dev", "False", "later")
        .await;
    orchard
        .until::<ServiceBinding>("mail", "False", "later")
        .await;
    nothing_released(&orchard).await;
    let plane = orchard.get::<DataPlane>("local").await.unwrap();
    orchard
        .put::<DataPlane>("later", &[], plane["spec"].clone())
        .await;
    orchard.until_ready::<Deployment>("cart-dev").await;
    orchard.until_ready::<ServiceBinding>("mail").await;
}

#[tokio::test]
async fn an_artifact_of_another_track_is_not_taken_for_one_of_this() {
    let orchard = Orchard::open().await;
    orchard.component("cart", "shop", "Service").await;
    orchard.component("stock", "shop", "Service").await;
    let spec = image("registry.test/stock:1", offering());
    orchard.artifact("one", "stock", "shop", spec).await;
    orchard.deploy("cart", "shop", "dev", "one").await;
    orchard
        .until_of::<Deployment>("cart-dev", RESOLVED, "False", "ArtifactNotFound")
        .await;
    nothing_released(&orchard).await;
}

#[tokio::test]
async fn labels_that_are_missing_are_named() {
    let orchard = Orchard::open().await;
    orchard.component("cart", "shop", "Service").await;
    let parents = of_track("shop", "cart");
    let spec = json!({ "deploymentArtifactRef": "cart-1" });
    orchard.put::<Deployment>("nowhere", &parents, spec).await;
    orchard
        .until::<Deployment>("nowhere", "False", "openchoreo.dev/environment")
        .await;
    let spec = template("api", 8080, "/api")["spec"].clone();
    orchard.put::<Endpoint>("nobodys", &[], spec).await;
    orchard
        .until::<Endpoint>("nobodys", "False", "openchoreo.dev/")
        .await;
}

#[tokio::test]
async fn an_endpoint_waits_for_its_deployment() {
    let orchard = Orchard::open().await;
    let mut parents = of_track("shop", "cart").to_vec();
    parents.extend([("environment", "dev"), ("deployment", "cart-dev")]);
    let spec = template("more", 8080, "/more")["spec"].clone();
    orchard.put::<Endpoint>("more", &parents, spec).await;
    orchard.until::<Endpoint>("more", "False", "cart").await;
    orchard.service("cart", "shop").await;
    orchard.until_ready::<Endpoint>("more").await;
}

/// A second object with the logical name of another one makes its users wait; once one of them goes, all is well.
async fn twice<K: Ours>(called: &str, parents: &[(&str, &str)], spec: Value) {
    let orchard = Orchard::open().await;
    orchard.service("cart", "shop").await;
    orchard.until_ready::<Deployment>("cart-dev").await;
    let endpoint = endpoint_of("cart-dev", "api");
    orchard.until_ready::<Endpoint>(&endpoint).await;
    orchard.until_releases_are_ready().await;
    let before = orchard.releases().await;
    let labels = orchard.labels(called, parents);
    let object = json!({
        "apiVersion": K::api_version(&()), "kind": K::kind(&()),
        "metadata": { "name": "another", "labels": labels }, "spec": spec,
    });
    let object: K = serde_json::from_value(object).unwrap();
    let api = orchard.api::<K>();
    let how = kube::api::PostParams::default();
    api.create(&how, &object).await.unwrap();
    let kind = K::kind(&()).into_owned();
    orchard
        .until::<Deployment>("cart-dev", "False", called)
        .await;
    orchard
        .until::<Deployment>("cart-dev", "False", "another")
        .await;
    // Nobody is chosen by chance, and what ran goes on.
    assert_eq!(orchard.releases().await, before, "{kind}");
    orchard.delete::<K>("another").await;
    orchard.until_ready::<Deployment>("cart-dev").await;
    assert_eq!(
        orchard.releases().await.into_keys().collect::<Vec<_>>(),
        before.into_keys().collect::<Vec<_>>(),
        "{kind}"
    );
}

#[tokio::test]
async fn two_projects_of_one_name_are_told_and_neither_is_chosen() {
    let spec = json!({ "deploymentPipelineRef": "main" });
    twice::<Project>("shop", &[], spec).await;
}

#[tokio::test]
async fn two_components_of_one_name_are_told_and_neither_is_chosen() {
    let spec = json!({ "owner": { "projectName": "shop" }, "type": "WebApplication" });
    twice::<Component>("cart", &[("project", "shop")], spec).await;
}

#[tokio::test]
async fn two_tracks_of_one_name_are_told_and_neither_is_chosen() {
    let parents = [("project", "shop"), ("component", "cart")];
    twice::<DeploymentTrack>("main", &parents, json!({})).await;
}

#[tokio::test]
async fn two_environments_of_one_name_are_told_and_neither_is_chosen() {
    twice::<Environment>("dev", &[], json!({ "dataPlaneRef": "local" })).await;
}

#[tokio::test]
async fn a_track_that_is_called_otherwise_is_missed_until_it_is_called_so_again() {
    let orchard = Orchard::open().await;
    orchard.service("cart", "shop").await;
    orchard.until_ready::<Deployment>("cart-dev").await;
    let before = orchard.releases().await;
    let called = |name: &str| json!({ "metadata": { "labels": { "openchoreo.dev/name": name } } });
    let track = track_of("cart");
    orchard
        .patch::<DeploymentTrack>(&track, called("next"))
        .await;
    orchard
        .until::<Deployment>("cart-dev", "False", "DeploymentTrack \"main\"")
        .await;
    assert_eq!(orchard.releases().await, before);
    orchard
        .patch::<DeploymentTrack>(&track, called("main"))
        .await;
    orchard.until_ready::<Deployment>("cart-dev").await;
}

/// The binding of an instance waits for its class, and for the instance's workload there is none without it.
async fn waits_for_class<I: Ours, B: Ours, C: Ours>(reason: &str, class: Value) {
    let orchard = Orchard::open().await;
    let named = json!({ "className": "later" });
    orchard.instance::<I>("cart", "shop", named).await;
    orchard.until::<B>("cart", "False", reason).await;
    orchard.until::<B>("cart", "False", "later").await;
    nothing_released(&orchard).await;
    orchard.put::<C>("later", &[], class).await;
    orchard.until_ready::<B>("cart").await;
    // A class that goes leaves what runs.
    let before = orchard.releases().await;
    orchard.delete::<C>("later").await;
    orchard.until::<B>("cart", "False", reason).await;
    assert_eq!(orchard.releases().await, before);
}

#[tokio::test]
async fn a_service_waits_for_its_class() {
    let class = json!({ "deploymentTemplate": { "replicas": 1 } });
    waits_for_class::<Service, ServiceBinding, ServiceClass>("ServiceClassNotFound", class).await;
}

#[tokio::test]
async fn a_web_application_waits_for_its_class() {
    let class = json!({ "deploymentTemplate": { "replicas": 1 } });
    waits_for_class::<WebApplication, WebApplicationBinding, WebApplicationClass>(
        "WebApplicationClassNotFound",
        class,
    )
    .await;
}

#[tokio::test]
async fn a_scheduled_task_waits_for_its_class() {
    let class = json!({ "cronJobTemplate": { "schedule": "0 6 * * 1" } });
    waits_for_class::<ScheduledTask, ScheduledTaskBinding, ScheduledTaskClass>(
        "ScheduledTaskClassNotFound",
        class,
    )
    .await;
}

#[tokio::test]
async fn an_instance_waits_for_its_workload_and_its_project() {
    let orchard = Orchard::open().await;
    let spec = json!({
        "owner": { "projectName": "garden", "componentName": "cart" }, "workloadName": "cart",
    });
    orchard.put::<Service>("cart", &[], spec).await;
    orchard.until::<Service>("cart", "False", "garden").await;
    orchard.project("garden").await;
    orchard.until::<Service>("cart", "False", "Workload").await;
    assert_eq!(
        orchard.names::<ServiceBinding>().await,
        Vec::<String>::new()
    );
    let component = json!({ "owner": { "projectName": "garden" }, "type": "Service" });
    orchard
        .put::<Component>("cart", &[("project", "garden")], component)
        .await;
    orchard
        .workload("cart", "garden", workload("registry.test/cart:1"))
        .await;
    orchard.until_ready::<ServiceBinding>("cart").await;
    orchard.until_ready::<Service>("cart").await;
    // A workload that goes leaves what runs.
    let before = orchard.releases().await;
    orchard.delete::<Workload>("cart").await;
    orchard.until::<Service>("cart", "False", "Workload").await;
    assert_eq!(orchard.releases().await, before);
}

#[tokio::test]
async fn an_api_waits_for_its_class_and_its_component() {
    let orchard = Orchard::open().await;
    let binding = json!({
        "apiClassName": "open", "apiName": "cart-api", "environmentName": "dev",
    });
    orchard.put::<ApiBinding>("offered", &[], binding).await;
    orchard
        .until::<ApiBinding>("offered", "False", "cart-api")
        .await;
    let spec = with(
        api("open", "/v1", &["Public"]),
        &json!({
            "owner": { "projectName": "shop", "componentName": "cart" }, "environmentName": "dev",
        }),
    );
    orchard.put::<PublishedApi>("cart-api", &[], spec).await;
    orchard
        .until::<ApiBinding>("offered", "False", "ServiceBindingNotFound")
        .await;
    nothing_released(&orchard).await;
    orchard.instance::<Service>("cart", "shop", json!({})).await;
    orchard
        .until::<ApiBinding>("offered", "False", "APIClassNotFound")
        .await;
    orchard.put::<ApiClass>("open", &[], json!({})).await;
    orchard.until_ready::<ApiBinding>("offered").await;
}

#[tokio::test]
async fn a_service_waits_for_the_class_of_its_api() {
    let orchard = Orchard::open().await;
    let apis = json!({ "apis": { "api": api("later", "/v1", &["Public"]) } });
    orchard.instance::<Service>("cart", "shop", apis).await;
    orchard
        .until::<ServiceBinding>("cart", "False", "APIClassNotFound")
        .await;
    nothing_released(&orchard).await;
    orchard.put::<ApiClass>("later", &[], json!({})).await;
    orchard.until_ready::<ServiceBinding>("cart").await;
}

#[tokio::test]
async fn a_build_that_goes_leaves_what_runs_and_is_told() {
    let orchard = Orchard::open().await;
    orchard.component("cart", "shop", "Service").await;
    orchard
        .build("build-1", "cart", "shop", Some("cart:1"))
        .await;
    let built = json!({
        "targetArtifact": { "fromBuildRef": { "name": "build-1" } }, "configuration": offering(),
    });
    orchard.artifact("cart-1", "cart", "shop", built).await;
    orchard.deploy("cart", "shop", "dev", "cart-1").await;
    orchard.until_ready::<Deployment>("cart-dev").await;
    orchard
        .until_ready::<Endpoint>(&endpoint_of("cart-dev", "api"))
        .await;
    let before = orchard.releases().await;
    orchard.delete::<Build>("build-1").await;
    orchard.gone::<Build>("build-1").await;
    orchard
        .until_of::<Deployment>("cart-dev", RESOLVED, "False", "ArtifactBuildNotFound")
        .await;
    assert_eq!(orchard.releases().await, before);
}
