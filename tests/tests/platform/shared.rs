//! Namespaces in which several organizations have something: on one cluster, which is a plane of each.

use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::{Api, ResourceExt as _};
use quadrille_types::{Environment, Release, conditions::ConditionType};
use serde_json::{Value, json};

use crate::stage::{Stage, gone, until_said};

/// A release in the environment `development`, in place.
async fn release(stage: &Stage, organization: &str, name: &str, objects: &[Value]) {
    let resources: Vec<Value> = objects
        .iter()
        .enumerate()
        .map(|(index, object)| json!({ "id": format!("object-{index}"), "object": object }))
        .collect();
    let release = json!({
        "owner": { "projectName": "shop", "componentName": name },
        "environmentName": "development",
        "resources": resources,
    });
    stage.apply::<Release>(organization, name, release).await;
    let releases = stage.api::<Release>(organization);
    until_said(&releases, name, ConditionType::Ready, "True", "").await;
}

fn config(namespace: &str, name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": { "name": name, "namespace": namespace },
    })
}

/// One organization's environment goes, then the release that has another namespace; the other organization keeps
/// what it has in both.
async fn leaves_others_alone(mut stage: Stage, are_apart: bool) {
    let [acme, umbrella] = ["acme", "umbrella"].map(|name| stage.cluster.unique(name));
    let [implied, cell] = ["implied", "cell"].map(|name| stage.cluster.unique(name));
    if are_apart {
        stage.run_apart(&[&acme, &umbrella]);
    } else {
        stage.run(&[&acme, &umbrella]);
    }
    for organization in [&acme, &umbrella] {
        stage.furnished(organization).await;
    }
    release(&stage, &acme, "first", &[config(&implied, "acme")]).await;
    let space = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": &cell } });
    release(&stage, &umbrella, "cell", &[space]).await;
    let both = [config(&implied, "umbrella"), config(&cell, "umbrella")];
    release(&stage, &umbrella, "guest", &both).await;
    release(&stage, &acme, "guest", &[config(&cell, "acme")]).await;
    let namespaces = stage.cluster.all::<Namespace>();
    let configs: Api<ConfigMap> = Api::namespaced(stage.client(), &implied);
    let uids = async || {
        let space = namespaces.get(&implied).await.unwrap();
        (space.uid(), configs.get("umbrella").await.unwrap().uid())
    };
    let before = uids().await;

    // The namespace of a release with somebody else's objects in it holds that release back.
    let releases = stage.api::<Release>(&umbrella);
    stage.delete(&releases, "guest").await;
    gone(&releases, "guest").await;
    stage.delete(&releases, "cell").await;
    let going = ConditionType::Finalizing;
    let words = format!("{acme}/guest");
    until_said(&releases, "cell", going, "True", &words).await;
    until_said(&releases, "cell", going, "True", "DeletionBlocked").await;
    let space = namespaces.get(&cell).await.unwrap();
    assert!(space.metadata.deletion_timestamp.is_none());
    release(&stage, &umbrella, "guest", &both[..1]).await;
    let before = (before.0, uids().await.1);

    // One that was made for a release is left to whoever is in it.
    let environments = stage.api::<Environment>(&acme);
    stage.delete(&environments, "development").await;
    gone(&environments, "development").await;
    assert_eq!(uids().await, before);
    let space = namespaces.get(&implied).await.unwrap();
    assert!(space.metadata.deletion_timestamp.is_none());
    assert_ne!(space.labels().get("organization-name"), Some(&acme));
    gone(&releases, "cell").await;
    gone(&namespaces, &cell).await;
}

#[tokio::test]
async fn a_namespace_that_two_organizations_share_stays_while_one_of_them_is_in_it() {
    leaves_others_alone(Stage::at_rest().await, false).await;
}

#[tokio::test]
async fn so_it_does_when_each_has_controllers_of_its_own() {
    leaves_others_alone(Stage::at_rest().await, true).await;
}
