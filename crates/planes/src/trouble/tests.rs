//! Tests of [`super`].

use std::{error::Error, fmt, io, sync::Arc};

use kube::core::response::StatusDetails;
use rustls::{AlertDescription, CertificateError};

use super::*;

fn status(code: u16, reason: &str, message: &str) -> Status {
    Status::failure(message, reason).with_code(code)
}

fn with_details(code: u16, reason: &str, name: &str, retry_after: u32) -> Status {
    status(code, reason, "words").with_details(StatusDetails {
        name: name.to_owned(),
        group: String::new(),
        kind: String::new(),
        uid: String::new(),
        causes: vec![StatusCause {
            reason: "FieldValueInvalid".to_owned(),
            message: "too small".to_owned(),
            field: "spec.replicas".to_owned(),
        }],
        retry_after_seconds: retry_after,
    })
}

#[test]
fn answers_are_told_apart_by_code_and_reason() {
    for (status, reason, retryable, about_plane) in [
        (
            status(401, "Unauthorized", ""),
            "CredentialsInvalid",
            true,
            true,
        ),
        (status(403, "Forbidden", ""), "Forbidden", false, false),
        (
            with_details(404, "NotFound", "web", 0),
            "NotFound",
            false,
            false,
        ),
        (
            status(404, "Failed to parse error data", "404 page not found"),
            "NotServed",
            true,
            false,
        ),
        (
            with_details(404, "NotFound", "", 0),
            "NotServed",
            true,
            false,
        ),
        (
            status(409, "AlreadyExists", ""),
            "AlreadyExists",
            false,
            false,
        ),
        (status(409, "Conflict", ""), "Conflict", false, false),
        (status(410, "Expired", ""), "Gone", false, false),
        (status(410, "Gone", ""), "Gone", false, false),
        (status(0, "Expired", ""), "Gone", false, false),
        (status(422, "Invalid", ""), "Invalid", false, false),
        (status(400, "BadRequest", ""), "Invalid", false, false),
        (
            status(413, "RequestEntityTooLarge", ""),
            "TooLarge",
            false,
            false,
        ),
        (
            status(500, "", "etcdserver: request is too large"),
            "TooLarge",
            false,
            false,
        ),
        (
            status(
                500,
                "",
                "rpc error: code = ResourceExhausted desc = trying to send message larger than max (9 vs. 8)",
            ),
            "TooLarge",
            false,
            false,
        ),
        (
            status(
                500,
                "InternalError",
                "failed to create typed patch object (a/b; /v1, Kind=ConfigMap): .dataa: field not declared in schema",
            ),
            "Invalid",
            false,
            false,
        ),
        (status(429, "TooManyRequests", ""), "Throttled", true, false),
        (
            status(500, "InternalError", "failed calling webhook"),
            "ServerFault",
            true,
            false,
        ),
        (
            status(500, "", "etcdserver: leader changed"),
            "ServerFault",
            true,
            true,
        ),
        (
            status(502, "Failed to parse error data", "<html>"),
            "ServerFault",
            true,
            true,
        ),
        (
            status(503, "ServiceUnavailable", ""),
            "ServerFault",
            true,
            true,
        ),
        (status(504, "Timeout", ""), "ServerFault", true, true),
        (status(405, "MethodNotAllowed", ""), "Refused", false, false),
        (status(418, "", ""), "Refused", false, false),
    ] {
        let trouble = Trouble::from(kube::Error::Api(status.clone().boxed()));
        assert_eq!(trouble.reason(), reason, "{status:?}");
        assert_eq!(trouble.is_retryable(), retryable, "{status:?}");
        assert_eq!(trouble.is_about_plane(), about_plane, "{status:?}");
        assert_eq!(trouble.status(), Some(&status));
    }
}

#[test]
fn causes_stay_at_hand() {
    let trouble = Trouble::from(with_details(422, "Invalid", "web", 0));
    assert_eq!(trouble.causes()[0].field, "spec.replicas");
    assert!(Trouble::Unreachable(String::new()).causes().is_empty());
}

