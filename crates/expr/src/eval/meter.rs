//! What an evaluation may still spend.

use crate::error::EvalError;

/// Cost and memory of one evaluation.
#[derive(Debug)]
pub(crate) struct Meter {
    pub(crate) cost: u64,
    limit: u64,
    memory: usize,
}

impl Meter {
    pub(crate) fn new(limit: u64, memory: usize) -> Self {
        Self { cost: 0, limit, memory }
    }

    pub(crate) fn charge(&mut self, cost: u64) -> Result<(), EvalError> {
        self.cost = self.cost.saturating_add(cost);
        if self.cost > self.limit { Err(EvalError::CostLimit) } else { Ok(()) }
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
