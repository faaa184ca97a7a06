//! Why there is no access. Shown as a condition, so nothing in it is out of a Secret.

use super::SecretName;

/// Why there is no access.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AccessProblem {
    /// A Secret does not exist, or not yet.
    #[error("there is no Secret {name}")]
    SecretMissing {
        /// Which one.
        name: SecretName,
    },
    /// A Secret lacks a key.
    #[error("Secret {secret} has no key {key}")]
    KeyMissing {
        /// Which Secret.
        secret: SecretName,
        /// Which key, or which ones would do.
        key: String,
    },
    /// A value is not what it should be.
    #[error("{field} {words}")]
    Malformed {
        /// Where it is.
        field: String,
        /// What is wrong with it.
        words: String,
    },
    /// A value is understood, and not accepted.
    #[error("{field} is refused: {words}")]
    Refused {
        /// Where it is.
        field: String,
        /// Why, and what to do instead.
        words: String,
    },
    /// The plane is reached by its agent alone.
    #[error("the plane is reached by its agent, which dials in")]
    AgentNeeded,
}

impl AccessProblem {
    /// The word for conditions.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::SecretMissing { .. } => "SecretMissing",
            Self::KeyMissing { .. } => "SecretKeyMissing",
            Self::Malformed { .. } => "CredentialsMalformed",
            Self::Refused { .. } => "CredentialsRefused",
            Self::AgentNeeded => "AgentNeeded",
        }
    }

    pub(super) fn malformed(field: impl Into<String>, words: impl Into<String>) -> Self {
        Self::Malformed {
            field: field.into(),
            words: words.into(),
        }
    }

    pub(super) fn refused(field: impl Into<String>, words: impl Into<String>) -> Self {
        Self::Refused {
            field: field.into(),
            words: words.into(),
        }
    }
}
