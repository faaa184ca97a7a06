//! Requests as they are on the wire, without a wire.

use axum::{Router, body::Body};
use http::{Request, StatusCode};
use http_body_util::BodyExt as _;
use serde_json::Value;
use tower::ServiceExt as _;

/// A request with a JSON body; null is none. A patch is a merge patch.
pub(crate) fn request(method: &str, path: &str, body: &Value) -> Request<Body> {
    let body = match body {
        Value::Null => Body::empty(),
        body => Body::from(body.to_string()),
    };
    let media = match method {
        "PATCH" => "application/merge-patch+json",
        _ => "application/json",
    };
    Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", media)
        .body(body)
        .unwrap()
}

/// Sends it, and reads the answer.
pub(crate) async fn ask(
    router: &Router,
    method: &str,
    path: &str,
    body: &Value,
) -> (StatusCode, Value) {
    let answer = router.clone().oneshot(request(method, path, body)).await;
    let answer = answer.unwrap();
    let status = answer.status();
    let bytes = answer.into_body().collect().await.unwrap().to_bytes();
    let body = serde_json::from_slice(&bytes);
    let text = || Value::String(String::from_utf8_lossy(&bytes).into_owned());
    (status, body.unwrap_or_else(|_| text()))
}
