//! What went wrong between us and a plane, in classes that callers act upon.
//!
//! Pure: an error comes in, a [`Trouble`] goes out. Where the API server answered, its `Status` stays at hand. A
//! server's words may quote values of the object that was sent to it; who sends a Secret must not show them.

mod chain;
mod classify;
mod transport;

use std::time::Duration;

use kube::core::{Status, response::StatusCause};

/// The longest message that is shown.
const LONGEST_MESSAGE: usize = 1024;
/// How long a throttled caller stays away when the server does not say; what kube-apiserver's own header says.
const USUAL_RETRY_AFTER: Duration = Duration::from_secs(1);

/// What went wrong.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}", self.message())]
pub enum Trouble {
    /// 401: the plane does not know us, or no longer.
    CredentialsInvalid(Box<Status>),
    /// A certificate has expired: ours or the server's, as the words say.
    CertificateExpired(String),
    /// A certificate is not trusted: ours or the server's, as the words say.
    CertificateUntrusted(String),
    /// No connection, or one that broke.
    Unreachable(String),
    /// No answer in time.
    Deadline {
        /// So long it was waited for.
        after: Duration,
        /// Whether something was to be written: it may have been, or may be yet.
        writes: bool,
    },
    /// Not sent: the plane had faults, and is left alone for so long.
    Paused(Duration),
    /// Not sent: other calls to the plane took all the time there was.
    Crowded(Duration),
    /// 429: too many requests.
    Throttled(Box<Status>),
    /// 5xx.
    ServerFault(Box<Status>),
    /// 403.
    Forbidden(Box<Status>),
    /// 404: there is no such object.
    NotFound(Box<Status>),
    /// 404: there is no such kind, or not yet.
    NotServed(Box<Status>),
    /// 409: something of this name exists.
    AlreadyExists(Box<Status>),
    /// 409: somebody else was faster, or owns a field.
    Conflict(Box<Status>),
    /// 410: the revision is too old; list anew.
    Gone(Box<Status>),
    /// 422, 400: the object is not accepted.
    Invalid(Box<Status>),
    /// 413, or too large for the plane's database.
    TooLarge(Box<Status>),
    /// The answer cannot be understood, or is larger than we take.
    Unreadable(String),
    /// Anything else that a server answered.
    Refused(Box<Status>),
    /// The request could not even be made.
    Unsendable(String),
}

