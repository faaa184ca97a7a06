//! Whoever asks.

use std::time::Duration;

use anyhow::{Context, bail, ensure};
use bytes::Bytes;
use http::{HeaderMap, Request as HttpRequest, header};
use http_body_util::{BodyExt as _, Full};
use hyper::{
    body::Incoming,
    client::conn::{http1, http2},
};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpStream, UdpSocket},
    time::timeout,
};

use super::{
    backend,
    case::{Expected, Protocol, Request},
    tokens::Issuer,
    xds::Served,
};

/// Nothing here takes long; what does hangs.
const PATIENCE: Duration = Duration::from_secs(20);
/// A message of gRPC: not compressed, five bytes long.
const MESSAGE: &[u8] = b"\0\0\0\0\x05hello";
const GREETING: &[u8] = b"hello";

/// An answer.
pub(super) struct Answer {
    pub(super) status: u16,
    headers: HeaderMap,
    trailers: HeaderMap,
    body: Bytes,
}

pub(super) struct Client<'a> {
    served: &'a Served,
    issuer: &'a Issuer,
}

impl<'a> Client<'a> {
    pub(super) fn new(served: &'a Served, issuer: &'a Issuer) -> Self {
        Self { served, issuer }
    }

    /// Asks, and compares the answer with what is expected.
    pub(super) async fn ask(&self, request: &Request, host: &str) -> anyhow::Result<()> {
        for number in 1..=request.times {
            timeout(PATIENCE, self.ask_once(request, host))
                .await
                .context("no answer")?
                .with_context(|| format!("time {number} of {}", request.times))?;
        }
        Ok(())
    }

    async fn ask_once(&self, request: &Request, host: &str) -> anyhow::Result<()> {
        let port = |port| self.served.port(request.by, port);
        match request.speak {
            Protocol::Tcp => {
                return greet(TcpStream::connect(("127.0.0.1", port(backend::TCP)?)).await?).await;
            }
            Protocol::Udp => return greet_by_datagram(port(backend::UDP)?).await,
            _ => {}
        }
        let stream = TcpStream::connect(("127.0.0.1", port(80)?)).await?;
        let http = self.request(request, host)?;
        let answer = match request.speak {
            Protocol::Grpc => call(stream, http).await?,
            Protocol::Websocket => return upgrade(stream, http, &request.expect).await,
            _ => send(stream, http).await?,
        };
        check(&request.expect, &answer)
    }

    fn request(&self, request: &Request, host: &str) -> anyhow::Result<HttpRequest<Full<Bytes>>> {
        let is_grpc = request.speak == Protocol::Grpc;
        let uri = if is_grpc {
            format!("http://{host}{}", request.path)
        } else {
            request.path.clone()
        };
        let method = if is_grpc { "POST" } else { &request.method };
        let mut built = HttpRequest::builder().method(method).uri(uri);
        if is_grpc {
            built = built
                .header(header::CONTENT_TYPE, "application/grpc")
                .header(header::TE, "trailers");
        } else {
            built = built.header(header::HOST, host);
        }
        if request.speak == Protocol::Websocket {
            built = built
                .header(header::CONNECTION, "Upgrade")
                .header(header::UPGRADE, "websocket")
                .header(header::SEC_WEBSOCKET_VERSION, "13")
                .header(header::SEC_WEBSOCKET_KEY, "dGhlIHNhbXBsZSBub25jZQ==");
        }
        for (name, value) in &request.headers {
            built = built.header(name, value);
        }
        if let Some(token) = &request.token {
            let token = self.issuer.token(token)?;
            built = built.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        let body = if is_grpc {
            Bytes::from_static(MESSAGE)
        } else {
            Bytes::new()
        };
        Ok(built.body(Full::new(body))?)
    }
}

/// Asks somebody on loopback for a path.
pub(super) async fn get(port: u16, path: &str) -> anyhow::Result<Answer> {
    let stream = TcpStream::connect(("127.0.0.1", port)).await?;
    let request = HttpRequest::get(path).header(header::HOST, "localhost");
    send(stream, request.body(Full::new(Bytes::new()))?).await
}

async fn send(stream: TcpStream, request: HttpRequest<Full<Bytes>>) -> anyhow::Result<Answer> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let connection = tokio::spawn(connection);
    let answer = read(sender.send_request(request).await?).await;
    connection.abort();
    answer
}

