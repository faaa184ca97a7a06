//! What one client may take of the wire: bytes of a head, time, connections; and the layer that keeps to the time. Bodies
//! have their bounds where they are read.

use std::{sync::Arc, time::Duration};

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::Response,
};
use percent_encoding::percent_decode_str;
use quadrille_machinery::status::Status;
use serde_json::json;

use super::{
    asked::Asked,
    go_duration::{self, DurationError},
};
use crate::reply;

/// Bounds on what clients may take. [`Limits::default`] has Kubernetes' own numbers where it has some.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of a request's line and headers.
    pub header_bytes: u32,
    /// Time for everything but watches and other long-running requests.
    pub request_time: Duration,
    /// Time to send a request's headers, from when the connection is free for it.
    pub header_time: Duration,
    /// Time from connecting to the end of the TLS handshake, and from there to the first request.
    pub handshake_time: Duration,
    /// Connections at once; more wait in the kernel's queue.
    pub connections: usize,
    /// Requests at once on one HTTP/2 connection.
    pub streams: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            header_bytes: 1024 * 1024,
            request_time: Duration::from_mins(1),
            // Longer than common clients keep an idle connection: they should be the first to let go.
            header_time: Duration::from_secs(100),
            handshake_time: Duration::from_secs(10),
            connections: 4096,
            streams: 1000,
        }
    }
}

/// Answers 504 when a request takes too long. Watches and other long-running requests have their own time.
pub(super) async fn time_layer(
    State(limits): State<Limits>,
    request: Request,
    next: Next,
) -> Response {
    let asked = request.extensions().get::<Arc<Asked>>();
    if asked.is_some_and(|asked| asked.is_long_running()) {
        return next.run(request).await;
    }
    let wanted = match asked_time(request.uri().query().unwrap_or_default()) {
        Ok(wanted) => wanted,
        Err(why) => {
            return reply::status(&Status::bad_request(format!(
                "invalid timeout specified in the request URL - {why}"
            )));
        }
    };
    let allowed = wanted.map_or(limits.request_time, |time| time.min(limits.request_time));
    match tokio::time::timeout(allowed, next.run(request)).await {
        Ok(response) => response,
        Err(_) => reply::status(&Status {
            details: json!({}),
            ..Status::timeout("Timeout: request did not complete within the allotted timeout")
        }),
    }
}

/// The `timeout` parameter; zero, or less, means none.
fn asked_time(query: &str) -> Result<Option<Duration>, DurationError> {
    let value = query
        .split('&')
        .find_map(|pair| pair.strip_prefix("timeout="))
        .unwrap_or_default();
    if value.is_empty() {
        return Ok(None);
    }
    let value = percent_decode_str(value).decode_utf8_lossy();
    Ok(go_duration::parse(&value)?.filter(|time| !time.is_zero()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_timeout_and_a_zero_timeout_leave_the_servers_own() {
        assert_eq!(asked_time("limit=5"), Ok(None));
        assert_eq!(asked_time("timeout=0s&limit=5"), Ok(None));
        assert_eq!(asked_time("timeout=5s"), Ok(Some(Duration::from_secs(5))));
        assert!(asked_time("timeout=soon").is_err());
    }
}
