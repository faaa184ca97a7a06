//! Releases that stand on others, and objects that change hands.

use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::{
    Api,
    api::{Patch, PatchParams},
};
use quadrille_testkit::{
    eventually,
    wire::{Fault, Gate, Matcher, Verb},
};
use quadrille_types::conditions::ConditionType;
use serde_json::{Value, json};

use crate::{
    objects::{in_namespace, network_policy},
    platform::{Platform, config},
};

fn on(names: &[&str]) -> Value {
    let names: Vec<Value> = names.iter().map(|name| json!({ "name": name })).collect();
    json!({ "dependsOn": names })
}

#[tokio::test]
async fn a_release_waits_for_another_and_wakes_at_once() {
    let platform = Platform::start().await;
    let gate = Gate::closed();
    let cell = Matcher::verb(Verb::Patch)
        .resource("configmaps")
        .name("cell");
    platform.wire.inject(cell, Fault::Hold(gate.clone()));
    let objects = [("a", config("app", "1"))];
    platform.release_with("app", &objects, on(&["cell"])).await;
    platform
        .until_said(
            "app",
            ConditionType::ResourcesApplied,
            "False",
            "there is no Release \"cell\"",
        )
        .await;
    platform
        .release("cell", &[("a", config("cell", "1"))])
        .await;
    gate.reached_by(1).await;
    platform
        .until_said(
            "app",
            ConditionType::ResourcesApplied,
            "False",
            "waits for Release \"cell\"",
        )
        .await;
    platform.until_configs(&[]).await;
    gate.open();
    platform.applied("app").await;
    platform.until_configs(&[("app", "1"), ("cell", "1")]).await;
}

#[tokio::test]
async fn releases_that_wait_for_each_other_are_named() {
    let platform = Platform::start().await;
    for (name, other) in [("a", "b"), ("b", "c"), ("c", "a")] {
        let objects = [("x", config(name, "1"))];
        platform.release_with(name, &objects, on(&[other])).await;
    }
    platform
        .until_said(
            "a",
            ConditionType::ResourcesApplied,
            "False",
            "a → b → c → a",
        )
        .await;
    platform.until_configs(&[]).await;
    platform
        .release_with("b", &[("x", config("b", "1"))], on(&[]))
        .await;
    platform.applied("c").await;
    platform
        .until_configs(&[("a", "1"), ("b", "1"), ("c", "1")])
        .await;
}

#[tokio::test]
async fn a_release_that_others_stand_on_goes_after_them() {
    let mut platform = Platform::start().await;
    platform
        .release("cell", &[("a", config("cell", "1"))])
        .await;
    let objects = [("a", config("app", "1"))];
    platform.release_with("app", &objects, on(&["cell"])).await;
    platform.applied("app").await;
    platform.delete("cell").await;
    platform
        .until_said(
            "cell",
            ConditionType::Finalizing,
            "True",
            "other releases depend on it",
        )
        .await;
    platform.until_configs(&[("app", "1"), ("cell", "1")]).await;
    // It stays for who stands on it, and that one goes on as before; nobody new comes.
    let objects = [("a", config("app", "2"))];
    platform.release_with("app", &objects, on(&["cell"])).await;
    platform.until_configs(&[("app", "2"), ("cell", "1")]).await;
    let objects = [("a", config("late", "1"))];
    platform.release_with("late", &objects, on(&["cell"])).await;
    platform
        .until_said(
            "late",
            ConditionType::ResourcesApplied,
            "False",
            "it is on its way out",
        )
        .await;
    // What they stand on is put back, and goes in the end, whoever looks after it by then.
    let uid = platform.uid(&config("cell", "1")).await;
    platform.remove(&config("cell", "1")).await;
    platform.until_configs(&[("app", "2"), ("cell", "1")]).await;
    assert_ne!(platform.uid(&config("cell", "1")).await, uid);
    platform.kill();
    platform.run();
    platform.delete("app").await;
    platform.gone("app").await;
    platform.gone("cell").await;
    platform.until_configs(&[]).await;
    platform
        .release("cell", &[("a", config("cell", "2"))])
        .await;
    platform.applied("late").await;
}

