//! Values of libraries: addresses, versions, quantities.

use std::{any::Any, fmt};

use crate::ty::Type;

/// A value that only the functions of its library understand.
pub trait Opaque: Any + fmt::Debug + Send + Sync {
    /// Its type.
    fn type_of(&self) -> Type;

    /// Whether another value is the same.
    fn equals(&self, other: &dyn Opaque) -> bool;

    /// For [`crate::Value::downcast`].
    fn as_any(&self) -> &dyn Any;

    /// The size that costs are counted by.
    fn size(&self) -> u64 {
        1
    }
}
