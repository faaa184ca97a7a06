//! Evaluation of a checked expression within a budget.

mod access;
pub(crate) mod cost;
mod folds;
mod meter;
pub(crate) mod plan;
mod planner;
mod run;
mod scope;

pub(crate) use meter::Meter;
pub(crate) use plan::Plan;
pub(crate) use planner::{Patterns, plan};
pub(crate) use run::Run;
pub(crate) use scope::Scope;
