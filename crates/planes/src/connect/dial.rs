//! One connection to an API server: TCP, TLS, and HTTP/2 where the server speaks it.

use std::{
    error::Error,
    fmt, io,
    sync::{Arc, OnceLock},
    time::Duration,
};

use http::Uri;
use hyper::client::conn::http2;
use hyper_rustls::{FixedServerNameResolver, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{
        self,
        connect::{Connection as _, HttpConnector},
    },
    rt::{TokioExecutor, TokioTimer},
};
use kube::client::Body;
use rustls::ClientConfig;
use rustls_pki_types::ServerName;
use tower::{BoxError, ServiceExt as _};

/// How long a connection may take to be made, from the name's look-up to the end of the handshakes.
const CONNECT_DEADLINE: Duration = Duration::from_secs(10);
/// How often a silent connection is asked whether it still stands.
const PING_EVERY: Duration = Duration::from_secs(20);
/// How long the answer may take.
const PING_DEADLINE: Duration = Duration::from_secs(10);
/// How much of one answer may be on its way unread …
const STREAM_WINDOW: u32 = 512 * 1024;
/// … and of all answers of a connection: many readers must sleep before they stop the others.
const CONNECTION_WINDOW: u32 = 16 * 1024 * 1024;

/// Sends requests over a connection that many share.
pub(super) type Sender = http2::SendRequest<Body>;
/// Sends requests over connections of their own.
pub(super) type Http1 = legacy::Client<HttpsConnector<HttpConnector>, Body>;

/// How a connection ended, once it has and if it was not in peace.
pub(super) type End = Arc<OnceLock<Arc<hyper::Error>>>;

/// What a server turned out to speak.
pub(super) enum Dialed {
    Http2(Sender, End),
    Http1(Http1),
}

/// Why there is no connection. Cheap to clone: all who wait for one connection get it.
#[derive(Clone, Debug)]
pub(super) struct DialError {
    server: Arc<str>,
    cause: Arc<dyn Error + Send + Sync>,
}

impl fmt::Display for DialError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "connect to {}", self.server)
    }
}

impl Error for DialError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.cause)
    }
}

/// Makes connections to one server.
#[derive(Clone)]
pub(super) struct Dialer {
    server: Uri,
    name: Arc<str>,
    connector: HttpsConnector<HttpConnector>,
    http1: Http1,
}

impl Dialer {
    pub(super) fn new(
        server: Uri,
        tls: ClientConfig,
        server_name: Option<ServerName<'static>>,
    ) -> Self {
        let name = server
            .authority()
            .map_or("", |authority| authority.as_str());
        let https = |tls| {
            let builder = HttpsConnectorBuilder::new()
                .with_tls_config(tls)
                .https_or_http();
            match &server_name {
                Some(name) => {
                    builder.with_server_name_resolver(FixedServerNameResolver::new(name.clone()))
                }
                None => builder,
            }
        };
        let http1 = legacy::Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .build(https(tls.clone()).enable_http1().wrap_connector(tcp()));
        Self {
            name: name.into(),
            connector: https(tls).enable_all_versions().wrap_connector(tcp()),
            http1,
            server,
        }
    }

    /// Makes a connection, and finds out what the server speaks.
    pub(super) async fn dial(&self) -> Result<Dialed, DialError> {
        if self.server.scheme_str() == Some("http") {
            return Ok(Dialed::Http1(self.http1.clone()));
        }
        let made = tokio::time::timeout(CONNECT_DEADLINE, self.make())
            .await
            .unwrap_or_else(|_| {
                let words = format!("not done within {} s", CONNECT_DEADLINE.as_secs());
                Err(io::Error::new(io::ErrorKind::TimedOut, words).into())
            });
        made.map_err(|cause| DialError {
            server: Arc::clone(&self.name),
            cause: cause.into(),
        })
    }

    /// The connection was made, more than once, and did not stand long enough to be used.
    pub(super) fn unsteady(&self, why: Option<Arc<hyper::Error>>) -> DialError {
        let words = "the connection is closed as soon as it is made";
        let closed = || Arc::new(io::Error::new(io::ErrorKind::ConnectionReset, words)) as _;
        DialError {
            server: Arc::clone(&self.name),
            cause: why.map_or_else(closed, |why| why as _),
        }
    }

    async fn make(&self) -> Result<Dialed, BoxError> {
        let stream = self.connector.clone().oneshot(self.server.clone()).await?;
        if !stream.connected().is_negotiated_h2() {
            // Connections of the older kind are made by its own client, as many as it needs.
            return Ok(Dialed::Http1(self.http1.clone()));
        }
        let (sender, connection) = http2::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .keep_alive_interval(PING_EVERY)
            .keep_alive_timeout(PING_DEADLINE)
            .keep_alive_while_idle(true)
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .handshake(stream)
            .await?;
        let (server, end) = (Arc::clone(&self.name), End::default());
        let told = Arc::clone(&end);
        tokio::spawn(async move {
            // Those whose requests were on it learn of its end from their own answers.
            if let Err(error) = connection.await {
                tracing::debug!(%server, error = &error as &dyn Error, "a connection ended");
                let _ = told.set(Arc::new(error));
            }
        });
        Ok(Dialed::Http2(sender, end))
    }
}

/// TCP that notices when the other side is gone, also under HTTP/1.1, which has no pings.
fn tcp() -> HttpConnector {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_connect_timeout(Some(CONNECT_DEADLINE));
    tcp.set_keepalive(Some(PING_EVERY));
    tcp.set_keepalive_interval(Some(PING_DEADLINE / 2));
    tcp.set_keepalive_retries(Some(3));
    tcp
}
