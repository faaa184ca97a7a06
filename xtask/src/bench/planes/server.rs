//! A plane of the bench: an embedded server in this process, which can be made to misbehave.

use std::{
    net::Ipv4Addr,
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
    },
    time::Duration,
};

use anyhow::Result;
use axum::{
    extract::Request,
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use http::StatusCode;
use jiff::Timestamp;
use quadrille_apiserver::{
    Options, Server,
    auth::User,
    serve::{self, Authority, Serving, kubeconfig},
};
use quadrille_store::{Options as StoreOptions, Store};
use tokio::net::TcpListener;

/// How a plane behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Mood {
    /// As it should.
    Well,
    /// It takes requests and never answers.
    Hangs,
    /// It answers everything with 500.
    Fails,
    /// It takes its time.
    Slow,
}

/// How long a slow plane takes.
const SLOW: Duration = Duration::from_secs(2);

/// A running plane.
pub(super) struct PlaneServer {
    mood: Arc<AtomicU8>,
    /// With which it is reached.
    pub(super) kubeconfig: String,
    _server: Server,
    _serving: Serving,
}

impl PlaneServer {
    /// Starts one.
    pub(super) async fn start() -> Result<Self> {
        let authority = Arc::new(Authority::ephemeral(Timestamp::now())?);
        let mut options = Options::new(Store::in_memory(StoreOptions::default())?)?;
        options.definitions = Box::new(quadrille_types::DEFINITIONS.lines().map(Into::into));
        options.service_account_key = authority.service_account_key();
        options.root_ca = authority.certificate().to_owned();
        let server = Server::start(options).await?;
        let mood = Arc::new(AtomicU8::new(Mood::Well as u8));
        let shared = Arc::clone(&mood);
        let router = server.router().layer(axum::middleware::from_fn(
            move |request: Request, next: Next| {
                let mood = shared.load(Ordering::Relaxed);
                async move { behave(mood, request, next).await }
            },
        ));
        let options = serve::Options::of(&server, Arc::clone(&authority));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let serving = serve::start(listener, router, &options)?;
        let admin = authority.issue_client(&User::admin(), Timestamp::now())?;
        let kubeconfig = kubeconfig::render(serving.address(), authority.certificate(), &admin);
        Ok(Self {
            mood,
            kubeconfig,
            _server: server,
            _serving: serving,
        })
    }

    /// Behaves so from now on.
    pub(super) fn be(&self, mood: Mood) {
        self.mood.store(mood as u8, Ordering::Relaxed);
    }
}

async fn behave(mood: u8, request: Request, next: Next) -> Response {
    if mood == Mood::Hangs as u8 {
        return std::future::pending().await;
    }
    if mood == Mood::Fails as u8 {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    }
    if mood == Mood::Slow as u8 {
        tokio::time::sleep(SLOW).await;
    }
    next.run(request).await
}
