//! When credentials end by themselves.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use jiff::Timestamp;
use rustls_pki_types::{CertificateDer, pem::PemObject as _};
use x509_parser::{certificate::X509Certificate, prelude::FromDer as _};

/// The end of the first certificate in PEM: the one that is ours.
pub(super) fn of_certificate(pem: &str) -> Option<Timestamp> {
    let der = CertificateDer::from_pem_slice(pem.as_bytes()).ok()?;
    let (_, certificate) = X509Certificate::from_der(&der).ok()?;
    Timestamp::from_second(certificate.validity().not_after.timestamp()).ok()
}

/// The `exp` claim of a JSON web token. Nothing is verified: this is our own token, and the claim a hint.
pub(super) fn of_token(token: &str) -> Option<Timestamp> {
    let mut parts = token.split('.');
    let (_, claims, _) = (parts.next()?, parts.next()?, parts.next()?);
    let claims = URL_SAFE_NO_PAD.decode(claims.trim_end_matches('=')).ok()?;
    let claims: serde_json::Value = serde_json::from_slice(&claims).ok()?;
    let seconds = claims.get("exp")?;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a claim with a fraction of a second ends no sooner for it"
    )]
    let seconds = seconds
        .as_i64()
        .or_else(|| seconds.as_f64().map(|seconds| seconds as i64))?;
    Timestamp::from_second(seconds).ok()
}
