//! Why something could not be rendered.

use std::{fmt, sync::Arc};

use crate::patch::PatchError;

/// Why rendering stopped, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct RenderError {
    /// What was being rendered: `resource deployment`, `patch #0`.
    pub subject: String,
    /// The place in the definition: `spec.resources[0].template.spec.replicas`.
    pub path: String,
    /// The expression, without `${` and `}`.
    pub expression: Option<Arc<str>>,
    /// What went wrong.
    pub cause: Cause,
}

/// What went wrong while rendering.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Cause {
    /// The expression has no value.
    #[error("{0}")]
    Evaluation(Arc<str>),
    /// The whole render took too many steps.
    #[error(
        "rendering takes more than {0} steps; loop over less, or nest fewer loops in each other"
    )]
    TooManySteps(u64),
    /// An expression builds too much.
    #[error("the expression builds too much on the way; make less of it at once")]
    TooMuchMemory,
    /// What is rendered is too large.
    #[error("what is rendered is larger than {0} bytes; render less, or fewer objects")]
    TooLarge(usize),
    /// What is rendered nests too deep.
    #[error("what is rendered nests deeper than {0} levels")]
    TooDeep(usize),
    /// A value has another type than its place needs.
    #[error("must give {wanted}, but gives {found}")]
    WrongType {
        /// What the place needs.
        wanted: &'static str,
        /// What there is.
        found: String,
    },
    /// A value that has no JSON.
    #[error("gives {0}, which cannot be written as JSON")]
    NoJson(String),
    /// Two keys of a map turn out to be the same.
    #[error("the key `{0}` is made twice")]
    RepeatedKey(String),
    /// An object lacks what every object has.
    #[error("the rendered object has no {0}")]
    MissingField(&'static str),
    /// An operation of a patch does not apply.
    #[error(transparent)]
    Patch(#[from] PatchError),
}

impl Cause {
    pub(crate) fn wrong_type(wanted: &'static str, found: impl Into<String>) -> Self {
        Self::WrongType {
            wanted,
            found: found.into(),
        }
    }

    /// Whether a bound was hit, rather than a mistake made.
    pub fn is_limit(&self) -> bool {
        matches!(
            self,
            Self::TooManySteps(_) | Self::TooMuchMemory | Self::TooLarge(_) | Self::TooDeep(_)
        )
    }

    /// What to do about it, where that is known.
    fn remedy(&self) -> Option<&'static str> {
        match self {
            Self::Evaluation(words) if words.starts_with("no such key") => {
                Some("give it a value or a default, or ask first with has(…) or `.?`")
            }
            _ => None,
        }
    }
}

impl RenderError {
    pub(crate) fn new(cause: impl Into<Cause>) -> Self {
        Self {
            subject: String::new(),
            path: String::new(),
            expression: None,
            cause: cause.into(),
        }
    }

    /// With the expression that it is about.
    pub(crate) fn of(mut self, expression: &Arc<str>) -> Self {
        self.expression.get_or_insert_with(|| expression.clone());
        self
    }

    /// One step further out: paths grow from the inside.
    pub(crate) fn inside(mut self, step: &str) -> Self {
        let joint = if self.path.is_empty() || self.path.starts_with('[') || step.is_empty() {
            ""
        } else {
            "."
        };
        self.path = format!("{step}{joint}{}", self.path);
        self
    }

    pub(crate) fn subject(mut self, subject: impl Into<String>) -> Self {
        if self.subject.is_empty() {
            self.subject = subject.into();
        }
        self
    }
}

impl fmt::Display for RenderError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in [&self.subject, &self.path] {
            if !part.is_empty() {
                write!(out, "{part}: ")?;
            }
        }
        if let Some(expression) = &self.expression {
            write!(out, "${{{}}}: ", shortened(expression.trim()))?;
        }
        write!(out, "{}", self.cause)?;
        match self.cause.remedy() {
            Some(remedy) => write!(out, "; {remedy}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for RenderError {}

/// Text that fits into a message.
pub(crate) fn shortened(text: &str) -> String {
    const MOST: usize = 120;
    match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
