//! Everything that is wrong, at once.

use std::fmt;

use quadrille_types::Problem;

use crate::error::RenderError;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mistake {
    /// The build of an artifact does not exist.
    #[error("Build {build:?} not found for the referenced artifact {artifact:?}")]
    BuildNotFound {
        /// The build, or the commit that it should be of.
        build: String,
        /// The artifact.
        artifact: String,
    },
    /// The build of an artifact has made no image yet: it may be on its way.
    #[error("Build {build:?} of the artifact {artifact:?} has made no image yet")]
    NoImageYet {
        /// The build.
        build: String,
        /// The artifact.
        artifact: String,
    },
    /// Something cannot be rendered.
    #[error(transparent)]
    Render(#[from] RenderError),
}

/// Everything that is wrong; never empty.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Mistakes(pub Vec<Mistake>);

impl fmt::Display for Mistakes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, mistake) in self.0.iter().enumerate() {
            if at > 0 {
                out.write_str("; ")?;
            }
            mistake.fmt(out)?;
        }
        Ok(())
    }
}

/// A field of an object, to be named when something is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct At {
    /// Kind and name of the object.
    pub(super) whose: String,
    /// The path of the field.
    pub(super) field: String,
}

impl At {
    pub(super) fn new(whose: impl Into<String>, field: impl Into<String>) -> Self {
        Self {
            whose: whose.into(),
            field: field.into(),
        }
    }

    /// A field below.
    pub(super) fn below(&self, part: &str) -> Self {
        Self::new(&self.whose, format!("{}.{part}", self.field))
    }

    /// An entry of a list below.
    pub(super) fn entry(&self, part: &str, index: usize) -> Self {
        self.below(&format!("{part}[{index}]"))
    }

    /// What is wrong with it.
    pub(super) fn wrong(&self, words: impl Into<String>) -> Mistake {
        self.problem(Problem::new(&self.field, words))
    }

    /// What is wrong with a field of the same object.
    pub(super) fn problem(&self, problem: Problem) -> Mistake {
        RenderError::field(&self.whose, problem).into()
    }
}

/// What is wrong so far.
#[derive(Debug, Default)]
pub(super) struct Found(Vec<Mistake>);

impl Found {
    pub(super) fn push(&mut self, mistake: Mistake) {
        // The same missing group may be asked for by several settings; it is told once.
        if !self.0.contains(&mistake) {
            self.0.push(mistake);
        }
    }

    /// What there is of an outcome; the mistake is kept.
    pub(super) fn keep<T>(&mut self, outcome: Result<T, Mistake>) -> Option<T> {
        outcome.map_err(|mistake| self.push(mistake)).ok()
    }

    /// The same for several mistakes.
    pub(super) fn keep_all<T>(&mut self, outcome: Result<T, Vec<Mistake>>) -> Option<T> {
        match outcome {
            Ok(value) => Some(value),
            Err(mistakes) => {
                for mistake in mistakes {
                    self.push(mistake);
                }
                None
            }
        }
    }

    /// Nothing, if nothing is wrong.
    pub(super) fn finish(self) -> Result<(), Mistakes> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(Mistakes(self.0))
        }
    }
}
