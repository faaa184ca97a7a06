//! What expressions see while rendering, and what rendering may still spend.

use std::{borrow::Cow, cell::Cell};

use quadrille_expr::{Bindings, Value};
use quadrille_machinery::decode::MAX_DEPTH;
use serde_json::Value as Json;

use crate::error::Cause;

/// The bounds of one render.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Steps of all expressions together.
    pub steps: u64,
    /// Bytes of everything that is rendered.
    pub bytes: usize,
    /// Levels of nesting.
    pub depth: usize,
}

impl Default for Limits {
    /// Far more than any real type needs, and done in less than a second.
    fn default() -> Self {
        Self {
            steps: 5_000_000,
            bytes: 4 << 20,
            depth: MAX_DEPTH - 10,
        }
    }
}

/// What a render may still spend. One for each render.
#[derive(Debug)]
pub struct Budget {
    limits: Limits,
    steps: Cell<u64>,
    bytes: Cell<usize>,
}

impl Budget {
    /// A fresh budget.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            steps: Cell::new(limits.steps),
            bytes: Cell::new(limits.bytes),
        }
    }

    /// Steps taken so far.
    pub fn steps_taken(&self) -> u64 {
        self.limits.steps - self.steps.get()
    }

    pub(crate) fn steps_left(&self) -> u64 {
        self.steps.get()
    }

    pub(crate) fn take_steps(&self, steps: u64) {
        self.steps.set(self.steps.get().saturating_sub(steps));
    }

    /// One step that no expression takes: a turn of a loop, a look at an object.
    pub(crate) fn step(&self) -> Result<(), Cause> {
        if self.steps.get() == 0 {
            return Err(self.out_of_steps());
        }
        self.take_steps(1);
        Ok(())
    }

    pub(crate) fn out_of_steps(&self) -> Cause {
        Cause::TooManySteps(self.limits.steps)
    }

    pub(crate) fn take_bytes(&self, bytes: usize) -> Result<(), Cause> {
        match self.bytes.get().checked_sub(bytes) {
            Some(rest) => {
                self.bytes.set(rest);
                Ok(())
            }
            None => Err(Cause::TooLarge(self.limits.bytes)),
        }
    }

    pub(crate) fn check_depth(&self, depth: usize) -> Result<(), Cause> {
        if depth > self.limits.depth {
            Err(Cause::TooDeep(self.limits.depth))
        } else {
            Ok(())
        }
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self::new(Limits::default())
    }
}

/// As many variables as a component has, with room for a loop's and a trait's own.
const ROOM: usize = 16;

/// Values of the variables. They borrow from JSON; nothing is copied.
#[derive(Clone, Debug)]
pub struct Context<'a> {
    pub(crate) vars: Bindings<'a>,
    pub(crate) budget: &'a Budget,
}

impl<'a> Context<'a> {
    /// No variables yet.
    pub fn new(budget: &'a Budget) -> Self {
        Self {
            vars: Bindings::with_capacity(ROOM),
            budget,
        }
    }

    /// With a variable, or with another value for one.
    #[must_use]
    pub fn with(self, name: impl Into<Cow<'a, str>>, value: &'a Json) -> Self {
        self.bind(name, Value::json(value, &quadrille_expr::Type::Dyn))
    }

    /// With a variable whose value an expression gave.
    #[must_use]
    pub fn bind(mut self, name: impl Into<Cow<'a, str>>, value: Value<'a>) -> Self {
        self.vars.set(name, value);
        self
    }
}
