//! A small HTTPS client that sends and returns bytes as they are: what the differential suite compares
//! and the benches measure must not pass through anybody's typed client.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use anyhow::{Context, Result, bail};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::{
    body::Incoming,
    client::conn::http1::{self, SendRequest},
};
use hyper_util::rt::TokioIo;
use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject},
};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// How long one request may take before the server counts as hanging.
const DEADLINE: Duration = Duration::from_mins(1);

/// Who we are to the server.
pub(crate) enum Identity {
    /// `Authorization: Bearer`.
    Token(String),
    /// A client certificate and its key, both PEM.
    Certificate {
        /// The certificate chain.
        certificate: String,
        /// Its private key.
        key: String,
    },
}

/// A server that can be reached over HTTPS.
#[derive(Clone)]
pub(crate) struct Endpoint {
    address: SocketAddr,
    tls: TlsConnector,
    token: Option<Arc<str>>,
}

/// A whole answer.
pub(crate) struct Answer {
    /// HTTP status.
    pub(crate) status: u16,
    /// All headers.
    pub(crate) headers: HeaderMap,
    /// The body as it came.
    pub(crate) body: Bytes,
}

impl Endpoint {
    /// An endpoint at `address` whose certificate is signed by `authority` (PEM).
    pub(crate) fn new(address: SocketAddr, authority: &str, identity: Identity) -> Result<Self> {
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(authority.as_bytes()) {
            roots.add(certificate?)?;
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots);
        let (config, token) = match identity {
            Identity::Token(token) => (builder.with_no_client_auth(), Some(token.into())),
            Identity::Certificate { certificate, key } => {
                let chain = CertificateDer::pem_slice_iter(certificate.as_bytes())
                    .collect::<Result<Vec<_>, _>>()?;
                let key = PrivateKeyDer::from_pem_slice(key.as_bytes())?;
                (builder.with_client_auth_cert(chain, key)?, None)
            }
        };
        Ok(Self {
            address,
            tls: TlsConnector::from(Arc::new(config)),
            token,
        })
    }

    /// The endpoint that the current context of a kubeconfig names.
    pub(crate) fn from_kubeconfig(text: &str) -> Result<Self> {
        let config: Value = serde_saphyr::from_str(text).context("read a kubeconfig")?;
        let named = |list: &str, name: &Value, key: &str| {
            let entries = config[list].as_array().cloned().unwrap_or_default();
            let entry = entries.into_iter().find(|entry| entry["name"] == *name);
            entry.map(|entry| entry[key].clone()).unwrap_or_default()
        };
        let context = named("contexts", &config["current-context"], "context");
        let cluster = named("clusters", &context["cluster"], "cluster");
        let user = named("users", &context["user"], "user");
        let server = cluster["server"]
            .as_str()
            .context("no server in the kubeconfig")?;
        let address = server
            .trim_start_matches("https://")
            .trim_end_matches('/')
            .parse()?;
        let identity = match user["token"].as_str() {
            Some(token) => Identity::Token(token.to_owned()),
            None => Identity::Certificate {
                certificate: pem(&user["client-certificate-data"])?,
                key: pem(&user["client-key-data"])?,
            },
        };
        Self::new(
            address,
            &pem(&cluster["certificate-authority-data"])?,
            identity,
        )
    }

    /// Opens a connection.
    pub(crate) async fn connect(&self) -> Result<Connection> {
        let stream = TcpStream::connect(self.address).await?;
        stream.set_nodelay(true)?;
        let name = ServerName::from(self.address.ip());
        let stream = self
            .tls
            .connect(name, stream)
            .await
            .context("TLS handshake")?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(async move {
            // A broken connection shows as an error of the request that used it.
            let _ = connection.await;
        });
        Ok(Connection {
            sender,
            host: self.address.to_string(),
            token: self.token.clone(),
        })
    }
}

fn pem(data: &Value) -> Result<String> {
    let data = data
        .as_str()
        .context("the kubeconfig lacks inline certificate data")?;
    Ok(String::from_utf8(BASE64_STANDARD.decode(data)?)?)
}

/// One HTTP/1.1 connection; requests go one after the other.
pub(crate) struct Connection {
    sender: SendRequest<Full<Bytes>>,
    host: String,
    token: Option<Arc<str>>,
}

impl Connection {
    /// Whether the server has closed it.
    pub(crate) fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }

    /// Sends a request and returns the answer's head with its body still to be read.
    pub(crate) async fn open(
        &mut self,
        method: Method,
        target: &str,
        headers: &[(&str, &str)],
        body: Bytes,
    ) -> Result<Response<Incoming>> {
        let mut request = Request::builder()
            .method(method)
            .uri(target)
            .header("Host", &self.host);
        if let Some(token) = &self.token {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request
            .body(Full::new(body))
            .context("building a request")?;
        self.sender
            .ready()
            .await
            .context("the connection is gone")?;
        match tokio::time::timeout(DEADLINE, self.sender.send_request(request)).await {
            Ok(answer) => Ok(answer?),
            Err(_) => bail!("no answer to {target} within {DEADLINE:?}"),
        }
    }

    /// Sends a request and reads the whole answer.
    pub(crate) async fn send(
        &mut self,
        method: Method,
        target: &str,
        headers: &[(&str, &str)],
        body: Bytes,
    ) -> Result<Answer> {
        let answer = self.open(method, target, headers, body).await?;
        let (head, body) = answer.into_parts();
        let body = match tokio::time::timeout(DEADLINE, body.collect()).await {
            Ok(body) => body?.to_bytes(),
            Err(_) => bail!("the body of {target} did not end within {DEADLINE:?}"),
        };
        Ok(Answer {
            status: head.status.as_u16(),
            headers: head.headers,
            body,
        })
    }
}
