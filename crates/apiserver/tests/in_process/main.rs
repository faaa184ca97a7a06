//! A client in the same process: the way every test of this house owns a cluster.

#![allow(clippy::unwrap_used, clippy::panic)] // a test may; its helpers too

mod asking;
mod full_disk;
mod halves;
mod namesakes;
mod strangers;

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use futures::{StreamExt, TryStreamExt};
use k8s_openapi::{
    api::core::v1::{ConfigMap, Namespace, Service},
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, Client,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams},
};
use quadrille_apiserver::{Options, Server, auth::User};
use quadrille_machinery::crd;
use quadrille_store::{Expect, Op, Store};
use serde_json::{Value, json};

async fn cluster() -> (Server, Client) {
    let store = Store::in_memory(quadrille_store::Options::default()).unwrap();
    let server = Server::start(Options::new(store).unwrap()).await.unwrap();
    let client = Client::new(server.router_as(&User::admin()), "default");
    (server, client)
}

fn config_map(name: &str, key: &str, value: &str) -> ConfigMap {
    let mut map = ConfigMap::default();
    map.metadata.name = Some(name.to_owned());
    map.data = Some(BTreeMap::from([(key.to_owned(), value.to_owned())]));
    map
}

#[tokio::test]
async fn every_cluster_has_its_furniture() {
    let (_server, client) = cluster().await;
    let namespaces = Api::<Namespace>::all(client.clone())
        .list(&ListParams::default())
        .await;
    assert_eq!(namespaces.unwrap().items.len(), 4);
    let service = Api::<Service>::default_namespaced(client)
        .get("kubernetes")
        .await
        .unwrap();
    assert_eq!(
        service.spec.unwrap().cluster_ip.as_deref(),
        Some("10.96.0.1")
    );
}

#[tokio::test]
async fn an_object_lives_through_create_update_patch_and_delete() {
    let (_server, client) = cluster().await;
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    let created = maps
        .create(&PostParams::default(), &config_map("a", "k", "1"))
        .await
        .unwrap();
    assert!(created.metadata.uid.is_some());

    let taken = maps
        .create(&PostParams::default(), &config_map("a", "k", "1"))
        .await
        .unwrap_err();
    assert!(matches!(taken, kube::Error::Api(status) if status.reason == "AlreadyExists"));

    let mut changed = created.clone();
    changed.data = Some(BTreeMap::from([("k".to_owned(), "2".to_owned())]));
    let updated = maps
        .replace("a", &PostParams::default(), &changed)
        .await
        .unwrap();
    assert_ne!(
        updated.metadata.resource_version,
        created.metadata.resource_version
    );

    let stale = maps
        .replace("a", &PostParams::default(), &changed)
        .await
        .unwrap_err();
    assert!(matches!(stale, kube::Error::Api(status) if status.reason == "Conflict"));

    let apply = PatchParams::apply("test").force();
    let mut config = config_map("a", "applied", "yes");
    config.metadata.managed_fields = None;
    let applied = maps
        .patch("a", &apply, &Patch::Apply(&config))
        .await
        .unwrap();
    assert_eq!(applied.data.unwrap().len(), 2);

    maps.delete("a", &DeleteParams::default()).await.unwrap();
    assert!(maps.get_opt("a").await.unwrap().is_none());
}

#[tokio::test]
async fn a_watch_sees_every_change_after_its_revision() {
    let (_server, client) = cluster().await;
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    let start = maps
        .list(&ListParams::default())
        .await
        .unwrap()
        .metadata
        .resource_version
        .unwrap();
    maps.create(&PostParams::default(), &config_map("w", "k", "1"))
        .await
        .unwrap();
    maps.delete("w", &DeleteParams::default()).await.unwrap();

    let events = maps
        .watch(&WatchParams::default().timeout(5), &start)
        .await
        .unwrap()
        .boxed();
    let seen: Vec<_> = events
        .try_filter_map(|event| async move {
            Ok(match event {
                WatchEvent::Added(map) => Some(("added", map.metadata.name)),
                WatchEvent::Deleted(map) => Some(("deleted", map.metadata.name)),
                _ => None,
            })
        })
        .try_filter(|(_, name)| futures::future::ready(name.as_deref() == Some("w")))
        .take(2)
        .try_collect()
        .await
        .unwrap();
    assert_eq!(
        seen.iter().map(|(what, _)| *what).collect::<Vec<_>>(),
        ["added", "deleted"]
    );
}