#[tokio::test]
async fn a_release_that_goes_does_not_wait_for_who_came_too_late() {
    let mut platform = Platform::start().await;
    let name = platform.cluster.unique("cell");
    let namespace = json!({
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": { "name": name, "namespace": null },
    });
    platform
        .release("cell", &[("cell", namespace.clone())])
        .await;
    platform.applied("cell").await;
    // Something that takes its time to go.
    let mut holdup = config("holdup", "1");
    holdup["metadata"]["namespace"] = json!(name);
    holdup["metadata"]["finalizers"] = json!(["example.com/wait"]);
    let configs: Api<ConfigMap> = Api::namespaced(platform.client(), &name);
    let by = PatchParams::apply("test");
    configs
        .patch("holdup", &by, &Patch::Apply(&holdup))
        .await
        .unwrap();
    // One that depends on it has looked around, and is about to write down what it will send.
    let gate = Gate::closed();
    let status = Matcher::verb(Verb::Patch)
        .resource("releases/status")
        .name("app");
    let held = Fault::Hold(gate.clone());
    platform.wire.inject(status.first(1), held);
    let guest = in_namespace(config("guest", "1"), Some(&name));
    let objects = [("a", guest.clone())];
    platform.release_with("app", &objects, on(&["cell"])).await;
    gate.reached_by(1).await;
    platform.delete("cell").await;
    let namespaces = platform.cluster.all::<Namespace>();
    eventually("the namespace is on its way out", async || {
        let found = namespaces.get(&name).await.unwrap();
        let is_going = found.metadata.deletion_timestamp.is_some();
        is_going.then_some(()).ok_or("not yet")
    })
    .await;
    gate.open();
    eventually("it is written down", async || {
        let status = platform.read("app").await.status.unwrap_or_default();
        let is_written = !status.resources.is_empty();
        is_written.then_some(()).ok_or("not yet")
    })
    .await;
    // Whoever takes over knows nothing of what was decided before.
    platform.kill();
    platform.run();
    let go = Patch::Merge(json!({ "metadata": { "finalizers": null } }));
    configs
        .patch("holdup", &PatchParams::default(), &go)
        .await
        .unwrap();
    platform.gone("cell").await;
    platform.release("cell", &[("cell", namespace)]).await;
    platform.applied("app").await;
    assert!(platform.found(&guest).await.is_some());
}

#[tokio::test]
async fn an_object_that_moves_to_another_release_is_handed_over() {
    let platform = Platform::start().await;
    let objects = [("x", config("x", "1")), ("keep", config("keep", "1"))];
    platform.release("old", &objects).await;
    platform.applied("old").await;
    let uid = platform.uid(&config("x", "1")).await;
    platform.release("new", &[("mine", config("x", "2"))]).await;
    let error = platform
        .until_error("new", "mine", "OwnershipConflict")
        .await;
    let named = format!("Release {}/old", platform.namespace());
    assert!(error.message.contains(&named), "{error:?}");
    platform
        .release("old", &[("keep", config("keep", "1"))])
        .await;
    platform.applied("new").await;
    platform.until_configs(&[("keep", "1"), ("x", "2")]).await;
    assert_eq!(platform.uid(&config("x", "2")).await, uid);
    platform.delete("old").await;
    platform.gone("old").await;
    platform.until_configs(&[("x", "2")]).await;
    platform.delete("new").await;
    platform.gone("new").await;
    platform.until_configs(&[]).await;
}

#[tokio::test]
async fn a_namespace_with_objects_of_other_releases_stays() {
    let platform = Platform::start().await;
    let name = platform.cluster.unique("cell");
    let namespace = json!({
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": { "name": name, "namespace": null },
    });
    let guest = in_namespace(config("guest", "1"), Some(&name));
    platform.release("cell", &[("cell", namespace)]).await;
    platform.applied("cell").await;
    platform.release("app", &[("a", guest.clone())]).await;
    platform.applied("app").await;
    platform.delete("cell").await;
    platform
        .until_said(
            "cell",
            ConditionType::Finalizing,
            "True",
            "holds objects of other releases",
        )
        .await;
    assert!(platform.found(&guest).await.is_some());
    platform.delete("app").await;
    platform.gone("app").await;
    platform.gone("cell").await;
}

