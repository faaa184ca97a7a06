//! One bad object, and what becomes of the others.

use quadrille_types::conditions::ConditionType;
use serde_json::{Value, json};

use crate::{
    hands::{FOREIGN_FINALIZER, api, entry},
    objects::{deployment, in_namespace, network_policy},
    platform::{Platform, config},
};

#[tokio::test]
async fn one_bad_object_does_not_stop_the_others_of_its_stage() {
    let platform = Platform::start().await;
    let mut bad = config("bad", "1");
    bad["data"]["no/such key"] = "x".into();
    let objects = [
        ("a", config("a", "1")),
        ("bad", bad),
        ("z", config("z", "1")),
        ("app", deployment("app", Some(0))),
    ];
    platform.release("cart", &objects).await;
    let error = platform.until_error("cart", "bad", "Invalid").await;
    assert!(error.message.contains("no/such key"), "{}", error.message);
    let said = format!("resource \"bad\": ConfigMap {}/bad", platform.namespace());
    let release = platform
        .until_said("cart", ConditionType::ResourcesApplied, "False", &said)
        .await;
    platform.until_configs(&[("a", "1"), ("z", "1")]).await;
    assert!(platform.found(&deployment("app", None)).await.is_some());
    for id in ["a", "z", "app"] {
        let entry = entry(&release, id).unwrap();
        assert!(entry.error.is_none() && entry.uid.is_some(), "{entry:?}");
    }
    platform.until_event("cart", "resource \"bad\"").await;
    let objects = [("a", config("a", "1")), ("bad", config("bad", "1"))];
    platform.release("cart", &objects).await;
    platform.applied("cart").await;
    platform.until_configs(&[("a", "1"), ("bad", "1")]).await;
}

#[tokio::test]
async fn nothing_runs_before_what_isolates_it_is_there() {
    let platform = Platform::start().await;
    let mut policy = network_policy("deny");
    policy["spec"]["policyTypes"] = json!(["Sideways"]);
    let app = deployment("app", Some(0));
    let objects = [
        ("app", app.clone()),
        ("policy", policy),
        ("config", config("a", "1")),
    ];
    platform.release("cart", &objects).await;
    platform.until_error("cart", "policy", "Invalid").await;
    platform
        .until_error("cart", "app", "WaitingForIsolation")
        .await;
    platform.until_configs(&[("a", "1")]).await;
    assert!(platform.found(&app).await.is_none());
    let objects = [("app", app.clone()), ("policy", network_policy("deny"))];
    platform.release("cart", &objects).await;
    platform.applied("cart").await;
    assert!(platform.found(&app).await.is_some());
}

/// Refuses config maps of the test's namespace that have a value, in many words.
async fn deny(platform: &Platform, value: &str) -> Vec<Value> {
    let name = platform.cluster.unique("deny");
    let policy = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
        "metadata": { "name": name },
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": { "resourceRules": [{
                "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"],
                "resources": ["configmaps"],
            }]},
            "validations": [{
                "expression": format!("!has(object.data) || !('value' in object.data) || object.data['value'] != '{value}'"),
                "message": format!("house rule 7: {}", "such a value is not wanted here. ".repeat(60)),
            }],
        },
    });
    let binding = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": { "name": name },
        "spec": {
            "policyName": name,
            "validationActions": ["Deny"],
            "matchResources": { "namespaceSelector": { "matchLabels": {
                "kubernetes.io/metadata.name": platform.namespace(),
            }}},
        },
    });
    for object in [&policy, &binding] {
        let read = serde_json::from_value(object.clone()).unwrap();
        let api = api(platform.client(), object, None);
        api.create(&kube::api::PostParams::default(), &read)
            .await
            .unwrap();
    }
    let rehearsal: k8s_openapi::api::core::v1::ConfigMap =
        serde_json::from_value(config("rehearsal", value)).unwrap();
    let dry = kube::api::PostParams {
        dry_run: true,
        ..kube::api::PostParams::default()
    };
    quadrille_testkit::eventually("the policy is enforced", async || {
        let tried = platform.cluster.api().create(&dry, &rehearsal).await;
        match tried {
            Err(error) if error.to_string().contains("house rule 7") => Ok(()),
            other => Err(format!("{other:?}")),
        }
    })
    .await;
    vec![policy, binding]
}

#[tokio::test]
async fn an_admission_denial_is_told_within_bounds_and_ends_with_its_cause() {
    let platform = Platform::start().await;
    let made = deny(&platform, "unwanted").await;
    let objects = [("a", config("a", "unwanted")), ("b", config("b", "1"))];
    platform.release("cart", &objects).await;
    let release = platform
        .until_said("cart", ConditionType::Ready, "False", "house rule 7")
        .await;
    let error = entry(&release, "a").unwrap().error.clone().unwrap();
    assert!(error.message.len() < 1000, "{}", error.message.len());
    assert!(error.message.ends_with('…'), "{}", error.message);
    platform.until_configs(&[("b", "1")]).await;
    let event = platform.until_event("cart", "house rule 7").await;
    assert!(event.len() < 1100, "{}", event.len());
    for object in made.iter().rev() {
        let api = api(platform.client(), object, None);
        let name = object["metadata"]["name"].as_str().unwrap();
        api.delete(name, &kube::api::DeleteParams::default())
            .await
            .unwrap();
    }
    platform.applied("cart").await;
    platform
        .until_configs(&[("a", "unwanted"), ("b", "1")])
        .await;
}

#[tokio::test]
async fn an_object_that_is_too_large_for_the_plane_is_named_and_the_others_are_fine() {
    let platform = Platform::start().await;
    let huge = config("huge", &"x".repeat(1_100_000));
    let objects = [("huge", huge), ("b", config("b", "1"))];
    platform.release("cart", &objects).await;
    let release = platform
        .until_said("cart", ConditionType::ResourcesApplied, "False", "\"huge\"")
        .await;
    let error = entry(&release, "huge").unwrap().error.clone().unwrap();
    assert!(error.message.contains("1048576"), "{}", error.message);
    assert!(error.message.len() < 1000);
    platform.until_configs(&[("b", "1")]).await;
    platform.delete("cart").await;
    platform.gone("cart").await;
}

#[tokio::test]
async fn a_namespace_on_its_way_out_is_told_and_made_again_when_it_is_gone() {
    let platform = Platform::start().await;
    let other = platform.cluster.unique("other");
    let mine = in_namespace(config("a", "1"), Some(&other));
    let objects = [("a", mine.clone()), ("b", config("b", "1"))];
    platform.release("cart", &objects).await;
    platform.applied("cart").await;
    let before = platform.uid(&mine).await;
    let mut held = in_namespace(config("held", "1"), Some(&other));
    held["metadata"]["finalizers"] = json!([FOREIGN_FINALIZER]);
    platform.create(&held).await;
    let namespace =
        json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": other } });
    let namespaces = api(platform.client(), &namespace, None);
    namespaces
        .delete(&other, &kube::api::DeleteParams::default())
        .await
        .unwrap();
    let error = platform.until_error("cart", "a", "Forbidden").await;
    assert!(
        error.message.contains("being terminated"),
        "{}",
        error.message
    );
    platform.let_go(&held).await;
    platform.applied("cart").await;
    assert_ne!(platform.uid(&mine).await, before);
    platform.delete("cart").await;
    platform.gone("cart").await;
}
