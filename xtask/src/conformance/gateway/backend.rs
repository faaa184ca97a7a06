//! What is behind the gateways: it answers with what it got, over HTTP, gRPC and websockets, and over bare TCP and UDP. The
//! keys that tokens are checked with are served beside.

use std::convert::Infallible;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full, StreamBody, combinators::BoxBody};
use hyper::body::{Frame, Incoming};
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto,
};
use ring::digest;
use serde_json::{Map, Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional},
    net::{TcpListener, UdpSocket},
};

/// Ports of bare bytes, by which cases ask for them.
pub(super) const TCP: u16 = 5672;
pub(super) const UDP: u16 = 5353;
/// What RFC 6455 has every server append to a key.
const WEBSOCKET: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

type Body = BoxBody<Bytes, Infallible>;

pub(super) struct Backends {
    http: u16,
    tcp: u16,
    udp: u16,
    keys: u16,
}

impl Backends {
    /// Starts all of them; they end with the runtime.
    pub(super) async fn start(key_set: Value) -> anyhow::Result<Self> {
        let http = TcpListener::bind("127.0.0.1:0").await?;
        let keys = TcpListener::bind("127.0.0.1:0").await?;
        let tcp = TcpListener::bind("127.0.0.1:0").await?;
        let udp = UdpSocket::bind("127.0.0.1:0").await?;
        let started = Self {
            http: http.local_addr()?.port(),
            tcp: tcp.local_addr()?.port(),
            udp: udp.local_addr()?.port(),
            keys: keys.local_addr()?.port(),
        };
        tokio::spawn(serve(http, None));
        tokio::spawn(serve(keys, Some(key_set)));
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = tcp.accept().await {
                tokio::spawn(async move {
                    let mut bytes = [0; 1024];
                    while let Ok(count @ 1..) = stream.read(&mut bytes).await {
                        if stream.write_all(&bytes[..count]).await.is_err() {
                            return;
                        }
                    }
                });
            }
        });
        tokio::spawn(async move {
            let mut bytes = [0; 1024];
            while let Ok((count, from)) = udp.recv_from(&mut bytes).await {
                // Who does not hear it asks again.
                let _ = udp.send_to(&bytes[..count], from).await;
            }
        });
        Ok(started)
    }

    /// Where the keys are.
    pub(super) fn key_set_url(&self) -> String {
        format!("http://127.0.0.1:{}/keys", self.keys)
    }

    /// The port that stands for one of the cell.
    pub(super) fn port_for(&self, port: u64) -> u16 {
        if port == u64::from(TCP) {
            self.tcp
        } else if port == u64::from(UDP) {
            self.udp
        } else {
            self.http
        }
    }
}

async fn serve(listener: TcpListener, fixed: Option<Value>) {
    while let Ok((stream, _)) = listener.accept().await {
        let fixed = fixed.clone();
        tokio::spawn(async move {
            let service = hyper::service::service_fn(move |request| {
                let fixed = fixed.clone();
                async move {
                    Ok::<_, Infallible>(match fixed {
                        Some(answer) => said(&answer),
                        None => answer(request).await,
                    })
                }
            });
            let server = auto::Builder::new(TokioExecutor::new());
            // A caller that goes away is no trouble of ours.
            let _ = server
                .serve_connection_with_upgrades(TokioIo::new(stream), service)
                .await;
        });
    }
}

fn said(value: &Value) -> Response<Body> {
    let body = Full::new(Bytes::from(value.to_string())).boxed();
    let mut response = Response::new(body);
    let kind = header::HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

async fn answer(request: Request<Incoming>) -> Response<Body> {
    let is = |name, word| {
        let value = request.headers().get(name);
        let value = value.and_then(|value: &header::HeaderValue| value.to_str().ok());
        value.is_some_and(|value| value.to_ascii_lowercase().starts_with(word))
    };
    if is(header::UPGRADE, "websocket") {
        return upgraded(request);
    }
    let seen = seen(&request);
    if is(header::CONTENT_TYPE, "application/grpc") {
        return called(request, &seen).await;
    }
    said(&seen)
}

/// What came, as cases ask for it.
fn seen(request: &Request<Incoming>) -> Value {
    let path = request.uri().path_and_query();
    let mut seen = Map::from_iter([
        ("method".to_owned(), json!(request.method().as_str())),
        (
            "path".to_owned(),
            json!(path.map_or("", |path| path.as_str())),
        ),
    ]);
    for (name, value) in request.headers() {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        seen.insert(name.as_str().to_owned(), json!(value));
    }
    if let Some(host) = request.uri().authority() {
        seen.insert("host".to_owned(), json!(host.as_str()));
    }
    Value::Object(seen)
}

/// Agrees to speak websocket, and gives every byte back.
fn upgraded(mut request: Request<Incoming>) -> Response<Body> {
    let key = request.headers().get(header::SEC_WEBSOCKET_KEY);
    let key = key.map(header::HeaderValue::as_bytes).unwrap_or_default();
    let joined = [key, WEBSOCKET.as_bytes()].concat();
    let accepted = digest::digest(&digest::SHA1_FOR_LEGACY_USE_ONLY, &joined);
    let upgrading = hyper::upgrade::on(&mut request);
    tokio::spawn(async move {
        let Ok(upgraded) = upgrading.await else {
            return;
        };
        let mut upgraded = TokioIo::new(upgraded);
        let (mut near, mut far) = tokio::io::duplex(1024);
        tokio::spawn(async move {
            let mut bytes = [0; 1024];
            while let Ok(count @ 1..) = far.read(&mut bytes).await {
                if far.write_all(&bytes[..count]).await.is_err() {
                    return;
                }
            }
        });
        // It ends when the caller goes.
        let _ = copy_bidirectional(&mut upgraded, &mut near).await;
    });
    let mut response = Response::new(Full::new(Bytes::new()).boxed());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(
        header::UPGRADE,
        header::HeaderValue::from_static("websocket"),
    );
    headers.insert(
        header::CONNECTION,
        header::HeaderValue::from_static("Upgrade"),
    );
    let accepted = BASE64_STANDARD.encode(accepted.as_ref());
    if let Ok(accepted) = accepted.parse() {
        headers.insert(header::SEC_WEBSOCKET_ACCEPT, accepted);
    }
    response
}

/// Answers a call with its own message. What was seen goes into a header, since messages are not ours to read.
async fn called(request: Request<Incoming>, seen: &Value) -> Response<Body> {
    let message = request.into_body().collect().await;
    let message = message
        .map(http_body_util::Collected::to_bytes)
        .unwrap_or_default();
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", header::HeaderValue::from_static("0"));
    let frames = [
        Ok::<_, Infallible>(Frame::data(message)),
        Ok(Frame::trailers(trailers)),
    ];
    let body = StreamBody::new(futures::stream::iter(frames)).boxed();
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    let kind = header::HeaderValue::from_static("application/grpc");
    headers.insert(header::CONTENT_TYPE, kind);
    if let Ok(seen) = seen.to_string().parse() {
        headers.insert("x-seen", seen);
    }
    response
}
