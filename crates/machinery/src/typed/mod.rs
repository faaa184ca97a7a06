//! Values with a type: which parts of an object are one unit, which merge, and how two objects differ.
//!
//! A [`Type`] is a schema node seen through the eyes of ownership tracking: a scalar, a list (one unit, a
//! set, or keyed entries) or a map (one unit or field by field). Where a schema says nothing, the shape of
//! the value decides: maps merge field by field, lists are one unit.

mod atom;
mod compare;
mod error;
mod field_set;
mod list_key;
mod merge;
mod object_meta;
mod reconcile;
mod remove;
mod validate;

pub use atom::Type;
pub use compare::{Comparison, compare};
pub use error::{TypeError, TypeErrors};
pub use field_set::{named_fields, to_field_set};
pub use merge::merge;
pub use reconcile::reconcile;
pub use remove::{extract_items, remove_items};
pub use validate::{Duplicates, validate};

#[cfg(test)]
pub(crate) mod test_schema;
#[cfg(test)]
pub(crate) mod tests;
