//! From errors to troubles.

use kube::core::Status;

use super::{Trouble, transport};

impl From<Status> for Trouble {
    fn from(status: Status) -> Self {
        Box::new(status).into()
    }
}

impl From<Box<Status>> for Trouble {
    fn from(status: Box<Status>) -> Self {
        // What etcd and its protocol say of an object that is too large comes as a plain 500.
        let too_large = ["etcdserver: request is too large", "larger than max ("]
            .iter()
            .any(|words| status.message.contains(words));
        // What is applied and does not fit its schema comes as a plain 500, too.
        let is_misshapen = status
            .message
            .contains("failed to create typed patch object");
        match (status.code, status.reason.as_str()) {
            (413, _) | (_, "RequestEntityTooLarge") => Self::TooLarge(status),
            (500, _) if too_large => Self::TooLarge(status),
            (500, _) if is_misshapen => Self::Invalid(status),
            (401, _) | (_, "Unauthorized") => Self::CredentialsInvalid(status),
            (403, _) | (_, "Forbidden") => Self::Forbidden(status),
            (404, _) | (_, "NotFound") if names_an_object(&status) => Self::NotFound(status),
            (404, _) | (_, "NotFound") => Self::NotServed(status),
            (_, "AlreadyExists") => Self::AlreadyExists(status),
            (409, _) | (_, "Conflict") => Self::Conflict(status),
            (410, _) | (_, "Gone" | "Expired") => Self::Gone(status),
            (400 | 422, _) | (_, "Invalid" | "BadRequest") => Self::Invalid(status),
            (429, _) | (_, "TooManyRequests") => Self::Throttled(status),
            (500..=599, _) => Self::ServerFault(status),
            _ => Self::Refused(status),
        }
    }
}

impl From<kube::Error> for Trouble {
    fn from(error: kube::Error) -> Self {
        match error {
            kube::Error::Api(status) => status.into(),
            kube::Error::SerdeError(error) => {
                // Its text has a place and an expectation; what stands there it quotes only in part, so leave it out.
                let (line, column) = (error.line(), error.column());
                Self::Unreadable(format!(
                    "the answer is not what it should be (line {line}, column {column})"
                ))
            }
            kube::Error::FromUtf8(_) => Self::Unreadable("the answer is no text".to_owned()),
            kube::Error::LinesCodecMaxLineLengthExceeded => {
                Self::Unreadable("an event has no end".to_owned())
            }
            kube::Error::HyperError(error) => transport::classify(&error),
            kube::Error::Service(error) => transport::classify(&*error),
            kube::Error::ReadEvents(error) => transport::classify(&error),
            other => Self::Unsendable(other.to_string()),
        }
    }
}

/// Whether a 404 is about one object. That of a kind that is not served names none.
fn names_an_object(status: &Status) -> bool {
    status
        .details
        .as_ref()
        .is_some_and(|details| !details.name.is_empty())
}
