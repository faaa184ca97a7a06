//! Client certificates: the common name is the user, organizations are groups.
//!
//! The handshake only makes the client prove that it holds the key of the certificate it shows. Whether we
//! trust that certificate is decided after it, so that a stranger gets a readable 401 (or may still use a
//! token) rather than a broken connection.

use std::{collections::BTreeMap, fmt::Write, sync::Arc};

use rustls::{
    DigitallySignedStruct, DistinguishedName, RootCertStore, SignatureScheme,
    client::danger::HandshakeSignatureValid,
    crypto::CryptoProvider,
    server::{
        VerifierBuilderError, WebPkiClientVerifier,
        danger::{ClientCertVerified, ClientCertVerifier},
    },
};
use rustls_pki_types::{CertificateDer, UnixTime};
use sha2::{Digest, Sha256};
use x509_parser::{certificate::X509Certificate, prelude::FromDer};

use super::{CREDENTIAL_ID, User};

/// The subject attribute that carries a user's uid.
const UID_ATTRIBUTE: &str = "1.3.6.1.4.1.57683.2";

/// What a connection's client certificate says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PeerCertificate {
    /// The client showed none.
    Absent,
    /// Issued by our authority.
    Trusted {
        /// Whom it stands for.
        user: User,
        /// Unix time after which it is void; a connection may live longer than that.
        not_after: u64,
    },
    /// Not acceptable, and why.
    Untrusted(String),
}

/// Reads and checks client certificates against a set of authorities.
#[derive(Clone, Debug)]
pub struct ClientCertificates {
    webpki: Arc<dyn ClientCertVerifier>,
}

impl ClientCertificates {
    /// Trusts what these authorities issue.
    pub fn new(
        authorities: RootCertStore,
        provider: Arc<CryptoProvider>,
    ) -> Result<Self, VerifierBuilderError> {
        let webpki = WebPkiClientVerifier::builder_with_provider(Arc::new(authorities), provider)
            .allow_unauthenticated()
            .build()?;
        Ok(Self { webpki })
    }

    /// The verifier for TLS handshakes: any certificate passes whose key the client holds.
    pub fn handshake_verifier(&self) -> Arc<dyn ClientCertVerifier> {
        Arc::new(PossessionVerifier(self.webpki.clone()))
    }

    /// Reads the chain that a client showed in its handshake.
    pub fn read(&self, chain: Option<&[CertificateDer<'_>]>, now: UnixTime) -> PeerCertificate {
        let Some([certificate, intermediates @ ..]) = chain else {
            return PeerCertificate::Absent;
        };
        if let Err(error) = self
            .webpki
            .verify_client_cert(certificate, intermediates, now)
        {
            return PeerCertificate::Untrusted(error.to_string());
        }
        match X509Certificate::from_der(certificate) {
            Ok((_, parsed)) => identity(certificate, &parsed),
            Err(error) => PeerCertificate::Untrusted(error.to_string()),
        }
    }
}

fn identity(der: &[u8], certificate: &X509Certificate<'_>) -> PeerCertificate {
    let subject = certificate.subject();
    let Some(name) = subject
        .iter_common_name()
        .find_map(|name| name.as_str().ok())
        .filter(|name| !name.is_empty())
    else {
        // As in Kubernetes: a certificate without a name is no opinion about who this is.
        return PeerCertificate::Absent;
    };
    let groups = subject
        .iter_organization()
        .filter_map(|group| group.as_str().ok().map(str::to_owned))
        .collect();
    let uid = subject
        .iter_attributes()
        .find(|attribute| attribute.attr_type().to_id_string() == UID_ATTRIBUTE)
        .and_then(|attribute| attribute.as_str().ok())
        .unwrap_or_default();
    let fingerprint =
        Sha256::digest(der)
            .iter()
            .fold("X509SHA256=".to_owned(), |mut text, byte| {
                // Writing to a String cannot fail.
                let _ = write!(text, "{byte:02x}");
                text
            });
    PeerCertificate::Trusted {
        user: User {
            name: name.to_owned(),
            uid: uid.to_owned(),
            groups,
            extra: BTreeMap::from([(CREDENTIAL_ID.to_owned(), vec![fingerprint])]),
        }
        .authenticated(),
        not_after: u64::try_from(certificate.validity().not_after.timestamp()).unwrap_or(0),
    }
}

/// Checks signatures (the client holds the key), not trust.
#[derive(Debug)]
struct PossessionVerifier(Arc<dyn ClientCertVerifier>);

impl ClientCertVerifier for PossessionVerifier {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.0.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}
