//! Variables of loops, from the inside out.

use std::cell::RefCell;

use crate::{error::EvalError, value::Value};

/// One loop that is running, and the one around it.
pub(crate) struct Scope<'s, 'a> {
    pub(super) parent: Option<&'s Scope<'s, 'a>>,
    /// What has been collected; `None` until somebody looks, then its first value is made.
    pub(super) accu: RefCell<Option<Result<Value<'a>, EvalError>>>,
    pub(super) init: Option<&'s super::Plan>,
    pub(super) first: RefCell<Value<'a>>,
    pub(super) second: RefCell<Value<'a>>,
}

impl Scope<'_, '_> {
    /// The outermost scope: no loop at all.
    pub(crate) fn outside() -> Self {
        Self {
            parent: None,
            accu: RefCell::new(None),
            init: None,
            first: RefCell::new(Value::Null),
            second: RefCell::new(Value::Null),
        }
    }

    /// The scope so many loops further out.
    pub(super) fn up(&self, hops: u32) -> Option<&Self> {
        let mut scope = self;
        for _ in 0..hops {
            scope = scope.parent?;
        }
        Some(scope)
    }
}
