//! Selectors: which objects a list, a watch or a controller means.
//!
//! [`LabelSelector`] selects by labels (`a=b,c!=d,e in (x,y),!f`), [`FieldSelector`] by a few fields
//! (`metadata.name=x,status.phase!=Running`). Both parse, match, and print themselves back.

mod fields;
mod labels;
mod parse;

pub use fields::{FieldRequirement, FieldSelector};
pub use labels::{LabelSelector, Operator, Requirement};

/// A selector that cannot be understood; the text is the one that real servers give.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SelectorError(pub String);

#[cfg(test)]
mod tests;
