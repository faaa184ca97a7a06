//! Objects of a release come, change, move and go.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{DeleteParams, Patch, PatchParams};
use quadrille_testkit::{
    eventually,
    wire::{Call, Matcher, Verb},
};
use quadrille_types::conditions::ConditionType;
use serde_json::json;

use crate::{
    objects::{deployment, in_namespace, network_policy, secret},
    platform::{Platform, config},
};

#[tokio::test]
async fn objects_are_created_changed_and_removed_with_their_release() {
    let platform = Platform::start().await;
    platform
        .release("cart", &[("a", config("a", "1")), ("b", config("b", "1"))])
        .await;
    platform.applied("cart").await;
    platform.until_configs(&[("a", "1"), ("b", "1")]).await;
    platform
        .release("cart", &[("a", config("a", "2")), ("b", config("b", "1"))])
        .await;
    platform.until_configs(&[("a", "2"), ("b", "1")]).await;
    platform.release("cart", &[("a", config("a", "2"))]).await;
    platform.until_configs(&[("a", "2")]).await;
    platform.delete("cart").await;
    platform.gone("cart").await;
    platform.until_configs(&[]).await;
}

#[tokio::test]
async fn a_new_release_of_n_objects_costs_n_and_three_requests_and_then_none() {
    let platform = Platform::start().await;
    platform.release("cart", &[("a", config("a", "1"))]).await;
    platform.until("cart", ConditionType::Ready, "True").await;
    platform.until_plane("local", "True", "").await;
    let watch = Matcher::verb(Verb::Watch).resource("configmaps");
    eventually("the kind is watched", async || {
        let count = platform.wire.count(&watch);
        if count > 0 { Ok(()) } else { Err(count) }
    })
    .await;
    platform.wire.forget();
    let objects: Vec<_> = ["b", "c", "d", "e"]
        .map(|name| (name, config(name, "1")))
        .to_vec();
    platform.release("pay", &objects).await;
    platform.until("pay", ConditionType::Ready, "True").await;
    let calls = calls_for_releases(&platform);
    assert_eq!(calls.len(), 4 + 3, "{calls:#?}");
    platform.wire.forget();
    platform.delete("pay").await;
    platform.gone("pay").await;
    let calls = calls_for_releases(&platform);
    assert_eq!(calls.len(), 4 + 1, "{calls:#?}");
}

/// All calls but those about other kinds of ours: their controllers may still be starting.
fn calls_for_releases(platform: &Platform) -> Vec<Call> {
    let mut calls = platform.wire.calls();
    calls.retain(|call| call.group != "openchoreo.dev" || call.resource.starts_with("releases"));
    calls
}

#[tokio::test]
async fn what_somebody_deletes_or_edits_is_mended_and_told() {
    let platform = Platform::start().await;
    platform
        .release("cart", &[("a", config("a", "1")), ("b", config("b", "1"))])
        .await;
    platform.until("cart", ConditionType::Ready, "True").await;
    let api = platform.cluster.api::<ConfigMap>();
    api.delete("a", &DeleteParams::default()).await.unwrap();
    platform.until_configs(&[("a", "1"), ("b", "1")]).await;
    let edit = Patch::Merge(json!({ "data": { "value": "2" } }));
    api.patch(
        "b",
        &PatchParams {
            field_manager: Some("somebody".to_owned()),
            ..PatchParams::default()
        },
        &edit,
    )
    .await
    .unwrap();
    platform.until_configs(&[("a", "1"), ("b", "1")]).await;
    eventually("both are told", async || {
        let events = platform.events("cart").await;
        let told = |words: &str| events.iter().any(|event| event.contains(words));
        let all = told("/a: was gone; made again")
            && told("/b: data.value changed by somebody; restored");
        if all {
            Ok(())
        } else {
            Err(format!("{events:?}"))
        }
    })
    .await;
    let deletes = platform
        .wire
        .calls()
        .iter()
        .filter(|call| call.verb == Verb::Delete)
        .count();
    assert_eq!(deletes, 0);
}

#[tokio::test]
async fn an_object_that_moves_or_is_renamed_is_made_there_and_removed_here() {
    let platform = Platform::start().await;
    let other = platform.cluster.unique("other");
    platform.release("cart", &[("a", config("a", "1"))]).await;
    platform.until_configs(&[("a", "1")]).await;
    let renamed = config("b", "1");
    platform.release("cart", &[("a", renamed)]).await;
    platform.until_configs(&[("b", "1")]).await;
    let moved = in_namespace(config("b", "1"), Some(&other));
    platform.release("cart", &[("a", moved.clone())]).await;
    platform.until_configs(&[]).await;
    assert!(platform.found(&moved).await.is_some());
    let release = platform.applied("cart").await;
    let status = release.status.unwrap();
    eventually("only the new one is written down", async || {
        let resources = platform.read("cart").await.status.unwrap().resources;
        match resources.as_slice() {
            [only] if only.namespace == other => Ok(()),
            resources => Err(format!("{resources:?}")),
        }
    })
    .await;
    assert_eq!(status.healthy.as_deref(), Some("1/1"));
    platform.delete("cart").await;
    platform.gone("cart").await;
    assert!(platform.found(&moved).await.is_none());
}

#[tokio::test]
async fn an_object_may_become_another_kind_under_its_name() {
    let platform = Platform::start().await;
    platform.release("cart", &[("a", config("a", "1"))]).await;
    platform.until_configs(&[("a", "1")]).await;
    platform.release("cart", &[("a", secret("a", "1"))]).await;
    platform.until_configs(&[]).await;
    assert!(platform.found(&secret("a", "1")).await.is_some());
    platform.delete("cart").await;
    platform.gone("cart").await;
    assert!(platform.found(&secret("a", "1")).await.is_none());
}

#[tokio::test]
async fn a_cell_comes_in_order_and_goes_in_reverse() {
    let platform = Platform::start().await;
    let name = platform.cluster.unique("cell");
    let inside = |object| in_namespace(object, Some(&name));
    let namespace = json!({
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": { "name": name, "namespace": null },
    });
    let objects = [
        ("app", inside(deployment("app", Some(0)))),
        ("config", inside(config("a", "1"))),
        ("policy", inside(network_policy("deny"))),
        ("cell", namespace),
    ];
    platform.release("cell", &objects).await;
    platform.applied("cell").await;
    let sequence = |verb: Verb| -> Vec<String> {
        let calls = platform.wire.calls();
        let plane = calls
            .into_iter()
            .filter(|call| call.verb == verb && !call.resource.starts_with("releases"))
            .map(|call| call.resource);
        plane
            .filter(|resource| {
                let ours = ["dataplanes", "environments", "leases"];
                !ours.iter().any(|one| resource.starts_with(one))
            })
            .collect()
    };
    let order = ["namespaces", "networkpolicies", "configmaps", "deployments"];
    assert_eq!(sequence(Verb::Patch), order);
    platform.delete("cell").await;
    platform.gone("cell").await;
    let mut deleted = sequence(Verb::Delete);
    deleted.dedup();
    deleted.reverse();
    assert_eq!(deleted, order);
    let namespaces = platform
        .cluster
        .all::<k8s_openapi::api::core::v1::Namespace>();
    assert!(namespaces.get_opt(&name).await.unwrap().is_none());
}
