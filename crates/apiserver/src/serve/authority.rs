//! The cluster's own certificate authority and what it issues.
//!
//! The authority's key and the service account key are kept, so that kubeconfigs and tokens outlive a
//! restart. Certificates of the server and of the administrator are cheap: every start issues new ones, so
//! none of them gets old. The authority itself is replaced when it could expire before they do.

use std::{
    io,
    net::IpAddr,
    path::{Path, PathBuf},
    sync::Arc,
};

use jiff::Timestamp;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, DnValue,
    ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose, SanType,
};
use rustls::{RootCertStore, ServerConfig, crypto::CryptoProvider};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, pem::PemObject};
use time::OffsetDateTime;
use x509_parser::{certificate::X509Certificate, prelude::FromDer};

use super::private_file;
use crate::auth::{
    AUTHENTICATED, User,
    certificate::ClientCertificates,
    service_account::{ServiceAccountKey, TokenError},
};

const DAY: i64 = 24 * 3600;
const AUTHORITY_DAYS: i64 = 3650;
const ISSUED_DAYS: i64 = 730;
/// Clocks of clients may be behind ours.
const BACKDATED_SECONDS: i64 = 3600;

/// `rcgen` keeps one value per kind of attribute; these two kinds are written the same.
const ORGANIZATION: [fn() -> DnType; 2] = [
    || DnType::OrganizationName,
    || DnType::CustomDnType(vec![2, 5, 4, 10]),
];

