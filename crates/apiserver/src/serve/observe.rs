//! The outermost layer: times, counts and logs every request, turns a panic into a 500, and ends
//! long-running answers when the server stops.

use std::{
    panic::AssertUnwindSafe,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Instant,
};

use axum::{
    body::Body,
    extract::{Request, State},
    middleware::Next,
    response::Response,
};
use bytes::Bytes;
use futures::FutureExt;
use http::{HeaderMap, HeaderName, HeaderValue, header};
use http_body::{Frame, SizeHint};
use quadrille_machinery::status::Status;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use super::{
    asked::Asked,
    metrics::{Metrics, Open},
    request_log::{Entry, RequestLog},
};
use crate::{auth::User, policies::AuditNotes, reply};

/// What the layer reports to.
#[derive(Clone)]
pub(super) struct Observer {
    pub(super) metrics: Arc<Metrics>,
    pub(super) logs: Vec<Arc<dyn RequestLog>>,
    /// Cancelled when the server stops.
    pub(super) stopping: CancellationToken,
}

pub(super) async fn layer(
    State(observer): State<Observer>,
    mut request: Request,
    next: Next,
) -> Response {
    let started = Instant::now();
    let audit_id = audit_id(request.headers());
    let asked = Arc::new(Asked::read(request.method(), request.uri()));
    request.extensions_mut().insert(asked.clone());
    let told = (!observer.logs.is_empty()).then(|| {
        let agent = request.headers().get(header::USER_AGENT);
        let agent = agent.and_then(|agent| agent.to_str().ok()).unwrap_or("");
        (request.uri().to_string(), agent.to_owned())
    });
    let mut response = match AssertUnwindSafe(next.run(request)).catch_unwind().await {
        Ok(response) => response,
        Err(_) => reply::status(&Status::internal(
            "this request made the server panic; its log says more",
        )),
    };
    response.headers_mut().insert(AUDIT_ID, audit_id);
    let (code, took) = (response.status().as_u16(), started.elapsed());
    observer.metrics.answered(&asked, code, took);
    if let Some((uri, agent)) = told {
        let user = response.extensions().get::<User>();
        let name = user.map_or("", |user| user.name.as_str());
        let mut entry = Entry::now(&asked, name, &uri, &agent, code, took);
        let notes = response.extensions().get::<AuditNotes>();
        entry.annotations = notes.map(|notes| &notes.0);
        for log in &observer.logs {
            log.record(&entry);
        }
    }
    if asked.is_long_running() && response.status().is_success() {
        let open = observer.metrics.opened(&asked);
        let stopping = observer.stopping.clone().cancelled_owned();
        response = response.map(|inner| {
            Body::new(LongRunning {
                inner,
                stopping: Box::pin(stopping),
                _open: open,
            })
        });
    }
    response
}

/// The header that names one request in everybody's logs.
const AUDIT_ID: HeaderName = HeaderName::from_static("audit-id");

/// The id that the client gave its request, or a new one.
fn audit_id(headers: &HeaderMap) -> HeaderValue {
    let given = headers.get(AUDIT_ID).filter(|given| !given.is_empty());
    given.cloned().unwrap_or_else(|| {
        HeaderValue::from_str(&uuid::Uuid::new_v4().to_string())
            .unwrap_or(HeaderValue::from_static("unknown"))
    })
}

/// A body that ends, cleanly, when the server stops: clients of watches see the end and come again.
struct LongRunning {
    inner: Body,
    stopping: Pin<Box<WaitForCancellationFutureOwned>>,
    _open: Open,
}

impl http_body::Body for LongRunning {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.stopping.as_mut().poll(context).is_ready() {
            return Poll::Ready(None);
        }
        Pin::new(&mut self.inner).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
