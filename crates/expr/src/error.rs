//! Why an evaluation gave no value.

use std::sync::Arc;

/// What went wrong while evaluating.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvalError {
    /// The expression failed; `||` and `&&` may still have an answer.
    #[error("{0}")]
    Failed(Arc<str>),
    /// The budget is spent; nothing absorbs this.
    #[error("operation cancelled: actual cost limit exceeded")]
    CostLimit,
    /// The values built are too large; nothing absorbs this.
    #[error("operation cancelled: memory limit exceeded")]
    MemoryLimit,
}

impl EvalError {
    /// A failure with a message.
    pub fn new(message: impl Into<Arc<str>>) -> Self {
        Self::Failed(message.into())
    }

    pub(crate) fn no_overload() -> Self {
        Self::new("no such overload")
    }

    /// Whether evaluation has to stop altogether.
    pub fn is_limit(&self) -> bool {
        !matches!(self, Self::Failed(_))
    }
}
