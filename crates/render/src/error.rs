//! Why nothing was rendered.

use quadrille_objects::secret::HIDDEN;
use quadrille_types::Problem;

/// Why nothing was rendered. What a schema calls a password is never in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RenderError {
    /// A field cannot be understood.
    #[error("{whose}: {problem}")]
    Field {
        /// The object.
        whose: String,
        /// The field, and why.
        problem: Problem,
    },
    /// A key of a `SecretReference` does not exist.
    #[error("key {key:?} not found in SecretReference {reference:?}; available keys: [{}]", available.join(", "))]
    SecretKey {
        /// The key that is asked for.
        key: String,
        /// The reference.
        reference: String,
        /// The keys that it has.
        available: Vec<String>,
    },
    /// A `SecretReference` does not exist.
    #[error("SecretReference {reference:?} not found; {used_by} uses it")]
    SecretReference {
        /// The reference.
        reference: String,
        /// What asks for it.
        used_by: String,
    },
    /// A type or trait is wrong in itself.
    #[error("{whose} cannot be used: {}", problems.join("; "))]
    Definition {
        /// The type or trait.
        whose: String,
        /// What is wrong, each with its path.
        problems: Vec<String>,
    },
    /// Values don't fit their schema.
    #[error("{whose}: {section} validation failed: {}", problems.join("; "))]
    Values {
        /// The type or trait whose schema it is.
        whose: String,
        /// `parameters` or `environmentConfigs`.
        section: &'static str,
        /// What is wrong, each with its field.
        problems: Vec<String>,
    },
    /// A rule of a type or trait is broken.
    #[error("{whose} validation failed: {}", failures.join("; "))]
    Rules {
        /// The type or trait.
        whose: String,
        /// What its rules say.
        failures: Vec<String>,
    },
    /// A rule about rendered objects is broken.
    #[error("post-render validation failed: {}", failures.join("; "))]
    PostRules {
        /// What the rules say, each with its type or trait and the object.
        failures: Vec<String>,
    },
    /// Something could not be evaluated.
    #[error("{whose}: {cause}")]
    Template {
        /// The type or trait.
        whose: String,
        /// What went wrong.
        cause: String,
    },
    /// Two objects are the same one.
    #[error("{object} is rendered twice: give one of them another name")]
    Duplicate {
        /// Kind and name.
        object: String,
    },
    /// An object lacks what every object has.
    #[error("{whose}: {object} has no {field}")]
    Incomplete {
        /// The type or trait.
        whose: String,
        /// Which object.
        object: String,
        /// The field.
        field: &'static str,
    },
}

impl RenderError {
    pub(crate) fn field(whose: impl Into<String>, problem: Problem) -> Self {
        Self::Field {
            whose: whose.into(),
            problem,
        }
    }

    /// The same without these words, wherever they stand: an expression that fails may repeat what it was given.
    pub(crate) fn without(mut self, secrets: &[String]) -> Self {
        for text in self.texts() {
            for secret in secrets.iter().filter(|secret| secret.len() >= SHORTEST) {
                if text.contains(secret.as_str()) {
                    *text = text.replace(secret.as_str(), HIDDEN);
                }
            }
        }
        self
    }

    fn texts(&mut self) -> Vec<&mut String> {
        match self {
            Self::Field { whose, problem } => {
                vec![whose, &mut problem.field, &mut problem.words]
            }
            Self::SecretKey { .. } | Self::SecretReference { .. } => Vec::new(),
            Self::Definition { problems, .. } | Self::Values { problems, .. } => {
                problems.iter_mut().collect()
            }
            Self::Rules { failures, .. } | Self::PostRules { failures } => {
                failures.iter_mut().collect()
            }
            Self::Template { cause, .. } => vec![cause],
            Self::Duplicate { object } | Self::Incomplete { object, .. } => vec![object],
        }
    }
}

/// What is shorter is in every text by chance.
const SHORTEST: usize = 4;
