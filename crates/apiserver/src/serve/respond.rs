//! Answers that are given before a request reaches the API behind: refusals as `Status` objects.

use axum::{body::Body, response::Response};
use http::{HeaderValue, StatusCode, header};
use quadrille_machinery::status::Status;

/// A refusal as JSON.
pub(crate) fn status(status: &Status) -> Response {
    let mut response = Response::new(Body::from(status.to_value().to_string()));
    *response.status_mut() =
        StatusCode::from_u16(status.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, "application/json"),
        (header::CACHE_CONTROL, "no-cache, private"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}
