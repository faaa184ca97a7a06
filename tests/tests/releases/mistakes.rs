//! Mistakes in a release: each is named with its fix, and what was good before stays.

use quadrille_testkit::wire::{Fault, Gate, Matcher, Verb, WatchEnd};
use quadrille_types::{Environment, Release, conditions::ConditionType};
use serde_json::{Value, json};

use crate::{
    hands::{api, entry},
    objects::in_namespace,
    platform::{Platform, config},
};

/// A release that is in place.
async fn good(platform: &Platform) {
    let objects = [("a", config("a", "1")), ("b", config("b", "1"))];
    platform.release("cart", &objects).await;
    platform.until("cart", ConditionType::Ready, "True").await;
}

/// Nothing of a release that cannot be understood is applied or removed.
async fn is_refused_as_a_whole(bad: Value, words: &[&str]) {
    let platform = Platform::start().await;
    good(&platform).await;
    let objects = [("a", config("a", "2")), ("bad", bad)];
    platform.release("cart", &objects).await;
    let said = "resource \"bad\"";
    let release = platform
        .until_said("cart", ConditionType::ResourcesApplied, "False", said)
        .await;
    let status = release.status.unwrap();
    let condition = quadrille_types::conditions::find(&status.conditions, ConditionType::Ready);
    let condition = condition.unwrap();
    assert_eq!(condition.reason, "InvalidConfiguration");
    for words in words {
        assert!(condition.message.contains(words), "{}", condition.message);
    }
    assert!(condition.message.contains("what was applied before stays"));
    assert!(condition.message.len() < 2000);
    platform.until_configs(&[("a", "1"), ("b", "1")]).await;
    good(&platform).await;
}

/// One object that the plane does not take is named, and nothing is removed because of it.
async fn is_refused_alone(bad: Value, reason: &str, words: &[&str]) {
    let platform = Platform::start().await;
    good(&platform).await;
    let objects = [("a", config("a", "2")), ("bad", bad)];
    platform.release("cart", &objects).await;
    let error = platform.until_error("cart", "bad", reason).await;
    for words in words {
        assert!(error.message.contains(words), "{}", error.message);
    }
    let said = "resource \"bad\"";
    platform
        .until_said("cart", ConditionType::ResourcesApplied, "False", said)
        .await;
    platform.until_configs(&[("a", "2"), ("b", "1")]).await;
    good(&platform).await;
    platform.delete("cart").await;
    platform.gone("cart").await;
}

#[tokio::test]
async fn an_object_without_a_name_is_named_by_its_id() {
    let mut bad = config("x", "1");
    bad["metadata"] = json!({});
    is_refused_as_a_whole(bad, &["metadata.name", "give the object a name"]).await;
}

#[tokio::test]
async fn an_object_with_a_generated_name_is_refused() {
    let mut bad = config("x", "1");
    bad["metadata"] = json!({ "generateName": "x-" });
    is_refused_as_a_whole(bad, &["generateName", "give it a name"]).await;
}

#[tokio::test]
async fn two_resources_for_one_object_are_told_apart_by_their_ids() {
    is_refused_as_a_whole(config("a", "3"), &["resource \"a\" is too", "keep one"]).await;
}

#[tokio::test]
async fn kinds_that_cannot_be_kept_are_refused() {
    let bad = json!({
        "apiVersion": "openchoreo.dev/v1alpha1", "kind": "Release",
        "metadata": { "name": "inner" }, "spec": {},
    });
    is_refused_as_a_whole(bad, &["object.kind", "belongs to the control plane"]).await;
}

#[tokio::test]
async fn lists_are_refused() {
    let bad = json!({
        "apiVersion": "v1", "kind": "ConfigMapList",
        "metadata": { "name": "x" }, "items": [],
    });
    is_refused_as_a_whole(bad, &["is a list", "an entry of its own"]).await;
}

#[tokio::test]
async fn an_object_that_no_server_would_take_for_its_size_is_refused() {
    let bad = config("huge", &"x".repeat(1_410_000));
    is_refused_as_a_whole(bad, &["is too large", "split it"]).await;
}

#[tokio::test]
async fn unknown_fields_are_refused_and_named() {
    let mut bad = config("c", "1");
    bad["dataa"] = json!({ "x": "y" });
    is_refused_alone(bad, "Invalid", &["dataa"]).await;
}

#[tokio::test]
async fn a_kind_that_the_plane_does_not_know_is_named() {
    let bad = json!({
        "apiVersion": "nowhere.example.com/v1", "kind": "Gadget", "metadata": { "name": "x" },
    });
    is_refused_alone(bad, "KindNotServed", &["Gadget", "install its definition"]).await;
}

#[tokio::test]
async fn a_cluster_wide_object_with_a_namespace_is_refused() {
    let bad = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
        "metadata": { "name": "quadrille-mistake" }, "rules": [],
    });
    is_refused_alone(
        bad,
        "NamespaceNotAllowed",
        &["metadata.namespace", "take it out"],
    )
    .await;
}