#[tokio::test]
async fn a_namespace_that_loses_its_label_still_stands_under_who_is_in_it() {
    let platform = Platform::start().await;
    let name = platform.cluster.unique("cell");
    let namespace = json!({
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": { "name": name, "namespace": null },
    });
    let policy = in_namespace(network_policy("deny"), Some(&name));
    let objects = [("cell", namespace.clone()), ("policy", policy.clone())];
    platform.release("cell", &objects).await;
    platform.applied("cell").await;
    let guest = in_namespace(config("guest", "1"), Some(&name));
    let app = [("a", guest)];
    platform.release_with("app", &app, on(&["cell"])).await;
    platform.applied("app").await;
    let uid = platform.uid(&policy).await;
    platform.delete("cell").await;
    platform
        .until_said("cell", ConditionType::Finalizing, "True", "DeletionBlocked")
        .await;
    let unlabelled = json!({ "metadata": { "labels": { "openchoreo.dev/managed-by": null } } });
    let namespaces = platform.cluster.all::<Namespace>();
    namespaces
        .patch(&name, &PatchParams::default(), &Patch::Merge(&unlabelled))
        .await
        .unwrap();
    // Whoever comes later is through, so that was looked at.
    let app = [("a", in_namespace(config("guest", "2"), Some(&name)))];
    platform.release_with("app", &app, on(&["cell"])).await;
    platform.applied("app").await;
    platform
        .release("late", &[("b", config("late", "1"))])
        .await;
    platform.until("late", ConditionType::Ready, "True").await;
    assert_eq!(platform.uid(&policy).await, uid, "it was never away");
    platform.delete("app").await;
    platform.gone("app").await;
    platform.gone("cell").await;
}

#[tokio::test]
async fn a_release_that_never_got_its_namespace_goes_although_others_live_there() {
    let platform = Platform::start().await;
    let name = platform.cluster.unique("cell");
    let namespace = json!({
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": { "name": name, "namespace": null },
    });
    let guest = in_namespace(config("guest", "1"), Some(&name));
    platform
        .release("cell", &[("cell", namespace.clone())])
        .await;
    platform.applied("cell").await;
    platform.release("app", &[("a", guest.clone())]).await;
    platform.applied("app").await;
    platform.release("late", &[("cell", namespace)]).await;
    platform
        .until_error("late", "cell", "OwnershipConflict")
        .await;
    platform.delete("late").await;
    platform.gone("late").await;
    assert!(platform.found(&guest).await.is_some());
    platform.delete("app").await;
    platform.gone("app").await;
    platform.delete("cell").await;
    platform.gone("cell").await;
}

#[tokio::test]
async fn a_word_does_not_take_what_another_release_asks_for() {
    let platform = Platform::start().await;
    platform.release("first", &[("x", config("x", "1"))]).await;
    platform.until("first", ConditionType::Ready, "True").await;
    let before = platform.found(&config("x", "1")).await.unwrap();
    platform.release("second", &[("x", config("x", "2"))]).await;
    let adopt = quadrille_types::annotations::ADOPT;
    platform.annotate("second", adopt, "true").await;
    let error = platform
        .until_error("second", "x", "OwnershipConflict")
        .await;
    assert!(error.message.contains("take one of them out"), "{error:?}");
    platform.release("third", &[("y", config("y", "1"))]).await;
    platform.applied("third").await;
    let now = platform.found(&config("x", "1")).await.unwrap();
    assert_eq!(
        now.metadata.resource_version,
        before.metadata.resource_version
    );
    platform.delete("first").await;
    platform.gone("first").await;
    platform.applied("second").await;
    platform.until_configs(&[("x", "2"), ("y", "1")]).await;
}
