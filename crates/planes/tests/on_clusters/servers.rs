//! Small TLS servers: with any certificates, and an HTTP of their own.

use std::{convert::Infallible, sync::Arc};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full, StreamBody, combinators::UnsyncBoxBody};
use hyper::{body::Incoming, server::conn::http2, service::service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo};
use quadrille_planes::{Access, Proof};
use quadrille_types::data_plane::Sensitive;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, KeyUsagePurpose};
use rustls::{RootCertStore, ServerConfig, crypto::CryptoProvider, server::WebPkiClientVerifier};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
    sync::mpsc,
};
use tokio_rustls::TlsAcceptor;

/// A certificate authority.
pub(crate) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

/// A certificate and its key, in PEM.
pub(crate) struct Identity {
    certificate: String,
    key: String,
}

impl Authority {
    pub(crate) fn new() -> anyhow::Result<Self> {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![
            KeyUsagePurpose::KeyCertSign,
            KeyUsagePurpose::DigitalSignature,
        ];
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
        Ok(Self { issuer })
    }

    /// A certificate for loopback that is valid through the given year.
    pub(crate) fn issue(&self, last_year: i32) -> anyhow::Result<Identity> {
        let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned()])?;
        params.not_before = rcgen::date_time_ymd(2000, 1, 1);
        params.not_after = rcgen::date_time_ymd(last_year + 1, 1, 1);
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &self.issuer)?;
        Ok(Identity {
            certificate: certificate.pem(),
            key: key.serialize_pem(),
        })
    }

    fn roots(&self) -> anyhow::Result<RootCertStore> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(
            self.issuer.pem().as_bytes(),
        )?)?;
        Ok(roots)
    }

    /// Access to a port on loopback, trusting this authority.
    pub(crate) fn access(&self, port: u16, proof: Proof) -> anyhow::Result<Access> {
        Ok(Access {
            server: format!("https://127.0.0.1:{port}/clusters/one").parse()?,
            server_name: None,
            ca_pem: Some(Sensitive::new(self.issuer.pem())),
            proof,
        })
    }
}

impl Identity {
    pub(crate) fn proof(&self) -> Proof {
        Proof::Certificate {
            certificate_pem: Sensitive::new(&*self.certificate),
            key_pem: Sensitive::new(&*self.key),
        }
    }
}

/// What a server shall be like.
pub(crate) struct Server<'a> {
    pub(crate) identity: Identity,
    /// Clients must show a certificate of this authority.
    pub(crate) clients: Option<&'a Authority>,
    pub(crate) protocol: &'static str,
}

impl Server<'_> {
    /// Serves `GET /version` to one request per connection, and tells what the requests were.
    pub(crate) async fn start(self) -> anyhow::Result<(u16, mpsc::UnboundedReceiver<String>)> {
        let acceptor = TlsAcceptor::from(Arc::new(self.tls()?));
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let port = listener.local_addr()?.port();
        let (tell, requests) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, tell) = (acceptor.clone(), tell.clone());
                tokio::spawn(async move {
                    let mut stream = acceptor.accept(stream).await?;
                    let mut request = vec![];
                    while !request.ends_with(b"\r\n\r\n") {
                        request.push(stream.read_u8().await?);
                    }
                    let _ = tell.send(String::from_utf8_lossy(&request).into_owned());
                    stream.write_all(HEAD.as_bytes()).await?;
                    stream.write_all(VERSION.as_bytes()).await?;
                    stream.shutdown().await
                });
            }
        });
        Ok((port, requests))
    }

    /// Serves as many watches at once per connection as it is told, which never see anything, and versions.
    pub(crate) async fn start_http2(self, most_streams: u32) -> anyhow::Result<u16> {
        let acceptor = TlsAcceptor::from(Arc::new(self.tls()?));
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let port = listener.local_addr()?.port();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let acceptor = acceptor.clone();
                tokio::spawn(async move {
                    let stream = acceptor.accept(stream).await?;
                    let served = http2::Builder::new(TokioExecutor::new())
                        .max_concurrent_streams(most_streams)
                        .serve_connection(TokioIo::new(stream), service_fn(answer));
                    served.await.map_err(std::io::Error::other)
                });
            }
        });
        Ok(port)
    }

    fn tls(&self) -> anyhow::Result<ServerConfig> {
        let provider: Arc<CryptoProvider> = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()?;
        let builder = match self.clients {
            None => builder.with_no_client_auth(),
            Some(authority) => {
                let roots = Arc::new(authority.roots()?);
                let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider);
                builder.with_client_cert_verifier(verifier.build()?)
            }
        };
        let certificate = CertificateDer::from_pem_slice(self.identity.certificate.as_bytes())?;
        let key = PrivateKeyDer::from_pem_slice(self.identity.key.as_bytes())?;
        let mut tls = builder.with_single_cert(vec![certificate], key)?;
        tls.alpn_protocols = vec![self.protocol.as_bytes().to_vec()];
        Ok(tls)
    }
}

async fn answer(
    request: Request<Incoming>,
) -> Result<Response<UnsyncBoxBody<Bytes, Infallible>>, Infallible> {
    let is_watch = request.uri().query().is_some();
    let body = if is_watch {
        StreamBody::new(futures::stream::pending()).boxed_unsync()
    } else {
        Full::from(VERSION).boxed_unsync()
    };
    Ok(Response::new(body))
}

const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n";

const VERSION: &str = "{\"major\":\"1\",\"minor\":\"36\",\"gitVersion\":\"v1.36.3\",\"gitCommit\":\"\",\
    \"gitTreeState\":\"\",\"buildDate\":\"\",\"goVersion\":\"\",\"compiler\":\"\",\"platform\":\"\"}";
