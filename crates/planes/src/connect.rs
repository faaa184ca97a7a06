//! From an [`Access`] to a client.
//!
//! The client speaks HTTP/2 where the server does: all watches and requests of a plane share one connection
//! (see `lanes`). A silent connection is noticed by pings; there is no read timeout, because a watch may be silent
//! for long, and no retry, because who calls knows better when to. A request's deadline is its caller's affair
//! ([`crate::Plane::call`]). How much of an answer is taken is bounded in `bounded`, redirects are not followed.

mod bounded;
mod dial;
mod lanes;

use std::{io, sync::Arc};

use http::{HeaderValue, Request, header};
use hyper_rustls::ConfigBuilderExt as _;
use kube::{
    Client,
    client::{Body, ConfigExt as _, middleware::BaseUriLayer},
};
use rustls::{ClientConfig, RootCertStore, crypto::CryptoProvider};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject as _};
use tower::ServiceBuilder;

use crate::access::{Access, Proof};
pub(crate) use bounded::AnswerTooLarge;
use lanes::Lanes;

const USER_AGENT: HeaderValue =
    HeaderValue::from_static(concat!("quadrille/", env!("CARGO_PKG_VERSION")));

/// Why no client could be made. Nothing was sent yet.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// A certificate or key is not in PEM.
    #[error("read the {what} of a plane")]
    Pem {
        /// Which one.
        what: &'static str,
        /// How it is broken.
        #[source]
        source: rustls_pki_types::pem::Error,
    },
    /// A certificate or key does not do.
    #[error("the {what} of the plane cannot be used")]
    Unusable {
        /// Which one.
        what: &'static str,
        /// Why it does not do.
        #[source]
        source: rustls::Error,
    },
    /// The system has no authorities to trust, and the plane names none.
    #[error("the system's certificate authorities cannot be found")]
    NoAuthorities(#[source] io::Error),
    /// The name that the server shall have is no name.
    #[error("the TLS server name of the plane is no host name")]
    ServerName,
    /// The token cannot be sent.
    #[error("the token of the plane cannot be sent")]
    Token,
}

/// Makes a client; the connection itself is made with the first request, within a runtime.
pub fn connect(access: &Access) -> Result<Client, ConnectError> {
    let server_name = match &access.server_name {
        None => None,
        Some(name) => {
            Some(ServerName::try_from(name.clone()).map_err(|_| ConnectError::ServerName)?)
        }
    };
    let authorization = authorization(access)?;
    let dialer = dial::Dialer::new(access.server.clone(), tls(access)?, server_name.as_ref());
    let lanes = Arc::new(Lanes::new(dialer));
    let service = ServiceBuilder::new()
        .map_request(move |mut request: Request<Body>| {
            let headers = request.headers_mut();
            headers.insert(header::USER_AGENT, USER_AGENT);
            if let Some(authorization) = &authorization {
                headers.insert(header::AUTHORIZATION, authorization.clone());
            }
            request
        })
        .layer(BaseUriLayer::new(access.server.clone()))
        .service(tower::service_fn(move |request| {
            let lanes = Arc::clone(&lanes);
            async move { lanes.send(request).await }
        }));
    Ok(Client::new(service, "default").with_valid_until(access.expires()))
}

/// The same for a configuration of the one who runs us, which may read files and run programs for its credentials:
/// for the control plane's own cluster, never for what a plane's object or Secret says.
pub fn over(config: &kube::Config) -> Result<Client, kube::Error> {
    let server_name = config
        .tls_server_name
        .clone()
        .and_then(|name| ServerName::try_from(name).ok());
    let dialer = dial::Dialer::new(
        config.cluster_url.clone(),
        config.rustls_client_config()?,
        server_name.as_ref(),
    );
    let lanes = Arc::new(Lanes::new(dialer));
    let service = ServiceBuilder::new()
        .map_request(move |mut request: Request<Body>| {
            request.headers_mut().insert(header::USER_AGENT, USER_AGENT);
            request
        })
        .layer(config.base_uri_layer())
        .option_layer(config.auth_layer()?)
        .layer(config.extra_headers_layer()?)
        .service(tower::service_fn(move |request| {
            let lanes = Arc::clone(&lanes);
            async move { lanes.send(request).await }
        }));
    Ok(Client::new(service, config.default_namespace.clone()))
}

/// The header that proves who we are, marked so that nobody prints it.
fn authorization(access: &Access) -> Result<Option<HeaderValue>, ConnectError> {
    let Proof::Token(token) = &access.proof else {
        return Ok(None);
    };
    let mut value = HeaderValue::from_str(&format!("Bearer {}", token.reveal()))
        .map_err(|_| ConnectError::Token)?;
    value.set_sensitive(true);
    Ok(Some(value))
}

/// The one provider of cryptography, named here instead of set for the whole process.
fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

fn tls(access: &Access) -> Result<ClientConfig, ConnectError> {
    let unusable = |what| move |source| ConnectError::Unusable { what, source };
    let builder = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(unusable("TLS versions"))?;
    let builder = match &access.ca_pem {
        Some(pem) => {
            let what = "certificate authority";
            let mut roots = RootCertStore::empty();
            for certificate in certificates(what, pem.reveal())? {
                roots.add(certificate).map_err(unusable(what))?;
            }
            builder.with_root_certificates(roots)
        }
        None => builder
            .with_native_roots()
            .map_err(ConnectError::NoAuthorities)?,
    };
    let Proof::Certificate {
        certificate_pem,
        key_pem,
    } = &access.proof
    else {
        return Ok(builder.with_no_client_auth());
    };
    let what = "client certificate";
    let key = PrivateKeyDer::from_pem_slice(key_pem.reveal().as_bytes()).map_err(|source| {
        let what = "client key";
        ConnectError::Pem { what, source }
    })?;
    builder
        .with_client_auth_cert(certificates(what, certificate_pem.reveal())?, key)
        .map_err(unusable(what))
}

fn certificates(
    what: &'static str,
    pem: &str,
) -> Result<Vec<CertificateDer<'static>>, ConnectError> {
    CertificateDer::pem_slice_iter(pem.as_bytes())
        .collect::<Result<_, _>>()
        .map_err(|source| ConnectError::Pem { what, source })
}
