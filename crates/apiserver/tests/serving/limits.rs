//! What a client cannot do: send too much, take too long, hold on to what it does not use.

use std::time::Duration;

use hyper::body::Bytes;
use quadrille_apiserver::{Options, Server, serve::Limits};
use quadrille_store::{Options as StoreOptions, Store};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

use crate::{
    DEADLINE, Fixture, Wanted,
    client::{Body, Shown, request},
};

fn impatient() -> Wanted {
    Wanted {
        limits: Limits {
            request_time: Duration::from_millis(300),
            header_time: Duration::from_millis(300),
            handshake_time: Duration::from_millis(300),
            connections: 4,
            ..Limits::default()
        },
        ..Wanted::default()
    }
}

/// A config map in so many bytes.
fn of_size(name: &str, bytes: usize) -> http::Request<Body> {
    let object = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name },
    });
    let mut text = object.to_string().into_bytes();
    text.resize(bytes, b' ');
    request("POST", "/api/v1/namespaces/default/configmaps")
        .header("content-type", "application/json")
        .body(Body::new(Bytes::from(text)))
        .unwrap()
}

/// Reads until the other side closes; true if it does.
async fn is_closed(stream: &mut (impl AsyncReadExt + Unpin)) -> bool {
    let mut rest = Vec::new();
    // A reset is as good as an orderly end.
    timeout(DEADLINE, stream.read_to_end(&mut rest))
        .await
        .is_ok()
}

#[tokio::test]
async fn three_mebibytes_pass_and_four_are_answered_413() {
    let store = Store::in_memory(StoreOptions::default()).unwrap();
    let api = Server::start(Options::new(store).unwrap()).await.unwrap();
    let server = Fixture::before(api.router(), Wanted::default()).await;
    for (name, http2) in [("one", false), ("two", true)] {
        let mut connection = if http2 {
            server.http2(Shown::Admin).await
        } else {
            server.http1(Shown::Admin).await
        };
        let fits = connection.ask(of_size(name, 3 << 20)).await;
        assert_eq!(fits.code, 201, "{}", fits.text);
        let refused = connection.ask(of_size(name, 4 << 20)).await;
        assert_eq!(refused.code, 413);
        let status: Value = serde_json::from_str(&refused.text).unwrap();
        assert_eq!(status["reason"], "RequestEntityTooLarge");
        assert_eq!(
            status["message"],
            "Request entity too large: limit is 3145728"
        );
    }
}

#[tokio::test]
async fn a_request_that_takes_too_long_is_answered_504() {
    let server = Fixture::start(impatient()).await;
    let mut connection = server.http2(Shown::Admin).await;
    let answer = connection.get("/never").await;
    assert_eq!(answer.code, 504);
    let status: Value = serde_json::from_str(&answer.text).unwrap();
    assert_eq!(status["reason"], "Timeout");
}

#[tokio::test]
async fn a_client_may_ask_for_less_time_but_not_in_riddles() {
    let server = Fixture::start(Wanted::default()).await;
    let mut connection = server.http2(Shown::Admin).await;
    assert_eq!(connection.get("/never?timeout=10ms").await.code, 504);
    assert_eq!(connection.get("/whoami?timeout=soon").await.code, 400);
}

#[tokio::test]
async fn a_panic_costs_one_request_and_not_the_connection() {
    let server = Fixture::start(Wanted::default()).await;
    let mut connection = server.http1(Shown::Admin).await;
    assert_eq!(connection.get("/panic").await.code, 500);
    assert_eq!(connection.get("/whoami").await.code, 200);
}

#[tokio::test]
async fn connections_that_say_nothing_are_let_go_at_every_stage() {
    let server = Fixture::start(impatient()).await;
    // No TLS, half a TLS record, TLS without a request, half a request.
    let mut silent = TcpStream::connect(server.address).await.unwrap();
    assert!(is_closed(&mut silent).await);
    let mut half = TcpStream::connect(server.address).await.unwrap();
    half.write_all(&[0x16, 0x03, 0x01]).await.unwrap();
    assert!(is_closed(&mut half).await);
    for protocol in [&b"h2"[..], b"http/1.1"] {
        let mut idle = server.tls(Shown::Admin, protocol).await;
        assert!(is_closed(&mut idle).await);
    }
    let mut slow = server.tls(Shown::Admin, b"http/1.1").await;
    slow.write_all(b"GET /whoami HTTP/1.1\r\nhost:")
        .await
        .unwrap();
    slow.flush().await.unwrap();
    assert!(is_closed(&mut slow).await);
}

#[tokio::test]
async fn abandoned_connections_do_not_keep_others_out() {
    let server = Fixture::start(impatient()).await;
    let mut abandoned = Vec::new();
    for _ in 0..8 {
        abandoned.push(TcpStream::connect(server.address).await.unwrap());
    }
    let mut connection = server.http1(Shown::Admin).await;
    assert_eq!(connection.get("/whoami").await.code, 200);
    drop(abandoned);
}

#[tokio::test]
async fn headers_without_end_are_refused() {
    let wanted = Wanted {
        limits: Limits {
            header_bytes: 16 * 1024,
            ..Limits::default()
        },
        ..Wanted::default()
    };
    let server = Fixture::start(wanted).await;
    let mut connection = server.http1(Shown::Admin).await;
    let long = request("GET", "/whoami")
        .header("x-long", "a".repeat(32 * 1024))
        .body(Body::default())
        .unwrap();
    assert_eq!(connection.send(long).await.status(), 431);
}

#[tokio::test]
async fn plain_http_is_told_that_this_is_https() {
    let server = Fixture::start(Wanted::default()).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    // The server closes without having read everything, which may show as a reset after the answer.
    let _ = stream.read_to_string(&mut answer).await;
    assert!(answer.starts_with("HTTP/1.0 400 Bad Request"), "{answer}");
}
