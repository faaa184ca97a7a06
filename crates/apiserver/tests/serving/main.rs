//! The wire, with a small router in place of the API: certificates, limits, stopping, logs and metrics.

// Clippy knows test functions, not the functions that they share.
#![allow(clippy::unwrap_used, clippy::panic)]

mod client;
mod credentials;
mod lifecycle;
mod limits;

use std::{net::SocketAddr, sync::Arc, time::Duration};

use axum::{Extension, Router, body::Body, routing::get};
use futures::StreamExt;
use jiff::Timestamp;
use quadrille_apiserver::{
    auth::{Authenticator, User},
    serve::{self, Authority, Limits, Metrics, Options, RequestLog, Serving},
};
use tokio::net::TcpListener;

/// No test waits longer than this for something that should happen.
pub(crate) const DEADLINE: Duration = Duration::from_secs(20);

/// A server on loopback, with the authority that its clients need.
pub(crate) struct Fixture {
    pub(crate) authority: Arc<Authority>,
    pub(crate) address: SocketAddr,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) serving: Serving,
}

/// What a test wants to be different.
#[derive(Default)]
pub(crate) struct Wanted {
    pub(crate) limits: Limits,
    pub(crate) logs: Vec<Arc<dyn RequestLog>>,
}

impl Fixture {
    pub(crate) async fn start(wanted: Wanted) -> Self {
        Self::before(router(), wanted).await
    }

    /// In front of another router.
    pub(crate) async fn before(router: Router, wanted: Wanted) -> Self {
        let authority = Arc::new(Authority::ephemeral(Timestamp::now()).unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let metrics = Arc::new(Metrics::default());
        let tom = User {
            name: "tom".to_owned(),
            ..User::default()
        };
        let options = Options {
            authenticator: Arc::new(
                Authenticator::new()
                    .with_token("toms-secret", tom)
                    .with_token("admins-secret", User::admin()),
            ),
            limits: wanted.limits,
            logs: wanted.logs,
            metrics: metrics.clone(),
            ..Options::new(authority.clone())
        };
        let serving = serve::start(listener, router, &options).unwrap();
        Self {
            authority,
            address: serving.address(),
            metrics,
            serving,
        }
    }
}

fn router() -> Router {
    Router::new()
        .route("/whoami", get(who_am_i))
        .route("/never", get(std::future::pending::<&'static str>))
        .route("/panic", get(fall_over))
        .route("/api/v1/pods", get(watch))
}

async fn who_am_i(user: Option<Extension<User>>) -> String {
    user.map_or_else(
        || "nobody".to_owned(),
        |Extension(user)| format!("{} {}", user.name, user.groups.join(",")),
    )
}

async fn fall_over() -> &'static str {
    panic!("on purpose")
}

/// One event, then silence, as a quiet watch does.
async fn watch() -> Body {
    let first = futures::stream::once(async { Ok::<_, std::io::Error>("{\"type\":\"ADDED\"}\n") });
    Body::from_stream(first.chain(futures::stream::pending()))
}