async fn call(stream: TcpStream, request: HttpRequest<Full<Bytes>>) -> anyhow::Result<Answer> {
    let (mut sender, connection) =
        http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await?;
    let connection = tokio::spawn(connection);
    let answer = read(sender.send_request(request).await?).await;
    connection.abort();
    answer
}

async fn read(response: http::Response<Incoming>) -> anyhow::Result<Answer> {
    let (parts, body) = response.into_parts();
    let body = body.collect().await?;
    let trailers = body.trailers().cloned().unwrap_or_default();
    Ok(Answer {
        status: parts.status.as_u16(),
        headers: parts.headers,
        trailers,
        body: body.to_bytes(),
    })
}

/// Speaks websocket, where that is let through: bytes come back as they were sent.
async fn upgrade(
    stream: TcpStream,
    request: HttpRequest<Full<Bytes>>,
    expected: &Expected,
) -> anyhow::Result<()> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let connection = tokio::spawn(connection.with_upgrades());
    let mut response = sender.send_request(request).await?;
    let status = response.status().as_u16();
    ensure!(
        Some(status) == expected.status,
        "status {status}, expected {:?}",
        expected.status
    );
    if status == 101 {
        let upgraded = hyper::upgrade::on(&mut response).await?;
        greet(TokioIo::new(upgraded)).await?;
    }
    connection.abort();
    Ok(())
}

async fn greet(
    mut stream: impl tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
) -> anyhow::Result<()> {
    stream.write_all(GREETING).await?;
    let mut answer = [0; GREETING.len()];
    stream.read_exact(&mut answer).await?;
    ensure!(answer == GREETING, "other bytes came back");
    Ok(())
}

async fn greet_by_datagram(port: u16) -> anyhow::Result<()> {
    let socket = UdpSocket::bind("127.0.0.1:0").await?;
    socket.connect(("127.0.0.1", port)).await?;
    let mut answer = [0; 64];
    for _ in 0..20 {
        socket.send(GREETING).await?;
        // A datagram may get lost; the next one may not.
        if let Ok(count) = timeout(Duration::from_millis(500), socket.recv(&mut answer)).await {
            ensure!(&answer[..count?] == GREETING, "other bytes came back");
            return Ok(());
        }
    }
    bail!("no datagram came back")
}

fn check(expected: &Expected, answer: &Answer) -> anyhow::Result<()> {
    let body = String::from_utf8_lossy(&answer.body);
    if let Some(status) = expected.status {
        ensure!(
            answer.status == status,
            "status {}, expected {status}: {body}",
            answer.status
        );
    }
    let told = |name: &str| {
        let value = answer
            .headers
            .get(name)
            .or_else(|| answer.trailers.get(name));
        value.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    if let Some(status) = expected.grpc_status {
        let found = told("grpc-status");
        ensure!(
            found.as_deref() == Some(status.to_string().as_str()),
            "gRPC status {found:?}, expected {status}"
        );
    }
    for (name, value) in &expected.headers {
        let found = told(name);
        ensure!(
            found == *value,
            "header {name} is {found:?}, expected {value:?}"
        );
    }
    if expected.seen.is_empty() {
        return Ok(());
    }
    let seen = told("x-seen").unwrap_or_else(|| body.into_owned());
    let seen: Value = serde_json::from_str(&seen).context("the backend did not answer")?;
    for (name, value) in &expected.seen {
        let found = seen.get(name).and_then(Value::as_str);
        ensure!(
            found == value.as_deref(),
            "the backend saw {name} as {found:?}, expected {value:?}"
        );
    }
    Ok(())
}
