//! Who gets in.

use jiff::Timestamp;
use quadrille_apiserver::{auth::User, serve::Authority};
use serde_json::{Value, json};

use crate::{
    Fixture, Wanted,
    client::{Body, Shown, request},
};

const UNAUTHORIZED: &str = r#"{"apiVersion":"v1","code":401,"kind":"Status","message":"Unauthorized","metadata":{},"reason":"Unauthorized","status":"Failure"}"#;

fn with_token(token: &str) -> http::Request<Body> {
    request("GET", "/whoami")
        .header("authorization", format!("Bearer {token}"))
        .body(Body::default())
        .unwrap()
}

#[tokio::test]
async fn our_certificate_makes_the_admin_on_both_protocols() {
    let server = Fixture::start(Wanted::default()).await;
    for mut connection in [
        server.http1(Shown::Admin).await,
        server.http2(Shown::Admin).await,
    ] {
        let answer = connection.get("/whoami").await;
        assert_eq!(
            answer.text,
            "quadrille-admin system:masters,system:authenticated"
        );
    }
}

#[tokio::test]
async fn a_foreign_certificate_is_answered_401_but_a_token_still_counts() {
    let server = Fixture::start(Wanted::default()).await;
    let foreign = Authority::ephemeral(Timestamp::now()).unwrap();
    for http2 in [false, true] {
        let shown = Shown::From(&foreign, User::admin());
        let mut connection = if http2 {
            server.http2(shown).await
        } else {
            server.http1(shown).await
        };
        let answer = connection.get("/whoami").await;
        assert_eq!(answer.code, 401);
        let (got, wanted): (Value, Value) = (
            serde_json::from_str(&answer.text).unwrap(),
            serde_json::from_str(UNAUTHORIZED).unwrap(),
        );
        assert_eq!(got, wanted);
    }
    let mut connection = server.http1(Shown::From(&foreign, User::admin())).await;
    let answer = connection.ask(with_token("toms-secret")).await;
    assert_eq!(answer.text, "tom system:authenticated");
}

#[tokio::test]
async fn no_certificate_is_nobody_and_a_wrong_token_is_401() {
    let server = Fixture::start(Wanted::default()).await;
    let mut connection = server.http2(Shown::Nothing).await;
    assert_eq!(connection.get("/whoami").await.text, "nobody");
    assert_eq!(
        connection.ask(with_token("toms-secret")).await.text,
        "tom system:authenticated"
    );
    assert_eq!(connection.ask(with_token("guessed")).await.code, 401);
}

#[tokio::test]
async fn metrics_are_for_those_who_may_see_them() {
    let server = Fixture::start(Wanted::default()).await;
    let mut stranger = server.http1(Shown::Nothing).await;
    assert_eq!(stranger.get("/metrics").await.code, 403);
    let tom = request("GET", "/metrics")
        .header("authorization", "Bearer toms-secret")
        .body(Body::default())
        .unwrap();
    let refused = stranger.ask(tom).await;
    let status: Value = serde_json::from_str(&refused.text).unwrap();
    assert_eq!(refused.code, 403);
    assert_eq!(
        status["message"],
        json!("forbidden: User \"tom\" cannot get path \"/metrics\"")
    );
    let mut admin = server.http1(Shown::Admin).await;
    let page = admin.get("/metrics").await;
    assert_eq!(page.code, 200);
    assert!(page.text.contains("code=\"403\"} 2"), "{}", page.text);
}

#[tokio::test]
async fn a_refused_client_does_not_keep_an_http2_connection() {
    let server = Fixture::start(Wanted::default()).await;
    let mut connection = server.http2(Shown::Nothing).await;
    assert_eq!(connection.ask(with_token("guessed")).await.code, 401);
    let crate::client::Connection::Http2(sender) = &mut connection else {
        unreachable!("made as HTTP/2");
    };
    let closed = async {
        // The client learns of the end with the next thing that it wants.
        while sender.ready().await.is_ok() && !sender.is_closed() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(crate::DEADLINE, closed)
        .await
        .expect("still open");
}
