//! A client that shows what it is told to: certificate or none, HTTP/1.1 or 2, one connection at a time.

use std::{net::SocketAddr, sync::Arc};

use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::{
    body::{Bytes, Incoming},
    client::conn::{http1, http2},
};
use hyper_util::rt::{TokioExecutor, TokioIo};
use jiff::Timestamp;
use quadrille_apiserver::{
    auth::User,
    serve::{Authority, Identity},
};
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::{
    CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, pem::PemObject,
};
use tokio::net::TcpStream;
use tokio_rustls::{TlsConnector, client::TlsStream};

use crate::{DEADLINE, Fixture};

pub(crate) type Body = Full<Bytes>;

/// What the client shows in the handshake.
pub(crate) enum Shown<'a> {
    Nothing,
    Admin,
    /// A certificate for this user from another authority.
    From(&'a Authority, User),
}

pub(crate) enum Connection {
    Http1(http1::SendRequest<Body>),
    Http2(http2::SendRequest<Body>),
}

pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) text: String,
}

impl Fixture {
    pub(crate) async fn tls(&self, shown: Shown<'_>, protocol: &[u8]) -> TlsStream<TcpStream> {
        let now = Timestamp::now();
        let identity = match shown {
            Shown::Nothing => None,
            Shown::Admin => Some(self.authority.issue_client(&User::admin(), now).unwrap()),
            Shown::From(authority, user) => Some(authority.issue_client(&user, now).unwrap()),
        };
        connect(
            self.address,
            self.authority.certificate(),
            identity,
            protocol,
        )
        .await
    }

    pub(crate) async fn http1(&self, shown: Shown<'_>) -> Connection {
        let io = TokioIo::new(self.tls(shown, b"http/1.1").await);
        let (sender, connection) = http1::handshake(io).await.unwrap();
        tokio::spawn(connection);
        Connection::Http1(sender)
    }

    pub(crate) async fn http2(&self, shown: Shown<'_>) -> Connection {
        let io = TokioIo::new(self.tls(shown, b"h2").await);
        let (sender, connection) = http2::handshake(TokioExecutor::new(), io).await.unwrap();
        tokio::spawn(connection);
        Connection::Http2(sender)
    }
}

impl Connection {
    pub(crate) async fn send(&mut self, request: Request<Body>) -> Response<Incoming> {
        let answer = async {
            match self {
                Self::Http1(sender) => sender.send_request(request).await,
                Self::Http2(sender) => sender.send_request(request).await,
            }
        };
        let answer = tokio::time::timeout(DEADLINE, answer).await;
        answer.expect("no answer").unwrap()
    }

    pub(crate) async fn ask(&mut self, request: Request<Body>) -> Answer {
        let response = self.send(request).await;
        let code = response.status().as_u16();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        Answer {
            code,
            text: String::from_utf8(body.to_vec()).unwrap(),
        }
    }

    pub(crate) async fn get(&mut self, path: &str) -> Answer {
        self.ask(request("GET", path).body(Body::default()).unwrap())
            .await
    }
}

pub(crate) fn request(method: &str, path: &str) -> http::request::Builder {
    Request::builder()
        .method(method)
        .uri(format!("https://localhost{path}"))
        .header("host", "localhost")
        .header("user-agent", "wire-test/1")
}

async fn connect(
    address: SocketAddr,
    authority: &str,
    identity: Option<Identity>,
    protocol: &[u8],
) -> TlsStream<TcpStream> {
    let der = |pem: &str| CertificateDer::from_pem_slice(pem.as_bytes()).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(der(authority)).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    let mut config = match identity {
        None => builder.with_no_client_auth(),
        Some(identity) => {
            let key = PrivatePkcs8KeyDer::from_pem_slice(identity.key.as_bytes()).unwrap();
            builder
                .with_client_auth_cert(vec![der(&identity.certificate)], PrivateKeyDer::Pkcs8(key))
                .unwrap()
        }
    };
    config.alpn_protocols = vec![protocol.to_vec()];
    let stream = TcpStream::connect(address).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let connecting = TlsConnector::from(Arc::new(config)).connect(name, stream);
    tokio::time::timeout(DEADLINE, connecting)
        .await
        .unwrap()
        .unwrap()
}
