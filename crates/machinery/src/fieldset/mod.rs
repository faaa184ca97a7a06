//! Sets of fields: which parts of an object are meant, and how `FieldsV1` writes them.
//!
//! ```text
//!   PathElement  one step:  .name   [port=80]   [="x"]   [3]
//!   Path         steps from the root of an object
//!   Set          a tree of paths; members of one level and children below it, both ordered
//! ```

mod algebra;
mod element;
mod filter;
mod json;
mod scalar;
mod set;

pub use element::{Path, PathElement};
pub use filter::{Filter, Pattern};
pub use json::FieldsError;
pub(crate) use scalar::{compare, equal, go_float, go_json, is_float};
pub use set::Set;

#[cfg(test)]
mod tests;
