//! Why a document cannot be understood.

/// A field that cannot be understood, and why. Controllers show it as a condition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {words}")]
pub struct Problem {
    /// The path of the field, such as `spec.dataPlaneRef`.
    pub field: String,
    /// What is wrong with it.
    pub words: String,
}

impl Problem {
    /// A problem with one field.
    pub fn new(field: impl Into<String>, words: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            words: words.into(),
        }
    }
}
