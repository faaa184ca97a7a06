//! Why an object could not be applied or removed, in words that may be shown to anybody.

use std::time::Duration;

use quadrille_objects::Identity;
use quadrille_planes::Trouble;

/// What went wrong with one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Why, for machines: the server's reason, or one of ours.
    pub reason: String,
    /// Why, for people; bounded, and without the content of a Secret.
    pub message: String,
    /// When to try again at the earliest, if the server said so.
    pub retry_after: Option<Duration>,
    /// Whether it is the plane that is in trouble, not this object.
    pub is_about_plane: bool,
}

/// The longest message: a server may say a lot, and a status is not the place for it.
const LONGEST_MESSAGE: usize = 600;

impl Failure {
    /// A failure of our own judgement.
    pub fn new(reason: &str, message: impl Into<String>) -> Self {
        Self {
            reason: reason.to_owned(),
            message: bounded(message.into()),
            retry_after: None,
            is_about_plane: false,
        }
    }

    /// What the plane answered about an object.
    pub fn of(identity: &Identity, trouble: &Trouble) -> Self {
        // A server quotes what it refuses. What it says about a Secret is reduced to where and why.
        let message = if identity.kind.is("", "Secret") {
            without_values(trouble)
        } else {
            trouble.message()
        };
        Self {
            reason: trouble.reason().to_owned(),
            message: bounded(message),
            retry_after: trouble.retry_after(),
            // One that is left alone had trouble before.
            is_about_plane: trouble.is_about_plane() || matches!(trouble, Trouble::Paused(_)),
        }
    }
}

fn without_values(trouble: &Trouble) -> String {
    let fields: Vec<&str> = trouble
        .status()
        .and_then(|status| status.details.as_ref())
        .into_iter()
        .flat_map(|details| &details.causes)
        .map(|cause| cause.field.as_str())
        .filter(|field| !field.is_empty())
        .collect();
    if fields.is_empty() {
        format!(
            "the server refused it ({}); its words are not repeated, since they may quote the Secret",
            trouble.reason()
        )
    } else {
        format!(
            "the server refused {} ({})",
            fields.join(", "),
            trouble.reason()
        )
    }
}

fn bounded(mut message: String) -> String {
    if message.len() > LONGEST_MESSAGE {
        let end = (0..=LONGEST_MESSAGE)
            .rev()
            .find(|end| message.is_char_boundary(*end))
            .unwrap_or_default();
        message.truncate(end);
        message.push('…');
    }
    message
}