impl Trouble {
    /// Whether the same request may succeed later without anybody changing it.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Crowded(_)
            | Self::Paused(_)
            | Self::Throttled(_)
            | Self::ServerFault(_)
            | Self::NotServed(_) => true,
            _ => self.is_about_plane(),
        }
    }

    /// Whether the plane is at fault, not the request: then other requests would fare no better.
    pub fn is_about_plane(&self) -> bool {
        match self {
            Self::CredentialsInvalid(_)
            | Self::CertificateExpired(_)
            | Self::CertificateUntrusted(_)
            | Self::Unreachable(_)
            | Self::Deadline { .. } => true,
            // A 500 is most often about one request: a webhook that fails, a conversion. Not when the database says it.
            Self::ServerFault(status) => {
                matches!(status.code, 502..=504) || status.message.contains("etcdserver: ")
            }
            _ => false,
        }
    }

    /// Whether the plane will not let us in until somebody changes credentials.
    pub fn is_about_credentials(&self) -> bool {
        matches!(
            self,
            Self::CredentialsInvalid(_)
                | Self::CertificateExpired(_)
                | Self::CertificateUntrusted(_)
        )
    }

    /// Whether nothing was sent: then it says nothing about the plane.
    pub fn is_unsent(&self) -> bool {
        matches!(
            self,
            Self::Paused(_) | Self::Crowded(_) | Self::Unsendable(_)
        )
    }

    /// How long to stay away, where that is known.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Paused(rest) => Some(*rest),
            Self::Throttled(status) => {
                Some(stated_retry_after(status).unwrap_or(USUAL_RETRY_AFTER))
            }
            _ => stated_retry_after(self.status()?),
        }
    }

    /// The word for conditions and metrics.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::CredentialsInvalid(_) => "CredentialsInvalid",
            Self::CertificateExpired(_) => "CertificateExpired",
            Self::CertificateUntrusted(_) => "CertificateUntrusted",
            Self::Unreachable(_) => "Unreachable",
            Self::Deadline { .. } => "DeadlineExceeded",
            Self::Paused(_) => "Paused",
            Self::Crowded(_) => "Crowded",
            Self::Throttled(_) => "Throttled",
            Self::ServerFault(_) => "ServerFault",
            Self::Forbidden(_) => "Forbidden",
            Self::NotFound(_) => "NotFound",
            Self::NotServed(_) => "NotServed",
            Self::AlreadyExists(_) => "AlreadyExists",
            Self::Conflict(_) => "Conflict",
            Self::Gone(_) => "Gone",
            Self::Invalid(_) => "Invalid",
            Self::TooLarge(_) => "TooLarge",
            Self::Unreadable(_) => "Unreadable",
            Self::Refused(_) => "Refused",
            Self::Unsendable(_) => "Unsendable",
        }
    }

    /// Words for people, at most 1 KiB.
    pub fn message(&self) -> String {
        let text = match self {
            Self::CertificateExpired(words)
            | Self::CertificateUntrusted(words)
            | Self::Unreachable(words)
            | Self::Unreadable(words)
            | Self::Unsendable(words) => words.clone(),
            Self::Deadline { after, writes } => {
                let unknown = "; whether the change was made is not known";
                let unknown = if *writes { unknown } else { "" };
                format!("no answer within {}{unknown}", in_seconds(*after))
            }
            Self::Paused(rest) => format!(
                "the plane had faults and is left alone for another {}",
                in_seconds(*rest)
            ),
            Self::Crowded(after) => format!(
                "other calls to the plane took more than {}",
                in_seconds(*after)
            ),
            answered => match answered.status() {
                Some(status) if !status.message.is_empty() => status.message.clone(),
                Some(status) => format!("the plane answered {} {}", status.code, status.reason),
                None => String::new(),
            },
        };
        shortened(text)
    }

    /// What the API server answered, if it did.
    pub fn status(&self) -> Option<&Status> {
        match self {
            Self::CredentialsInvalid(status)
            | Self::Throttled(status)
            | Self::ServerFault(status)
            | Self::Forbidden(status)
            | Self::NotFound(status)
            | Self::NotServed(status)
            | Self::AlreadyExists(status)
            | Self::Conflict(status)
            | Self::Gone(status)
            | Self::Invalid(status)
            | Self::TooLarge(status)
            | Self::Refused(status) => Some(status),
            Self::CertificateExpired(_)
            | Self::CertificateUntrusted(_)
            | Self::Unreachable(_)
            | Self::Deadline { .. }
            | Self::Paused(_)
            | Self::Crowded(_)
            | Self::Unreadable(_)
            | Self::Unsendable(_) => None,
        }
    }

    /// The causes that the API server gave, such as one per field.
    pub fn causes(&self) -> &[StatusCause] {
        self.status()
            .and_then(|status| status.details.as_ref())
            .map_or(&[], |details| &details.causes)
    }
}

fn stated_retry_after(status: &Status) -> Option<Duration> {
    let seconds = status.details.as_ref()?.retry_after_seconds;
    (seconds > 0).then(|| Duration::from_secs(seconds.into()))
}

fn in_seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}

/// At most [`LONGEST_MESSAGE`] bytes, cut between characters.
fn shortened(mut text: String) -> String {
    if text.len() > LONGEST_MESSAGE {
        let mark = " …";
        text.truncate(text.floor_char_boundary(LONGEST_MESSAGE - mark.len()));
        text.push_str(mark);
    }
    text
}

#[cfg(test)]
mod tests;
