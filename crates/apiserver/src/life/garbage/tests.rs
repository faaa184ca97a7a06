//! A collector that lags behind the store.

use axum::{Router, body::Body};
use http::{Request, StatusCode};
use http_body_util::BodyExt as _;
use quadrille_store::{Options as StoreOptions, Revision, Store};
use serde_json::{Value, json};
use tower::ServiceExt as _;

use super::*;
use crate::{Options, Server, auth::User};

/// A server whose own collector does not run.
async fn stopped() -> (Server, Router) {
    let store = Store::in_memory(StoreOptions::default()).unwrap();
    let server = Server::start(Options::new(store).unwrap()).await.unwrap();
    server.stop().await;
    let router = server.router_as(&User::admin());
    (server, router)
}

async fn ask(router: &Router, method: &str, path: &str, body: &Value) -> (StatusCode, Value) {
    let request = Request::builder()
        .method(method)
        .uri(format!("/api/v1/namespaces/default/configmaps{path}"))
        .header("content-type", "application/json")
        .body(Body::from(body.to_string()))
        .unwrap();
    let response = router.clone().oneshot(request).await.unwrap();
    let status = response.status();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    (status, serde_json::from_slice(&bytes).unwrap())
}

fn how(propagation: &str) -> Value {
    json!({ "apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": propagation })
}

/// Creates a config map with an owner, and gives its uid.
async fn create(router: &Router, name: &str, owner: Option<(&str, &str)>) -> String {
    create_held(router, name, owner, &[]).await
}

async fn create_held(
    router: &Router,
    name: &str,
    owner: Option<(&str, &str)>,
    finalizers: &[&str],
) -> String {
    let owners: Vec<Value> = owner
        .map(|(name, uid)| {
            json!({
                "apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": uid,
                "blockOwnerDeletion": true,
            })
        })
        .into_iter()
        .collect();
    let object = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": { "name": name, "ownerReferences": owners, "finalizers": finalizers },
    });
    let (status, created) = ask(router, "POST", "", &object).await;
    assert_eq!(status, StatusCode::CREATED, "{created}");
    created["metadata"]["uid"].as_str().unwrap().to_owned()
}

/// The collector hears everything since a revision, and what comes of what it does.
async fn collect(server: &Server, since: Revision) {
    let shared = &server.shared;
    let mut watch = shared.store.watch(b"", since).unwrap();
    let mut collector = Collector::new(shared, Index::new(since));
    while collector.index.revision < shared.store.revision() {
        let event = watch.next().await.unwrap();
        collector.observe(&event).await;
    }
}

#[tokio::test]
async fn a_chain_goes_from_its_end_although_it_was_deleted_before_it_was_heard_of() {
    let (server, router) = stopped().await;
    let since = server.shared.store.revision();
    let a = create(&router, "a", None).await;
    let b = create(&router, "b", Some(("a", &a))).await;
    create_held(&router, "c", Some(("b", &b)), &["example.com/hold"]).await;
    let (status, _) = ask(&router, "DELETE", "/a", &how("Foreground")).await;
    assert_eq!(status, StatusCode::OK);
    collect(&server, since).await;
    for name in ["a", "b"] {
        let (status, found) = ask(&router, "GET", &format!("/{name}"), &Value::Null).await;
        assert_eq!(
            status,
            StatusCode::OK,
            "{name} waits for the end of the chain"
        );
        assert_eq!(
            found["metadata"]["finalizers"],
            json!(["foregroundDeletion"])
        );
    }
    let (_, last) = ask(&router, "GET", "/c", &Value::Null).await;
    assert!(last["metadata"]["deletionTimestamp"].is_string(), "{last}");
}

#[tokio::test]
async fn all_dependents_are_let_go_although_their_owner_was_deleted_before_they_were_heard_of() {
    let (server, router) = stopped().await;
    let since = server.shared.store.revision();
    let first = create(&router, "first", None).await;
    // The owner is something that is looked at by itself.
    let owner = create(&router, "owner", Some(("first", &first))).await;
    for name in ["x", "y"] {
        create(&router, name, Some(("owner", &owner))).await;
    }
    let (status, _) = ask(&router, "DELETE", "/owner", &how("Orphan")).await;
    assert_eq!(status, StatusCode::OK);
    collect(&server, since).await;
    let (status, _) = ask(&router, "GET", "/owner", &Value::Null).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    for name in ["x", "y"] {
        let (status, found) = ask(&router, "GET", &format!("/{name}"), &Value::Null).await;
        assert_eq!(status, StatusCode::OK, "{name} stays");
        assert_eq!(found["metadata"]["ownerReferences"], Value::Null);
    }
}
