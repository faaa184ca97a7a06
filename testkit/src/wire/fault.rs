//! What can go wrong on the wire.

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use serde_json::{Value, json};

use super::gate::Gate;

/// What happens to a call.
#[derive(Debug, Clone)]
pub enum Fault {
    /// Answered with a failure; the cluster never sees it.
    Fail(Failure),
    /// Carried out by the cluster, then answered with a failure.
    FailAfterEffect(Failure),
    /// Held back at a gate before it goes to the cluster.
    Hold(Gate),
    /// Carried out, its answer held back at a gate.
    HoldAnswer(Gate),
    /// Sent twice, one after the other; the second answer counts.
    Duplicate,
    /// The connection breaks before the cluster sees it.
    Disconnect,
    /// The connection breaks before the cluster sees it, and so does that of every call after it, whatever it is:
    /// as if the process had died.
    Die,
    /// Held back at a gate before it goes to the cluster, and so is every call after it, whatever it is: as if the
    /// process had been stopped.
    Stop(Gate),
    /// Carried out by the cluster, then the connection breaks.
    DisconnectAfterEffect,
    /// Carried out; the answer's body breaks off after so many bytes.
    CutBody(usize),
    /// Answered with this body, such as one recorded earlier: the cluster never sees it. What a server that lags
    /// behind would say.
    Answer(Bytes),
}

/// What happens to the events of all watches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disturbance {
    /// They are lost.
    Lose,
    /// They come twice.
    Double,
    /// Each second one comes before the first.
    Swap,
}

/// How open watches end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchEnd {
    /// With an `ERROR` event that says 410: the watcher must list anew.
    Expired,
    /// As if its time was over.
    Closed,
    /// The connection breaks.
    Cut,
}

/// A failure as a Kubernetes server states it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// HTTP status code.
    pub code: u16,
    /// Machine-readable reason.
    pub reason: &'static str,
    /// For people.
    pub message: String,
    /// Seconds after which the client may come again.
    pub retry_after: Option<u32>,
}

impl Failure {
    /// Any failure.
    pub fn new(code: u16, reason: &'static str) -> Self {
        Self {
            code,
            reason,
            message: format!("injected: {reason}"),
            retry_after: None,
        }
    }

    /// 409: somebody else was faster.
    pub fn conflict() -> Self {
        Self::new(409, "Conflict")
    }

    /// 410: the revision is gone.
    pub fn expired() -> Self {
        Self::new(410, "Expired")
    }

    /// 429 with `Retry-After`.
    pub fn too_many_requests(retry_after: u32) -> Self {
        Self {
            retry_after: Some(retry_after),
            ..Self::new(429, "TooManyRequests")
        }
    }

    /// 500.
    pub fn internal_error() -> Self {
        Self::new(500, "InternalError")
    }

    /// 503.
    pub fn unavailable() -> Self {
        Self::new(503, "ServiceUnavailable")
    }

    /// 504; with [`Fault::FailAfterEffect`], the cruel one.
    pub fn timeout() -> Self {
        Self::new(504, "Timeout")
    }

    /// The `Status` object.
    pub(super) fn status(&self) -> Value {
        let mut status = json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "reason": self.reason,
            "code": self.code,
        });
        if let Some(seconds) = self.retry_after {
            status["details"] = json!({ "retryAfterSeconds": seconds });
        }
        status
    }

    /// The whole answer.
    pub(super) fn response(&self) -> Response<Bytes> {
        let mut response = Response::new(Bytes::from(self.status().to_string()));
        *response.status_mut() =
            StatusCode::from_u16(self.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/json"),
        );
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