#[tokio::test]
async fn a_namespace_that_was_taken_out_does_not_cost_the_object() {
    let platform = Platform::start().await;
    let name = platform.cluster.unique("mistake");
    let role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
        "metadata": { "name": name }, "rules": [],
    });
    platform.release("cart", &[("role", role.clone())]).await;
    platform
        .until_error("cart", "role", "NamespaceNotAllowed")
        .await;
    let role = in_namespace(role, None);
    platform.release("cart", &[("role", role.clone())]).await;
    platform.until("cart", ConditionType::Ready, "True").await;
    let deletes = Matcher::verb(Verb::Delete);
    assert_eq!(
        platform.wire.count(&deletes),
        0,
        "the mistake was no object"
    );
    platform.delete("cart").await;
    platform.gone("cart").await;
    let roles = api(platform.client(), &role, None);
    assert!(roles.get_opt(&name).await.unwrap().is_none());
}

#[tokio::test]
async fn a_namespaced_object_without_a_namespace_is_refused() {
    let bad = in_namespace(config("c", "1"), None);
    is_refused_alone(
        bad,
        "NamespaceMissing",
        &["metadata.namespace", "in which namespace"],
    )
    .await;
}

#[tokio::test]
async fn an_id_that_is_given_twice_is_refused_by_the_api() {
    let platform = Platform::start().await;
    good(&platform).await;
    let release = json!({
        "apiVersion": "openchoreo.dev/v1alpha1", "kind": "Release",
        "metadata": { "name": "twice" },
        "spec": {
            "owner": { "projectName": "shop" }, "environmentName": "dev",
            "resources": [
                { "id": "a", "object": config("x", "1") },
                { "id": "a", "object": config("y", "1") },
            ],
        },
    });
    let release: Release = serde_json::from_value(release).unwrap();
    let api = platform.cluster.api::<Release>();
    let error = api
        .create(&kube::api::PostParams::default(), &release)
        .await
        .unwrap_err();
    assert!(error.to_string().contains("Duplicate value"), "{error}");
}

#[tokio::test]
async fn references_that_lead_nowhere_are_named_and_found_when_they_appear() {
    let platform = Platform::start().await;
    let objects = [("a", config("a", "1"))];
    let fields = json!({ "environmentName": "qa" });
    platform.release_with("cart", &objects, fields).await;
    let says = async |words: &str| {
        platform
            .until_said("cart", ConditionType::ResourcesApplied, "False", words)
            .await
    };
    says("there is no Environment \"qa\"").await;
    platform
        .apply::<Environment>("qa", json!({ "dataPlaneRef": "nowhere" }))
        .await;
    let release = says("there is no DataPlane \"nowhere\"").await;
    assert!(entry(&release, "a").is_none(), "nothing was sent");
    platform
        .apply::<Environment>("qa", json!({ "dataPlaneRef": "local" }))
        .await;
    platform.applied("cart").await;
    platform.until_configs(&[("a", "1")]).await;
    platform
        .apply::<Environment>("qa", json!({ "dataPlaneRef": "nowhere" }))
        .await;
    says("objects of this release are on").await;
    platform.until_configs(&[("a", "1")]).await;
}

#[tokio::test]
async fn a_plane_that_is_not_served_is_named() {
    let platform = Platform::start().await;
    let fields = json!({ "targetPlane": "observabilityplane" });
    let objects = [("a", config("a", "1"))];
    platform.release_with("cart", &objects, fields).await;
    let said = "spec.targetPlane: observabilityplane is not served yet";
    platform
        .until_said("cart", ConditionType::ResourcesApplied, "False", said)
        .await;
    platform.until_configs(&[]).await;
}

#[tokio::test]
async fn an_interval_that_nobody_lives_to_see_stops_nothing() {
    let platform = Platform::start().await;
    let objects = [("a", config("a", "1"))];
    let long = "18000000000000000000s";
    let fields = json!({ "interval": long, "progressingInterval": long });
    platform.release_with("cart", &objects, fields).await;
    platform.until("cart", ConditionType::Ready, "True").await;
    good(&platform).await;
    platform.delete("cart").await;
    platform.gone("cart").await;
}

#[tokio::test]
async fn what_is_held_back_is_not_called_healthy_and_what_stays_is() {
    let platform = Platform::start().await;
    let fields = json!({ "environmentName": "qa" });
    let objects = [("a", config("a", "1"))];
    platform.release_with("new", &objects, fields).await;
    let said = "1 object is not in place yet";
    let release = platform
        .until_said("new", ConditionType::ResourcesReady, "False", said)
        .await;
    assert_eq!(release.status.unwrap().healthy.as_deref(), Some("0/1"));
    good(&platform).await;
    let mut nameless = config("x", "1");
    nameless["metadata"] = json!({});
    platform.release("cart", &[("bad", nameless)]).await;
    let release = platform
        .until("cart", ConditionType::ResourcesApplied, "False")
        .await;
    assert_eq!(release.status.unwrap().healthy.as_deref(), Some("2/2"));
}

#[tokio::test]
async fn an_environment_that_is_being_listed_anew_is_not_missing() {
    let platform = Platform::start().await;
    good(&platform).await;
    let gate = Gate::closed();
    let lists = Matcher::verb(Verb::List).resource("environments");
    platform.wire.inject(lists, Fault::Hold(gate.clone()));
    platform.wire.end_watches(WatchEnd::Expired);
    gate.reached_by(1).await;
    let objects = [("a", config("a", "2")), ("b", config("b", "1"))];
    platform.release("cart", &objects).await;
    platform.applied("cart").await;
    platform.until_configs(&[("a", "2"), ("b", "1")]).await;
    gate.open();
}
