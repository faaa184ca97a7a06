//! What an evaluation may still spend.

use std::cell::Cell;

use crate::{error::EvalError, value::COMPARISONS};

/// Cost and memory of one evaluation.
#[derive(Debug)]
pub(crate) struct Meter {
    pub(crate) cost: u64,
    limit: u64,
    memory: usize,
    /// Comparisons of parts that are left.
    pub(crate) fuel: Cell<u64>,
}

impl Meter {
    pub(crate) fn new(limit: u64, memory: usize) -> Self {
        Self {
            cost: 0,
            limit,
            memory,
            fuel: Cell::new(COMPARISONS),
        }
    }

    pub(crate) fn charge(&mut self, cost: u64) -> Result<(), EvalError> {
        self.cost = self.cost.saturating_add(cost);
        if self.cost > self.limit {
            Err(EvalError::CostLimit)
        } else {
            Ok(())
        }
    }

    /// Whether something can be paid for.
    pub(crate) fn affords(&self, cost: u64) -> bool {
        self.cost.saturating_add(cost) <= self.limit
    }

    /// Nothing, unless comparing has taken too long.
    pub(crate) fn check_fuel(&self) -> Result<(), EvalError> {
        if self.fuel.get() == 0 {
            Err(EvalError::CostLimit)
        } else {
            Ok(())
        }
    }

    pub(crate) fn reserve(&mut self, bytes: usize) -> Result<(), EvalError> {
        match self.memory.checked_sub(bytes) {
            Some(rest) => {
                self.memory = rest;
                Ok(())
            }
            None => Err(EvalError::MemoryLimit),
        }
    }
}
