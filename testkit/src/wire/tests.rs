//! Faults strike what they should, and the cluster has seen what it should. The cluster here is a function.

use std::sync::atomic::{AtomicUsize, Ordering};

use futures::TryStreamExt as _;
use http::{Request, Response};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api,
    api::{ListParams, PostParams, WatchEvent, WatchParams},
    client::Body,
};
use serde_json::json;

use super::*;
use crate::builders::mk_config_map;

/// Answers every call with the same ConfigMap (or a list or an endless watch of it) and counts.
fn fake() -> (Client, Arc<AtomicUsize>) {
    let seen = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&seen);
    let service = tower::service_fn(move |request: Request<Body>| {
        counter.fetch_add(1, Ordering::SeqCst);
        let object = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "a", "resourceVersion": "1"},
        });
        let call = Call::of(request.method(), request.uri());
        let body = match call.verb {
            Verb::Watch => {
                let line = format!("{}\n", json!({"type": "ADDED", "object": object}));
                let (head, tail) = line.split_at(7);
                let chunks = [head.to_owned(), tail.to_owned(), "{\"type\":\"MODI".to_owned()];
                let chunks = futures::stream::iter(chunks.map(Ok::<_, std::io::Error>));
                axum::body::Body::from_stream(futures::StreamExt::chain(
                    chunks,
                    futures::stream::pending(),
                ))
            }
            Verb::List => axum::body::Body::from(
                json!({"apiVersion": "v1", "kind": "ConfigMapList", "metadata": {"resourceVersion": "1"},
                    "items": [object]})
                .to_string(),
            ),
            _ => axum::body::Body::from(object.to_string()),
        };
        std::future::ready(Ok::<_, std::convert::Infallible>(Response::new(body)))
    });
    (Client::new(service, "default"), seen)
}

struct Setup {
    wire: Wire,
    api: Api<ConfigMap>,
    seen: Arc<AtomicUsize>,
}

fn setup() -> Setup {
    let (direct, seen) = fake();
    let wire = Wire::default();
    let api = Api::namespaced(wire.attach(direct, "default"), "default");
    Setup { wire, api, seen }
}

impl Setup {
    async fn create(&self) -> kube::Result<ConfigMap> {
        self.api
            .create(&PostParams::default(), &mk_config_map("a", &[]))
            .await
    }

    fn seen(&self) -> usize {
        self.seen.load(Ordering::SeqCst)
    }
}

fn code(result: kube::Result<ConfigMap>) -> u16 {
    match result {
        Err(kube::Error::Api(status)) => status.code,
        other => panic!("expected a status, got {other:?}"),
    }
}

#[tokio::test]
async fn only_the_nth_matching_call_is_struck() {
    let setup = setup();
    let injected = setup.wire.inject(
        Matcher::verb(Verb::Get)
            .resource("configmaps")
            .name("a")
            .nth(2),
        Fault::Fail(Failure::internal_error()),
    );
    setup.api.get("a").await.unwrap();
    setup.api.get("b").await.unwrap();
    setup.create().await.unwrap();
    assert_eq!(code(setup.api.get("a").await), 500);
    setup.api.get("a").await.unwrap();
    assert_eq!((injected.hits(), setup.seen()), (1, 4));
}

#[tokio::test]
async fn a_failed_call_never_reaches_the_cluster_and_carries_its_status() {
    let setup = setup();
    setup.wire.inject(
        Matcher::writes(),
        Fault::Fail(Failure::too_many_requests(7)),
    );
    let kube::Error::Api(status) = setup.create().await.unwrap_err() else {
        panic!("no status")
    };
    assert_eq!(
        (status.code, status.reason.as_str()),
        (429, "TooManyRequests")
    );
    assert_eq!(status.details.unwrap().retry_after_seconds, 7);
    assert_eq!(setup.seen(), 0);
    setup.wire.heal();
    setup.create().await.unwrap();
}