fn definition(name: &str) -> CustomResourceDefinition {
    let group = format!("{name}.example.com");
    serde_json::from_value(json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": format!("things.{group}"), "labels": { "of": "this-test" } },
        "spec": {
            "group": group, "scope": "Cluster",
            "names": { "plural": "things", "kind": "Thing" },
            "versions": [{ "name": "v1", "served": true, "storage": true, "schema": {
                "openAPIV3Schema": { "type": "object" } } }],
        },
    }))
    .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn definitions_that_are_deleted_together_are_all_gone_from_discovery() {
    let (_server, client) = cluster().await;
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    for _ in 0..20 {
        for name in ["a", "b", "c", "d", "e", "f", "g", "h"] {
            let made = definitions
                .create(&PostParams::default(), &definition(name))
                .await;
            made.unwrap();
        }
        let ours = ListParams::default().labels("of=this-test");
        let at_once = DeleteParams::default();
        let deleted = definitions.delete_collection(&at_once, &ours).await;
        deleted.unwrap();
        let served = async || -> Vec<String> {
            let groups = client.list_api_groups().await.unwrap().groups;
            let names = groups.into_iter().map(|group| group.name);
            names
                .filter(|name| name.ends_with(".example.com"))
                .collect()
        };
        let deadline = Instant::now() + Duration::from_secs(20);
        while !served().await.is_empty() {
            assert!(
                Instant::now() < deadline,
                "{:?} are still served",
                served().await
            );
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

/// Starts a server that brings a definition, on a store that may have it.
async fn with_installed(store: &Store) -> (Server, Api<CustomResourceDefinition>) {
    let mut options = Options::new(store.clone()).unwrap();
    let complete = crd::completed(&json!(definition("installed")));
    options.definitions = Box::new(std::iter::once(complete.to_string().into()));
    let server = Server::start(options).await.unwrap();
    let client = Client::new(server.router_as(&User::admin()), "default");
    (server, Api::all(client))
}

const INSTALLED: &str = "things.installed.example.com";

#[tokio::test]
async fn a_definition_that_is_installed_stays_as_it_was_brought() {
    let store = Store::in_memory(quadrille_store::Options::default()).unwrap();
    let (server, definitions) = with_installed(&store).await;
    let client = definitions.clone().into_client();
    let groups = client.list_api_groups().await.unwrap().groups;
    let is_served = |name: &str| groups.iter().any(|group| group.name == name);
    assert!(is_served("installed.example.com"));
    let first = definitions.get(INSTALLED).await.unwrap();
    assert_eq!(first.metadata.generation, Some(1));
    server.stop().await;

    let (server, definitions) = with_installed(&store).await;
    assert_eq!(definitions.get(INSTALLED).await.unwrap(), first);
    let edit = json!({
        "metadata": { "labels": { "by": "anna" } },
        "spec": { "names": { "shortNames": ["th"] } },
    });
    definitions
        .patch(INSTALLED, &PatchParams::default(), &Patch::Merge(edit))
        .await
        .unwrap();
    server.stop().await;

    let (_server, definitions) = with_installed(&store).await;
    let back = definitions.get(INSTALLED).await.unwrap();
    assert_eq!((&back.spec, &back.status), (&first.spec, &first.status));
    assert_eq!(back.metadata.uid, first.metadata.uid);
    assert_eq!(back.metadata.labels.unwrap()["by"], "anna");
}

#[tokio::test]
async fn a_definition_whose_names_nobody_looked_at_before_the_end_is_served_by_the_next_start() {
    let store = Store::in_memory(quadrille_store::Options::default()).unwrap();
    let (server, definitions) = with_installed(&store).await;
    let wanted = definitions.get(INSTALLED).await.unwrap().status;
    server.stop().await;
    let key = format!("customresourcedefinitions.apiextensions.k8s.io/{INSTALLED}");
    let record = store.get(key.as_bytes()).unwrap().unwrap();
    let mut left: Value = serde_json::from_slice(&record.value).unwrap();
    left["status"]["acceptedNames"]["kind"] = json!("Widget");
    let put = Op::Put {
        key: record.key,
        value: left.to_string().into(),
        expect: Expect::At(record.modified),
    };
    store.commit(vec![put]).await.unwrap();
    let (_server, definitions) = with_installed(&store).await;
    assert_eq!(definitions.get(INSTALLED).await.unwrap().status, wanted);
}
