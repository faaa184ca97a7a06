//! Serving: HTTPS in front of the API's router.
//!
//! ```text
//!   TCP ─► TLS ─► HTTP/1.1 | HTTP/2 ─► observe ─► time ─► authenticate ─► /metrics
//!                                   (log, count)                      └─► router
//! ```
//!
//! Everything about the wire is here: certificates, limits, the request log, metrics, stopping. The router
//! behind knows requests, users and nothing else; tests use it without any of this.

pub mod asked;
pub mod authority;
mod go_duration;
pub mod kubeconfig;
pub mod limits;
mod listener;
pub mod metrics;
mod observe;
pub mod private_file;
mod process;
pub mod request_log;

use std::{net::SocketAddr, sync::Arc, time::Duration};

use axum::{
    Extension, Router,
    extract::State,
    middleware::from_fn_with_state,
    response::{IntoResponse, Response},
    routing::get,
};
use http::{HeaderMap, Method, header};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

pub use self::{
    authority::{Authority, AuthorityError, Identity},
    limits::Limits,
    metrics::Metrics,
    request_log::{Entry, JsonLines, RequestLog},
};
use crate::{
    Server,
    auth::{
        Authenticator, Authorizer, MastersOnly, User, action::Action, authenticate,
        impersonate::Impersonation,
    },
    reply,
};

/// What to put in front of a router.
pub struct Options {
    /// Whose certificates to serve with and to trust.
    pub authority: Arc<Authority>,
    /// Who is accepted, certificates aside.
    pub authenticator: Arc<Authenticator>,
    /// Who may see `/metrics`.
    pub authorizer: Arc<dyn Authorizer>,
    /// What clients may take.
    pub limits: Limits,
    /// Where answered requests are told.
    pub logs: Vec<Arc<dyn RequestLog>>,
    /// Where requests are counted.
    pub metrics: Arc<Metrics>,
    /// Addresses, other than loopback, that the server's certificate is for.
    pub addresses: Vec<std::net::IpAddr>,
}

impl Options {
    /// For a server: its service accounts are accepted, and it decides who may see the numbers.
    pub fn of(server: &Server, authority: Arc<Authority>) -> Self {
        Self {
            authenticator: server.authenticator(),
            authorizer: server.authorizer(),
            ..Self::new(authority)
        }
    }

    /// Certificates of this authority, `system:masters` may see the numbers, no logs, default limits.
    pub fn new(authority: Arc<Authority>) -> Self {
        Self {
            authority,
            authenticator: Arc::new(Authenticator::new()),
            authorizer: Arc::new(MastersOnly),
            limits: Limits::default(),
            logs: Vec::new(),
            metrics: Arc::new(Metrics::default()),
            addresses: Vec::new(),
        }
    }
}

/// Why serving cannot start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Certificates.
    #[error(transparent)]
    Authority(#[from] AuthorityError),
    /// The listener is unusable.
    #[error("the listening socket is unusable")]
    Listener(#[from] std::io::Error),
}

/// A server that is reachable until it is stopped, or dropped.
#[derive(Debug)]
pub struct Serving {
    address: SocketAddr,
    stopping: CancellationToken,
    cutting: CancellationToken,
    tasks: TaskTracker,
}

/// Starts serving a router on a bound listener.
pub fn start(
    listener: TcpListener,
    router: Router,
    options: &Options,
) -> Result<Serving, ServeError> {
    let address = listener.local_addr()?;
    let now = jiff::Timestamp::now();
    let certificate = options.authority.issue_server(&options.addresses, now)?;
    let (tls, clients) = options.authority.tls(&certificate)?;
    let (stopping, cutting) = (CancellationToken::new(), CancellationToken::new());
    let tasks = TaskTracker::new();
    let endpoint = listener::Endpoint {
        router: stack(router, options, stopping.clone()),
        tls: TlsAcceptor::from(tls),
        clients,
        limits: options.limits,
        stopping: stopping.clone(),
        cutting: cutting.clone(),
        connections: tasks.clone(),
    };
    tasks.spawn(listener::accept(endpoint, listener));
    Ok(Serving {
        address,
        stopping,
        cutting,
        tasks,
    })
}

impl Serving {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Accepts nothing new, ends watches, lets other requests finish for as long as `grace`, then cuts.
    /// Says whether everything ended by itself.
    pub async fn stop(self, grace: Duration) -> bool {
        self.stopping.cancel();
        self.tasks.close();
        let ended = tokio::time::timeout(grace, self.tasks.wait()).await.is_ok();
        self.cutting.cancel();
        self.tasks.wait().await;
        ended
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.stopping.cancel();
        self.cutting.cancel();
    }
}

/// All layers around a router. The first one a request meets is added last.
fn stack(router: Router, options: &Options, stopping: CancellationToken) -> Router {
    let observer = observe::Observer {
        metrics: options.metrics.clone(),
        logs: options.logs.clone(),
        stopping,
    };
    Router::new()
        .route("/metrics", get(show_metrics))
        .with_state((options.metrics.clone(), options.authorizer.clone()))
        .fallback_service(router)
        .layer(from_fn_with_state(
            options.authenticator.clone(),
            authenticate::layer,
        ))
        .layer(from_fn_with_state(options.limits, limits::time_layer))
        .layer(from_fn_with_state(observer, observe::layer))
}

async fn show_metrics(
    State((metrics, authorizer)): State<(Arc<Metrics>, Arc<dyn Authorizer>)>,
    user: Option<Extension<User>>,
    headers: HeaderMap,
) -> Response {
    let sender = user.map_or_else(User::anonymous, |Extension(user)| user);
    let action = Action::on_path(&Method::GET, "/metrics".to_owned());
    let allowed = Impersonation::default()
        .user(sender, &headers, &action, authorizer.as_ref())
        .and_then(|user| authorizer.require(&action.by(&user)));
    if let Err(status) = allowed {
        return reply::status(&status);
    }
    let kind = [(
        header::CONTENT_TYPE,
        "text/plain; version=0.0.4; charset=utf-8",
    )];
    (kind, metrics.render()).into_response()
}
