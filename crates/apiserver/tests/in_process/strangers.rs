//! What those cannot do who may little or nothing.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use axum::{Router, body::Body};
use futures::stream;
use http::Request;
use quadrille_apiserver::{Options, Server, auth::User};
use quadrille_store::Store;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::asking::ask;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

async fn server() -> Server {
    let store = Store::in_memory(quadrille_store::Options::default()).unwrap();
    Server::start(Options::new(store).unwrap()).await.unwrap()
}

/// Sends a body without end to a place where the sender may do nothing, and tells how many mebibytes were read of it.
async fn read_of_an_endless_body(router: Router, media: &str) -> usize {
    let read = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&read);
    let endless = stream::repeat_with(move || {
        counter.fetch_add(1, Ordering::Relaxed);
        Ok::<_, std::io::Error>(vec![0_u8; 1 << 20])
    });
    let request = Request::post(MAPS)
        .header("content-type", media)
        .body(Body::from_stream(endless))
        .unwrap();
    let answer = router.oneshot(request).await.unwrap();
    assert_eq!(answer.status(), 403, "{media}");
    read.load(Ordering::Relaxed)
}

#[tokio::test]
async fn the_body_of_somebody_who_may_nothing_is_not_read_whatever_it_says_it_is() {
    let server = server().await;
    for media in ["application/json", "application/vnd.kubernetes.protobuf"] {
        assert_eq!(read_of_an_endless_body(server.router(), media).await, 0);
        // Somebody who is known is given the time to hear the answer, and no more.
        let anna = server.router_as(&User {
            name: "anna".to_owned(),
            ..User::default()
        });
        assert_eq!(read_of_an_endless_body(anna, media).await, 1);
    }
}

#[tokio::test]
async fn who_may_watch_may_not_write_by_the_old_paths_for_watching() {
    let server = server().await;
    let admin = server.router_as(&User::admin());
    let map = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "a" } });
    ask(&admin, "POST", MAPS, &map).await;
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
        "metadata": { "name": "anna-looks" },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view" },
        "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "anna" }],
    });
    let bindings = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings";
    let (status, answer) = ask(&admin, "POST", bindings, &binding).await;
    assert_eq!(status, 201, "{answer}");
    let anna = server.router_as(&User {
        name: "anna".to_owned(),
        ..User::default()
    });
    let (status, _) = ask(&anna, "GET", MAPS, &Value::Null).await;
    assert_eq!(status, 200);
    let old = "/api/v1/watch/namespaces/default/configmaps";
    for (method, path) in [
        ("DELETE", format!("{old}/a")),
        ("DELETE", old.to_owned()),
        ("PATCH", format!("{old}/a")),
        ("PUT", format!("{old}/a")),
        ("POST", old.to_owned()),
    ] {
        let (status, answer) = ask(&anna, method, &path, &map).await;
        assert_eq!(status, 405, "{method} {path}: {answer}");
    }
    let log = "/api/v1/watch/namespaces/default/pods/a/log";
    let (status, _) = ask(&anna, "GET", log, &Value::Null).await;
    assert_eq!(status, 404, "a log is not watched");
    let (status, _) = ask(&anna, "GET", &format!("{MAPS}/a"), &Value::Null).await;
    assert_eq!(status, 200, "it is still there");
}

#[tokio::test]
async fn an_object_does_not_grow_beyond_what_may_be_sent() {
    let server = server().await;
    let admin = server.router_as(&User::admin());
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": "things.example.com" },
        "spec": {
            "group": "example.com", "scope": "Cluster",
            "names": { "plural": "things", "kind": "Thing" },
            "versions": [{ "name": "v1", "served": true, "storage": true, "schema": {
                "openAPIV3Schema": { "type": "object", "x-kubernetes-preserve-unknown-fields": true },
            } }],
        },
    });
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    ask(&admin, "POST", definitions, &definition).await;
    let things = "/apis/example.com/v1/things";
    let thing =
        json!({ "apiVersion": "example.com/v1", "kind": "Thing", "metadata": { "name": "a" } });
    let (status, answer) = ask(&admin, "POST", things, &thing).await;
    assert_eq!(status, 201, "{answer}");
    let mut codes = Vec::new();
    for number in 0..4 {
        let more = json!({ format!("field-{number}"): "x".repeat(1_000_000) });
        let patch = Request::patch(format!("{things}/a"))
            .header("content-type", "application/merge-patch+json")
            .body(Body::from(more.to_string()))
            .unwrap();
        let answer = admin.clone().oneshot(patch).await.unwrap();
        codes.push(answer.status().as_u16());
    }
    assert_eq!(codes, [200, 200, 200, 413]);
}
