//! What ends is one namespace or definition, and not the next one of its name.

use axum::Router;
use serde_json::{Value, json};

use crate::{
    asking::ask,
    halves::{DEFINITIONS, THINGS, definition, start, store, thing, until},
};

const NAMESPACES: &str = "/api/v1/namespaces";
const MAPS: &str = "/api/v1/namespaces/n/configmaps";

async fn made(router: &Router, path: &str, object: &Value) -> String {
    let (status, answer) = ask(router, "POST", path, object).await;
    assert_eq!(status, 201, "{answer}");
    answer["metadata"]["uid"].as_str().unwrap().to_owned()
}

/// An object that somebody holds.
fn held(mut object: Value) -> Value {
    object["metadata"]["finalizers"] = json!(["example.com/held"]);
    object
}

async fn patched(router: &Router, path: &str, change: &Value) {
    let (status, answer) = ask(router, "PATCH", path, change).await;
    assert_eq!(status, 200, "{path} {change}: {answer}");
}

/// What held an object lets it go.
async fn let_go(router: &Router, path: &str) {
    patched(router, path, &json!({ "metadata": { "finalizers": null } })).await;
}

/// Writes to an object many times: whoever waits for something to happen there is woken each time. It stays the same one,
/// and nobody deletes it.
async fn stays(router: &Router, path: &str, uid: &str) {
    for turn in 0..50 {
        let body = json!({ "metadata": { "annotations": { "turn": turn.to_string() } } });
        patched(router, path, &body).await;
        let (_, there) = ask(router, "GET", path, &Value::Null).await;
        assert_eq!(there["metadata"]["uid"], uid);
        assert_eq!(there["metadata"]["deletionTimestamp"], Value::Null);
    }
}

#[tokio::test]
async fn a_namespace_that_was_finished_by_hand_takes_nothing_of_the_next_one_along() {
    let (_server, router) = start(&store()).await;
    let namespace = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "n" } });
    let map = |name: &str| json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name } });
    made(&router, NAMESPACES, &namespace).await;
    made(&router, MAPS, &held(map("stuck"))).await;
    ask(&router, "DELETE", "/api/v1/namespaces/n", &Value::Null).await;
    until(&router, &format!("{MAPS}/kube-root-ca.crt"), 404).await;
    let finished = json!({
        "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "n" },
        "spec": { "finalizers": [] },
    });
    let (status, answer) = ask(&router, "PUT", "/api/v1/namespaces/n/finalize", &finished).await;
    assert_eq!(status, 200, "{answer}");
    until(&router, "/api/v1/namespaces/n", 404).await;

    made(&router, NAMESPACES, &namespace).await;
    until(&router, &format!("{MAPS}/kube-root-ca.crt"), 200).await;
    let uid = made(&router, MAPS, &held(map("live"))).await;
    stays(&router, &format!("{MAPS}/live"), &uid).await;

    // It ends like any other.
    ask(&router, "DELETE", "/api/v1/namespaces/n", &Value::Null).await;
    for name in ["stuck", "live"] {
        let_go(&router, &format!("{MAPS}/{name}")).await;
    }
    until(&router, "/api/v1/namespaces/n", 404).await;
}

#[tokio::test]
async fn a_definition_that_was_finished_by_hand_takes_nothing_of_the_next_one_along() {
    let (_server, router) = start(&store()).await;
    let path = format!("{DEFINITIONS}/things.example.com");
    made(&router, DEFINITIONS, &definition(true)).await;
    made(&router, THINGS, &held(thing("stuck"))).await;
    ask(&router, "DELETE", &path, &Value::Null).await;
    let_go(&router, &path).await;
    until(&router, &path, 404).await;

    made(&router, DEFINITIONS, &definition(true)).await;
    let uid = made(&router, THINGS, &held(thing("live"))).await;
    stays(&router, &format!("{THINGS}/live"), &uid).await;
}
