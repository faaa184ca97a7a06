//! Connections: accept, TLS, HTTP/1.1 or 2, and a stop that lets requests finish.

use std::{
    convert::Infallible,
    io,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use axum::{Router, body::Body};
use http::StatusCode;
use hyper::{
    body::Incoming,
    server::conn::{http1, http2},
    service::service_fn,
};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls_pki_types::UnixTime;
use tokio::{
    io::AsyncWriteExt,
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tower::ServiceExt;

use super::limits::Limits;
use crate::auth::certificate::{ClientCertificates, PeerCertificate};

/// Everything that a connection needs.
#[derive(Clone)]
pub(super) struct Endpoint {
    pub(super) router: Router,
    pub(super) tls: TlsAcceptor,
    pub(super) clients: ClientCertificates,
    pub(super) limits: Limits,
    /// Cancelled: no new connections, no new requests.
    pub(super) stopping: CancellationToken,
    /// Cancelled: what is still open is cut.
    pub(super) cutting: CancellationToken,
    pub(super) connections: TaskTracker,
}

/// How long to wait when the machine is out of file descriptors or memory.
const BREATH: Duration = Duration::from_millis(100);

/// Accepts until told to stop.
pub(super) async fn accept(endpoint: Endpoint, listener: TcpListener) {
    let free = Arc::new(Semaphore::new(endpoint.limits.connections));
    loop {
        let accepted = tokio::select! {
            biased;
            () = endpoint.stopping.cancelled() => return,
            accepted = next(&listener, &free) => accepted,
        };
        match accepted {
            Ok((stream, peer, permit)) => {
                let connection = connection(endpoint.clone(), stream, peer, permit);
                endpoint.connections.spawn(connection);
            }
            Err(error) if belongs_to_one_connection(&error) => {}
            Err(error) => {
                tracing::warn!(%error, "cannot accept connections; trying again");
                tokio::time::sleep(BREATH).await;
            }
        }
    }
}

async fn next(
    listener: &TcpListener,
    free: &Arc<Semaphore>,
) -> io::Result<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
    let permit = free.clone().acquire_owned().await;
    let permit = permit.map_err(io::Error::other)?;
    let (stream, peer) = listener.accept().await?;
    Ok((stream, peer, permit))
}

fn belongs_to_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
    )
}

async fn connection(
    endpoint: Endpoint,
    stream: TcpStream,
    peer: SocketAddr,
    _permit: OwnedSemaphorePermit,
) {
    let served = async {
        let Some(stream) = handshake(&endpoint, stream, peer).await else {
            return;
        };
        serve(&endpoint, stream, peer).await;
    };
    tokio::select! {
        () = endpoint.cutting.cancelled() => {}
        () = served => {}
    }
}

async fn handshake(
    endpoint: &Endpoint,
    mut stream: TcpStream,
    peer: SocketAddr,
) -> Option<TlsStream<TcpStream>> {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%peer, %error, "a connection is gone before it began");
        return None;
    }
    let shaken = timeout(endpoint.limits.handshake_time, async {
        let mut first = [0_u8; 1];
        stream.peek(&mut first).await?;
        if first[0].is_ascii_uppercase() {
            // A TLS handshake starts with 0x16, a plain HTTP request with the letter of a method.
            stream.write_all(PLAIN_HTTP_ANSWER).await?;
            stream.shutdown().await?;
            return Err(io::Error::other("plain HTTP on the HTTPS port"));
        }
        endpoint.tls.accept(stream).await
    });
    let reason = tokio::select! {
        biased;
        () = endpoint.stopping.cancelled() => return None,
        shaken = shaken => match shaken {
            Ok(Ok(stream)) => return Some(stream),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "it took too long".to_owned(),
        },
    };
    tracing::debug!(%peer, reason, "TLS handshake failed");
    None
}

const PLAIN_HTTP_ANSWER: &[u8] =
    b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";

async fn serve(endpoint: &Endpoint, stream: TlsStream<TcpStream>, peer: SocketAddr) {
    let (_, session) = stream.get_ref();
    let http2 = session.alpn_protocol() == Some(b"h2");
    let certificate = endpoint
        .clients
        .read(session.peer_certificates(), UnixTime::now());
    let certificate = Arc::new(certificate);
    let state = Arc::new(Talk::default());

    let service = {
        let (router, state) = (endpoint.router.clone(), state.clone());
        service_fn(move |mut request: http::Request<Incoming>| {
            state.asked.store(true, Ordering::Relaxed);
            let extensions = request.extensions_mut();
            extensions.insert::<Arc<PeerCertificate>>(certificate.clone());
            extensions.insert(axum::extract::ConnectInfo(peer));
            let answer = router.clone().oneshot(request.map(Body::new));
            let state = state.clone();
            async move {
                let answer = answer.await.unwrap_or_else(|never| match never {});
                if http2 && answer.status() == StatusCode::UNAUTHORIZED {
                    state.unwelcome.cancel();
                }
                Ok::<_, Infallible>(answer)
            }
        })
    };
    let io = TokioIo::new(stream);
    let result = if http2 {
        let connection = http2_builder(&endpoint.limits).serve_connection(io, service);
        drive(
            endpoint,
            connection,
            &state,
            http2::Connection::graceful_shutdown,
        )
        .await
    } else {
        let connection = http1_builder(&endpoint.limits)
            .serve_connection(io, service)
            .with_upgrades();
        drive(
            endpoint,
            connection,
            &state,
            http1::UpgradeableConnection::graceful_shutdown,
        )
        .await
    };
    if let Err(error) = result {
        tracing::debug!(%peer, %error, "connection ended");
    }
}

/// What is known about one connection.
#[derive(Default)]
struct Talk {
    /// Whether there ever was a request.
    asked: AtomicBool,
    /// Cancelled when credentials were refused: strangers do not keep a multiplexed connection.
    unwelcome: CancellationToken,
}

/// Runs a connection to its end; asks it to finish when the server stops or the client is unwelcome; lets go
/// of clients that connect and then say nothing.
async fn drive<C>(
    endpoint: &Endpoint,
    connection: C,
    state: &Talk,
    finish: impl Fn(std::pin::Pin<&mut C>),
) -> hyper::Result<()>
where
    C: Future<Output = hyper::Result<()>>,
{
    let mut connection = std::pin::pin!(connection);
    let mut silent = std::pin::pin!(tokio::time::sleep(endpoint.limits.handshake_time));
    let (mut waiting, mut finishing) = (true, false);
    loop {
        tokio::select! {
            result = connection.as_mut() => return result,
            () = endpoint.stopping.cancelled(), if !finishing => {
                finishing = true;
                finish(connection.as_mut());
            }
            () = state.unwelcome.cancelled(), if !finishing => {
                finishing = true;
                finish(connection.as_mut());
            }
            () = silent.as_mut(), if waiting => {
                if !state.asked.load(Ordering::Relaxed) {
                    return Ok(());
                }
                waiting = false;
            }
        }
    }
}

fn http1_builder(limits: &Limits) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header_time)
        .max_buf_size(usize::try_from(limits.header_bytes).unwrap_or(usize::MAX));
    builder
}

fn http2_builder(limits: &Limits) -> http2::Builder<TokioExecutor> {
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .max_header_list_size(limits.header_bytes)
        .max_concurrent_streams(limits.streams)
        .initial_stream_window_size(256 * 1024)
        .initial_connection_window_size(16 * 1024 * 1024)
        // Finds peers that vanished without a word.
        .keep_alive_interval(Duration::from_secs(30))
        .keep_alive_timeout(Duration::from_secs(30));
    builder
}