#[test]
fn a_throttled_caller_knows_how_long_to_stay_away() {
    let after = |status: Status| Trouble::from(status).retry_after();
    let seconds = |seconds| Some(Duration::from_secs(seconds));
    assert_eq!(
        after(with_details(429, "TooManyRequests", "", 7)),
        seconds(7)
    );
    assert_eq!(after(status(429, "", "Too many requests")), seconds(1));
    assert_eq!(
        after(with_details(503, "ServiceUnavailable", "", 3)),
        seconds(3)
    );
    assert_eq!(after(status(503, "ServiceUnavailable", "")), None);
    let rest = Duration::from_millis(20);
    assert_eq!(Trouble::Paused(rest).retry_after(), Some(rest));
    assert_eq!(Trouble::Unreachable(String::new()).retry_after(), None);
}

#[test]
fn messages_are_short_and_cut_between_characters() {
    for message in ["x".repeat(5000), "é".repeat(5000), "語".repeat(5000)] {
        let shown = Trouble::from(status(422, "Invalid", &message)).message();
        assert!(shown.len() <= 1024, "{}", shown.len());
        assert!(shown.len() > 1000 && shown.ends_with(" …"));
    }
    let short = Trouble::from(status(422, "Invalid", "too small"));
    assert_eq!(short.message(), "too small");
    assert_eq!(short.to_string(), "too small");
    let silent = Trouble::from(status(403, "Forbidden", ""));
    assert_eq!(silent.message(), "the plane answered 403 Forbidden");
}

#[test]
fn a_write_without_an_answer_says_that_nobody_knows() {
    let after = Duration::from_millis(2500);
    let deadline = |writes| Trouble::Deadline { after, writes }.message();
    assert_eq!(deadline(false), "no answer within 2.5 s");
    let unknown = "no answer within 2.5 s; whether the change was made is not known";
    assert_eq!(deadline(true), unknown);
}

/// An error as layers of a client wrap it.
#[derive(Debug)]
struct Wrapped(Arc<dyn Error + Send + Sync>);

impl fmt::Display for Wrapped {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("client error (Connect)")
    }
}

impl Error for Wrapped {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.0)
    }
}

fn wrapped(error: impl Error + Send + Sync + 'static) -> Trouble {
    let twice = io::Error::other(io::Error::new(io::ErrorKind::InvalidData, error));
    Trouble::from(kube::Error::Service(Box::new(Wrapped(Arc::new(twice)))))
}

#[test]
fn what_tls_says_of_certificates_is_found_under_all_wrappings() {
    let invalid = rustls::Error::InvalidCertificate;
    for (error, reason) in [
        (invalid(CertificateError::Expired), "CertificateExpired"),
        (
            invalid(CertificateError::UnknownIssuer),
            "CertificateUntrusted",
        ),
        (
            invalid(CertificateError::NotValidForName),
            "CertificateUntrusted",
        ),
        (
            rustls::Error::AlertReceived(AlertDescription::CertificateExpired),
            "CertificateExpired",
        ),
        (
            rustls::Error::AlertReceived(AlertDescription::UnknownCA),
            "CertificateUntrusted",
        ),
        (
            rustls::Error::AlertReceived(AlertDescription::HandshakeFailure),
            "Unreachable",
        ),
    ] {
        let trouble = wrapped(error.clone());
        assert_eq!(trouble.reason(), reason, "{error:?}");
        assert!(trouble.is_about_plane());
        assert_eq!(trouble.is_about_credentials(), reason != "Unreachable");
        // HTTP/2 keeps the words alone.
        if matches!(error, rustls::Error::AlertReceived(_)) {
            let words = io::Error::other(error.to_string());
            assert_eq!(wrapped(words).reason(), reason, "{error:?}");
        }
    }
}

#[test]
fn a_broken_connection_is_unreachable_and_told_without_repetition() {
    let trouble = wrapped(io::Error::from(io::ErrorKind::ConnectionRefused));
    assert_eq!(trouble.reason(), "Unreachable");
    assert_eq!(
        trouble.message(),
        "client error (Connect): connection refused"
    );
    let read = kube::Error::ReadEvents(io::Error::other("reset"));
    assert_eq!(
        Trouble::from(read),
        Trouble::Unreachable("reset".to_owned())
    );
}

#[test]
fn an_answer_that_cannot_be_read_is_not_quoted() {
    let error = serde_json::from_str::<u8>("\"s3cr3t\"").unwrap_err();
    let trouble = Trouble::from(kube::Error::SerdeError(error));
    assert_eq!(trouble.reason(), "Unreadable");
    assert!(!trouble.message().contains("s3cr3t"));
    assert!(!trouble.is_retryable());
}
