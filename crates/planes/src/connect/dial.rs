//! One connection to an API server: TCP, TLS, and HTTP/2 where the server speaks it.

use std::{
    error::Error,
    fmt,
    future::{Future as _, poll_fn},
    io,
    pin::Pin,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use http::Uri;
use hyper::client::conn::http2;
use hyper_rustls::{
    FixedServerNameResolver, HttpsConnector, HttpsConnectorBuilder, MaybeHttpsStream,
};
use hyper_util::{
    client::legacy::{
        self,
        connect::{Connection as _, HttpConnector},
    },
    rt::{TokioExecutor, TokioIo, TokioTimer},
};
use kube::client::Body;
use rustls::ClientConfig;
use rustls_pki_types::ServerName;
use tokio::net::TcpStream;
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
type Connection = http2::Connection<MaybeHttpsStream<TokioIo<TcpStream>>, Body, TokioExecutor>;
/// Sends requests over connections of their own.
pub(super) type Http1 = Arc<legacy::Client<HttpsConnector<HttpConnector>, Body>>;

/// What is known of a connection that many share.
pub(super) struct Health {
    /// How many streams the server allows on it.
    pub(super) most_streams: AtomicUsize,
    /// How it ended, once it has and if it was not in peace.
    pub(super) end: OnceLock<Arc<hyper::Error>>,
}

/// What a server turned out to speak.
pub(super) enum Dialed {
    Http2(Sender, Arc<Health>),
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
        server_name: Option<&ServerName<'static>>,
    ) -> Self {
        let name = server
            .authority()
            .map_or("", |authority| authority.as_str());
        let connector = |tls| {
            let builder = HttpsConnectorBuilder::new()
                .with_tls_config(tls)
                .https_or_http();
            match server_name {
                Some(name) => {
                    builder.with_server_name_resolver(FixedServerNameResolver::new(name.clone()))
                }
                None => builder,
            }
        };
        let http1 = legacy::Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .build(connector(tls.clone()).enable_http1().wrap_connector(tcp()));
        Self {
            name: name.into(),
            connector: connector(tls).enable_all_versions().wrap_connector(tcp()),
            http1: Arc::new(http1),
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
        let health = Arc::new(Health {
            most_streams: AtomicUsize::new(connection.current_max_send_streams()),
            end: OnceLock::new(),
        });
        tokio::spawn(drive(
            connection,
            Arc::clone(&health),
            Arc::clone(&self.name),
        ));
        Ok(Dialed::Http2(sender, health))
    }
}

/// Keeps a connection going to its end. Those whose requests are on it learn of that from their own answers.
async fn drive(mut connection: Connection, health: Arc<Health>, server: Arc<str>) {
    let ended = poll_fn(|context| {
        let ended = Pin::new(&mut connection).poll(context);
        // The server says it after the first request, and may change its mind.
        let most = connection.current_max_send_streams();
        health.most_streams.store(most, Ordering::Relaxed);
        ended
    });
    if let Err(error) = ended.await {
        tracing::debug!(%server, error = &error as &dyn Error, "a connection ended");
        let _ = health.end.set(Arc::new(error));
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
