//! Errors below HTTP: connections, and what TLS says of certificates.

use std::error::Error;

use rustls::CertificateError;

use super::{Trouble, chain};
use crate::connect::AnswerTooLarge;

/// The class of an error that came from the transport.
pub(super) fn classify(error: &(dyn Error + 'static)) -> Trouble {
    for cause in chain::chain(error) {
        if let Some(error) = cause.downcast_ref::<rustls::Error>()
            && let Some(trouble) = of_tls(error)
        {
            return trouble;
        }
        if let Some(error) = cause.downcast_ref::<AnswerTooLarge>() {
            return Trouble::Unreadable(error.to_string());
        }
        // HTTP/2 keeps only the words of an alert that comes after the handshake, as those of TLS 1.3 do.
        if let Some(trouble) = of_alert_in_words(&cause.to_string()) {
            return trouble;
        }
        // A layer of the client passes on what it got as an error of the client.
        if let Some(kube::Error::Api(status)) = cause.downcast_ref::<kube::Error>() {
            return status.clone().into();
        }
    }
    Trouble::Unreachable(chain::words(error))
}

fn of_tls(error: &rustls::Error) -> Option<Trouble> {
    match error {
        rustls::Error::InvalidCertificate(
            CertificateError::Expired | CertificateError::ExpiredContext { .. },
        ) => Some(Trouble::CertificateExpired(
            "the server's certificate has expired".to_owned(),
        )),
        rustls::Error::InvalidCertificate(why) => Some(Trouble::CertificateUntrusted(format!(
            "the server's certificate is not trusted: {why}"
        ))),
        rustls::Error::NoCertificatesPresented => Some(Trouble::CertificateUntrusted(
            "the server shows no certificate".to_owned(),
        )),
        rustls::Error::AlertReceived(alert) => of_alert(&format!("{alert:?}")),
        _ => None,
    }
}

fn of_alert_in_words(text: &str) -> Option<Trouble> {
    let (_, alert) = text.split_once("received fatal alert: ")?;
    let end = alert.find(|c: char| !c.is_ascii_alphanumeric());
    of_alert(&alert[..end.unwrap_or(alert.len())])
}

/// What the server says about our certificate when it ends the connection.
fn of_alert(alert: &str) -> Option<Trouble> {
    let words = format!("the server does not accept our certificate: {alert}");
    match alert {
        "CertificateExpired" => Some(Trouble::CertificateExpired(words)),
        "BadCertificate"
        | "UnsupportedCertificate"
        | "CertificateRevoked"
        | "CertificateUnknown"
        | "UnknownCA"
        | "AccessDenied"
        // Said of an authority of the right name with another key.
        | "DecryptError"
        | "CertificateRequired" => Some(Trouble::CertificateUntrusted(words)),
        _ => None,
    }
}
