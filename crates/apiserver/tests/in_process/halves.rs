//! What was begun is not left half done: by clients that do not wait, and by servers that end.

use std::time::{Duration, Instant};

use axum::Router;
use futures::FutureExt as _;
use quadrille_apiserver::{Options, Server, auth::User};
use quadrille_store::{Expect, Op, Store};
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::asking::{ask, request};

pub(crate) const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const SERVICES: &str = "/api/v1/namespaces/default/services";
pub(crate) const THINGS: &str = "/apis/example.com/v1/things";

pub(crate) async fn start(store: &Store) -> (Server, Router) {
    let options = Options::new(store.clone()).unwrap();
    let server = Server::start(options).await.unwrap();
    let router = server.router_as(&User::admin());
    (server, router)
}

pub(crate) fn store() -> Store {
    Store::in_memory(quadrille_store::Options::default()).unwrap()
}

/// Asks until the answer has this status.
pub(crate) async fn until(router: &Router, path: &str, wanted: u16) -> Value {
    let deadline = Instant::now() + Duration::from_mins(1);
    loop {
        let (status, body) = ask(router, "GET", path, &Value::Null).await;
        if status == wanted {
            return body;
        }
        assert!(Instant::now() < deadline, "{path}: {status} {body}");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Sends a request and does not wait for the answer.
fn send_and_leave(router: &Router, path: &str, body: &Value) {
    let sent = router.clone().oneshot(request("POST", path, body));
    assert!(sent.now_or_never().is_none(), "it was answered at once");
}

fn service(name: &str, address: Option<&Value>) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Service", "metadata": { "name": name },
        "spec": { "ports": [{ "port": 80 }], "clusterIP": address },
    })
}

pub(crate) fn definition(served: bool) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": "things.example.com" },
        "spec": {
            "group": "example.com", "scope": "Cluster",
            "names": { "plural": "things", "kind": "Thing" },
            "versions": [{ "name": "v1", "served": served, "storage": true, "schema": {
                "openAPIV3Schema": { "type": "object" } } }],
        },
    })
}

pub(crate) fn thing(name: &str) -> Value {
    json!({ "apiVersion": "example.com/v1", "kind": "Thing", "metadata": { "name": name } })
}

#[tokio::test]
async fn an_address_stays_with_its_service_although_the_client_did_not_wait() {
    let (_server, router) = start(&store()).await;
    send_and_leave(&router, SERVICES, &service("first", None));
    let first = until(&router, &format!("{SERVICES}/first"), 200).await;
    let again = service("second", Some(&first["spec"]["clusterIP"]));
    let (status, refusal) = ask(&router, "POST", SERVICES, &again).await;
    assert_eq!(status, 422, "{refusal}");
}

#[tokio::test]
async fn a_definition_is_served_although_the_client_did_not_wait() {
    let (_server, router) = start(&store()).await;
    send_and_leave(&router, DEFINITIONS, &definition(true));
    until(&router, THINGS, 200).await;
}

#[tokio::test]
async fn a_definition_that_the_server_did_not_live_to_serve_is_served_by_the_next_start() {
    let store = store();
    let (server, router) = start(&store).await;
    let (status, _) = ask(&router, "POST", DEFINITIONS, &definition(true)).await;
    assert_eq!(status, 201);
    server.stop().await;
    let key = b"customresourcedefinitions.apiextensions.k8s.io/things.example.com";
    let record = store.get(key).unwrap().unwrap();
    let mut written: Value = serde_json::from_slice(&record.value).unwrap();
    written.as_object_mut().unwrap().remove("status");
    let put = Op::Put {
        key: record.key,
        value: written.to_string().into(),
        expect: Expect::At(record.modified),
    };
    store.commit(vec![put]).await.unwrap();
    let (_server, router) = start(&store).await;
    let (status, list) = ask(&router, "GET", THINGS, &Value::Null).await;
    assert_eq!(status, 200, "{list}");
}

#[tokio::test]
async fn objects_go_with_their_definition_although_no_version_is_served() {
    let (_server, router) = start(&store()).await;
    ask(&router, "POST", DEFINITIONS, &definition(true)).await;
    let (status, _) = ask(&router, "POST", THINGS, &thing("a")).await;
    assert_eq!(status, 201);
    let path = format!("{DEFINITIONS}/things.example.com");
    let (_, mut there) = ask(&router, "GET", &path, &Value::Null).await;
    there["spec"]["versions"][0]["served"] = json!(false);
    let (status, answer) = ask(&router, "PUT", &path, &there).await;
    assert_eq!(status, 200, "{answer}");
    ask(&router, "DELETE", &path, &Value::Null).await;
    until(&router, &path, 404).await;
    ask(&router, "POST", DEFINITIONS, &definition(true)).await;
    let (_, list) = ask(&router, "GET", THINGS, &Value::Null).await;
    assert_eq!(list["items"], json!([]));
}

#[tokio::test]
async fn a_definition_that_waits_for_its_dependents_is_not_served_after_its_end() {
    let (_server, router) = start(&store()).await;
    ask(&router, "POST", DEFINITIONS, &definition(true)).await;
    let how = json!({
        "apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Foreground",
    });
    let path = format!("{DEFINITIONS}/things.example.com");
    let (status, _) = ask(&router, "DELETE", &path, &how).await;
    assert!(status.is_success());
    until(&router, &path, 404).await;
    until(&router, "/apis/example.com", 404).await;
}
