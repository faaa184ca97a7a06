//! Watches, logs and the end.

use std::{sync::Arc, time::Duration};

use http_body_util::BodyExt;
use parking_lot::Mutex;
use quadrille_apiserver::serve::{Entry, RequestLog};
use tokio::{net::TcpStream, time::timeout};

use crate::{
    DEADLINE, Fixture, Wanted,
    client::{Body, Shown, request},
};

#[derive(Default)]
struct Lines(Mutex<Vec<String>>);

impl RequestLog for Lines {
    fn record(&self, entry: &Entry<'_>) {
        let Entry {
            user,
            verb,
            resource,
            code,
            user_agent,
            ..
        } = entry;
        self.0
            .lock()
            .push(format!("{user} {verb} {resource} {code} {user_agent}"));
    }
}

#[tokio::test]
async fn every_answered_request_is_logged_with_its_user() {
    let lines = Arc::new(Lines::default());
    let server = Fixture::start(Wanted {
        logs: vec![lines.clone()],
        ..Wanted::default()
    })
    .await;
    let mut connection = server.http1(Shown::Nothing).await;
    connection.get("/whoami").await;
    let tom = |path| {
        request("GET", path)
            .header("authorization", "Bearer toms-secret")
            .body(Body::default())
            .unwrap()
    };
    connection.ask(tom("/api/v1/nodes/one")).await;
    connection.send(tom("/api/v1/pods?watch=1")).await;
    assert_eq!(
        *lines.0.lock(),
        [
            " get  200 wire-test/1",
            "tom get nodes 404 wire-test/1",
            "tom watch pods 200 wire-test/1",
        ]
    );
}

#[tokio::test]
async fn stopping_ends_watches_cleanly_and_closes_the_port() {
    let server = Fixture::start(Wanted::default()).await;
    let mut watches = Vec::new();
    for mut connection in [
        server.http1(Shown::Admin).await,
        server.http2(Shown::Admin).await,
    ] {
        let watch = request("GET", "/api/v1/pods?watch=1")
            .body(Body::default())
            .unwrap();
        let mut body = connection.send(watch).await.into_body();
        let first = body.frame().await.unwrap().unwrap().into_data().unwrap();
        assert_eq!(first, "{\"type\":\"ADDED\"}\n");
        watches.push((connection, body));
    }
    let open = server.metrics.render();
    assert!(
        open.lines().any(|line| {
            line.starts_with("apiserver_longrunning_requests{") && line.ends_with(" 2")
        }),
        "{open}"
    );
    let address = server.address;
    let stopped = timeout(DEADLINE, server.serving.stop(DEADLINE)).await;
    assert!(stopped.unwrap(), "connections had to be cut");
    for (_connection, body) in watches {
        let rest = timeout(DEADLINE, body.collect()).await.unwrap();
        let rest = rest.expect("the watch broke instead of ending").to_bytes();
        assert!(rest.is_empty(), "{rest:?}");
    }
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn stopping_waits_for_requests_and_cuts_those_that_never_end() {
    let server = Fixture::start(Wanted::default()).await;
    let mut connection = server.http2(Shown::Admin).await;
    let stuck = tokio::spawn(async move {
        let request = request("GET", "/never").body(Body::default()).unwrap();
        let crate::client::Connection::Http2(sender) = &mut connection else {
            unreachable!("made as HTTP/2");
        };
        sender.send_request(request).await.is_err()
    });
    // The request is under way when a second one, sent later, has been answered.
    let mut other = server.http2(Shown::Admin).await;
    assert_eq!(other.get("/whoami").await.code, 200);
    let ended = timeout(DEADLINE, server.serving.stop(Duration::from_millis(200)));
    assert!(!ended.await.unwrap(), "a stuck request ended by itself");
    assert!(timeout(DEADLINE, stuck).await.unwrap().unwrap());
}