#[tokio::test]
async fn a_call_that_fails_after_its_effect_has_reached_the_cluster() {
    let setup = setup();
    setup.wire.inject(
        Matcher::any().first(1),
        Fault::FailAfterEffect(Failure::timeout()),
    );
    setup
        .wire
        .inject(Matcher::any().nth(2), Fault::DisconnectAfterEffect);
    assert_eq!(code(setup.create().await), 504);
    assert!(matches!(setup.create().await, Err(kube::Error::Service(_))));
    assert_eq!(setup.seen(), 2);
}

#[tokio::test]
async fn a_doubled_call_reaches_the_cluster_twice() {
    let setup = setup();
    setup
        .wire
        .inject(Matcher::verb(Verb::Create), Fault::Duplicate);
    setup.create().await.unwrap();
    assert_eq!((setup.seen(), setup.wire.calls().len()), (2, 1));
}

#[tokio::test]
async fn a_process_can_be_cut_off_after_its_kth_call() {
    let setup = setup();
    setup
        .wire
        .inject(Matcher::any().from_nth(3), Fault::Disconnect);
    for _ in 0..2 {
        setup.create().await.unwrap();
    }
    for _ in 0..3 {
        assert!(setup.create().await.is_err());
    }
    assert_eq!(setup.seen(), 2);
}

#[tokio::test]
async fn a_held_call_waits_for_its_gate() {
    let setup = setup();
    let gate = Gate::closed();
    setup.wire.inject(Matcher::any(), Fault::Hold(gate.clone()));
    let api = setup.api.clone();
    let call = tokio::spawn(async move { api.get("a").await });
    gate.reached_by(1).await;
    assert_eq!(setup.seen(), 0);
    gate.open();
    call.await.unwrap().unwrap();
    assert_eq!(setup.seen(), 1);
}

#[tokio::test]
async fn a_held_answer_is_late_but_its_effect_is_not() {
    let setup = setup();
    let gate = Gate::closed();
    setup
        .wire
        .inject(Matcher::any(), Fault::HoldAnswer(gate.clone()));
    let api = setup.api.clone();
    let call = tokio::spawn(async move { api.get("a").await });
    gate.reached_by(1).await;
    assert_eq!(setup.seen(), 1);
    assert!(!call.is_finished());
    gate.open();
    call.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_body_that_breaks_off_is_an_error() {
    let setup = setup();
    setup
        .wire
        .inject(Matcher::verb(Verb::List), Fault::CutBody(10));
    assert!(setup.api.list(&ListParams::default()).await.is_err());
    assert_eq!(setup.seen(), 1);
}

#[tokio::test]
async fn open_watches_end_as_told_between_whole_events() {
    for (end, expected) in [
        (WatchEnd::Expired, "ADDED a, ERROR 410, end"),
        (WatchEnd::Closed, "ADDED a, end"),
        (WatchEnd::Cut, "ADDED a, broken"),
    ] {
        let setup = setup();
        let watch = setup.api.watch(&WatchParams::default(), "0").await.unwrap();
        let mut watch = std::pin::pin!(watch);
        let mut heard = Vec::new();
        loop {
            heard.push(match watch.try_next().await {
                Ok(Some(WatchEvent::Added(object))) => {
                    setup.wire.end_watches(end);
                    format!("ADDED {}", object.metadata.name.unwrap())
                }
                Ok(Some(WatchEvent::Error(status))) => format!("ERROR {}", status.code),
                Ok(Some(other)) => format!("{other:?}"),
                Ok(None) => "end".to_owned(),
                Err(_) => "broken".to_owned(),
            });
            if matches!(heard.last().map(String::as_str), Some("end" | "broken")) {
                break;
            }
        }
        assert_eq!(heard.join(", "), expected);
    }
}

#[tokio::test]
async fn the_log_counts_calls_by_verb_and_resource() {
    let setup = setup();
    setup.create().await.unwrap();
    setup.api.get("a").await.unwrap();
    setup.api.get("b").await.unwrap();
    let summary: Vec<_> = setup.wire.summary().into_iter().collect();
    assert_eq!(
        summary,
        [
            ("create configmaps".to_owned(), 1),
            ("get configmaps".to_owned(), 2)
        ]
    );
    assert_eq!(setup.wire.count(&Matcher::verb(Verb::Get).name("b")), 1);
    setup.wire.forget();
    assert!(setup.wire.calls().is_empty());
}