/// Why certificates cannot be made or read.
#[derive(Debug, thiserror::Error)]
pub enum AuthorityError {
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// Which one.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file does not hold what it should.
    #[error("{path} is damaged: {why}")]
    Damaged {
        /// Which one.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// A certificate cannot be made.
    #[error("cannot make a certificate")]
    Certificate(#[from] rcgen::Error),
    /// A certificate holds two groups at most.
    #[error("a client certificate can carry two groups at most")]
    TooManyGroups,
    /// TLS does not take the certificates.
    #[error("TLS does not accept the generated certificates")]
    Tls(#[from] rustls::Error),
    /// TLS does not take the authority.
    #[error("TLS does not accept the generated authority")]
    Verifier(#[from] rustls::server::VerifierBuilderError),
    /// The service account key is not one.
    #[error("the service account key is not usable")]
    ServiceAccountKey(#[from] TokenError),
}

/// A certificate and its key, both PEM.
#[derive(Clone)]
pub struct Identity {
    /// The certificate.
    pub certificate: String,
    /// The private key.
    pub key: String,
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Identity").finish_non_exhaustive()
    }
}

/// A certificate authority.
#[derive(Debug)]
pub struct Authority {
    certificate: String,
    issuer: Issuer<'static, KeyPair>,
    service_accounts: Arc<ServiceAccountKey>,
}

impl Authority {
    /// A new authority that nobody keeps.
    pub fn ephemeral(now: Timestamp) -> Result<Self, AuthorityError> {
        let authority = new_authority(now)?;
        Self::from_parts(&authority, ServiceAccountKey::generate()?)
    }

    /// Opens the authority in a folder; makes what is missing or about to expire.
    pub fn open(folder: &Path, now: Timestamp) -> Result<Self, AuthorityError> {
        let [certificate_path, key_path, account_path] =
            ["ca.crt", "ca.key", "service-account.key"].map(|name| folder.join(name));
        private_file::make_folder(folder).map_err(|source| AuthorityError::File {
            path: folder.to_owned(),
            source,
        })?;

        let authority = match (read(&certificate_path)?, read(&key_path)?) {
            (Some(certificate), Some(key)) if lasts(&certificate, &certificate_path, now)? => {
                Identity { certificate, key }
            }
            _ => {
                let authority = new_authority(now)?;
                // The key first: a certificate without its key would look complete.
                write(&key_path, &authority.key)?;
                write(&certificate_path, &authority.certificate)?;
                authority
            }
        };
        let account_key = if let Some(key) = read(&account_path)? {
            key
        } else {
            let key = KeyPair::generate()?.serialize_pem();
            write(&account_path, &key)?;
            key
        };
        let account_key = ServiceAccountKey::from_pem(account_key.as_bytes())
            .map_err(|error| damaged(&account_path, error))?;
        Self::from_parts(&authority, account_key).map_err(|error| match error {
            AuthorityError::Certificate(error) => damaged(&key_path, error),
            other => other,
        })
    }

    fn from_parts(
        authority: &Identity,
        service_accounts: ServiceAccountKey,
    ) -> Result<Self, AuthorityError> {
        let key = KeyPair::from_pem(&authority.key)?;
        Ok(Self {
            issuer: Issuer::from_ca_cert_pem(&authority.certificate, key)?,
            certificate: authority.certificate.clone(),
            service_accounts: Arc::new(service_accounts),
        })
    }

    /// The authority's certificate, PEM: what clients trust, and what `kube-root-ca.crt` holds.
    pub fn certificate(&self) -> &str {
        &self.certificate
    }

    /// The key for tokens of service accounts.
    pub fn service_account_key(&self) -> Arc<ServiceAccountKey> {
        self.service_accounts.clone()
    }

    /// Issues a client certificate: name and groups of the user.
    pub fn issue_client(&self, user: &User, now: Timestamp) -> Result<Identity, AuthorityError> {
        let mut params = leaf(&user.name, now);
        // The server itself adds this one to everybody.
        let groups = user.groups.iter().filter(|group| *group != AUTHENTICATED);
        let mut places = ORGANIZATION.into_iter();
        for group in groups {
            let place = places.next().ok_or(AuthorityError::TooManyGroups)?;
            params
                .distinguished_name
                .push(place(), DnValue::Utf8String(group.clone()));
        }
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.issue(&params)
    }

    /// Issues the server's certificate: for this machine's loopback, the names of the `kubernetes` Service
    /// and the given addresses.
    pub fn issue_server(
        &self,
        addresses: &[IpAddr],
        now: Timestamp,
    ) -> Result<Identity, AuthorityError> {
        let mut params = leaf("quadrille-apiserver", now);
        let names = [
            "localhost",
            "kubernetes",
            "kubernetes.default",
            "kubernetes.default.svc",
            "kubernetes.default.svc.cluster.local",
        ];
        for name in names {
            params
                .subject_alt_names
                .push(SanType::DnsName(name.try_into()?));
        }
        let loopback = [
            IpAddr::from(std::net::Ipv4Addr::LOCALHOST),
            IpAddr::from(std::net::Ipv6Addr::LOCALHOST),
        ];
        let addresses = loopback.iter().chain(addresses);
        params
            .subject_alt_names
            .extend(addresses.map(|address| SanType::IpAddress(*address)));
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        self.issue(&params)
    }

    fn issue(&self, params: &CertificateParams) -> Result<Identity, AuthorityError> {
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &self.issuer)?;
        Ok(Identity {
            certificate: certificate.pem(),
            key: key.serialize_pem(),
        })
    }

    /// The TLS side of the server: its certificate, and how client certificates are read.
    pub fn tls(
        &self,
        server: &Identity,
    ) -> Result<(Arc<ServerConfig>, ClientCertificates), AuthorityError> {
        let provider: Arc<CryptoProvider> = Arc::new(rustls::crypto::ring::default_provider());
        let mut authorities = RootCertStore::empty();
        authorities.add(der(&self.certificate)?)?;
        let clients = ClientCertificates::new(authorities, provider.clone())?;
        let key = PrivatePkcs8KeyDer::from_pem_slice(server.key.as_bytes())
            .map_err(|error| rustls::Error::General(error.to_string()))?;
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_client_cert_verifier(clients.handshake_verifier())
            .with_single_cert(vec![der(&server.certificate)?], PrivateKeyDer::Pkcs8(key))?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok((Arc::new(config), clients))
    }
}

fn der(pem: &str) -> Result<CertificateDer<'static>, rustls::Error> {
    CertificateDer::from_pem_slice(pem.as_bytes())
        .map_err(|error| rustls::Error::General(error.to_string()))
}

fn new_authority(now: Timestamp) -> Result<Identity, AuthorityError> {
    let mut params = leaf("quadrille-ca", now);
    params.not_after = after(now, AUTHORITY_DAYS);
    params.use_authority_key_identifier_extension = false;
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![
        KeyUsagePurpose::KeyCertSign,
        KeyUsagePurpose::CrlSign,
        KeyUsagePurpose::DigitalSignature,
    ];
    let key = KeyPair::generate()?;
    Ok(Identity {
        certificate: params.self_signed(&key)?.pem(),
        key: key.serialize_pem(),
    })
}

fn leaf(common_name: &str, now: Timestamp) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    let name = DnValue::Utf8String(common_name.to_owned());
    params.distinguished_name.push(DnType::CommonName, name);
    params.not_before = at(now.as_second() - BACKDATED_SECONDS);
    params.not_after = after(now, ISSUED_DAYS);
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.use_authority_key_identifier_extension = true;
    params
}

fn after(now: Timestamp, days: i64) -> OffsetDateTime {
    at(now.as_second() + days * DAY)
}

fn at(unix_time: i64) -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp(unix_time).unwrap_or(OffsetDateTime::UNIX_EPOCH)
}

/// Whether an authority outlives what it would issue now.
fn lasts(certificate: &str, path: &Path, now: Timestamp) -> Result<bool, AuthorityError> {
    let der = der(certificate).map_err(|error| damaged(path, error))?;
    let (_, parsed) = X509Certificate::from_der(&der).map_err(|error| damaged(path, error))?;
    Ok(parsed.validity().not_after.timestamp() > now.as_second() + ISSUED_DAYS * DAY)
}

fn damaged(path: &Path, why: impl std::fmt::Display) -> AuthorityError {
    AuthorityError::Damaged {
        path: path.to_owned(),
        why: why.to_string(),
    }
}

fn read(path: &Path) -> Result<Option<String>, AuthorityError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(damaged(path, error)),
        Err(source) => Err(AuthorityError::File {
            path: path.to_owned(),
            source,
        }),
    }
}

fn write(path: &Path, text: &str) -> Result<(), AuthorityError> {
    private_file::write(path, text.as_bytes()).map_err(|source| AuthorityError::File {
        path: path.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests;
