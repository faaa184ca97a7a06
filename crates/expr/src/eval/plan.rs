//! A checked expression made ready to run: names resolved, functions found, constants folded.

use std::sync::Arc;

use crate::{
    env::{Body, Overload},
    value::Value,
};

/// A step of evaluation.
#[derive(Clone)]
pub(crate) enum Plan {
    Constant(Value<'static>),
    /// A variable or other value and a path into it.
    Path(Box<Path>),
    Call(Box<CallPlan>),
    And(Box<[Plan; 2]>),
    Or(Box<[Plan; 2]>),
    Equal {
        sides: Box<[Plan; 2]>,
        negated: bool,
    },
    List {
        items: Vec<Plan>,
        optional: Vec<bool>,
    },
    Map {
        entries: Vec<(Plan, Plan, bool)>,
    },
    Object {
        fields: Vec<(Arc<str>, Plan, bool)>,
    },
    Fold(Box<FoldPlan>),
    /// `x in […]` where the list is constant: free of charge, as in the reference.
    Member {
        item: Box<Plan>,
        list: Value<'static>,
    },
    /// `optional.or(…)` and `optional.orValue(…)`.
    Alternative {
        first: Box<Plan>,
        second: Box<Plan>,
        unwrap: bool,
    },
}

/// A value and the way into it.
#[derive(Clone)]
pub(crate) struct Path {
    pub(crate) base: Base,
    pub(crate) steps: Vec<Step>,
    /// Only asks whether the last step exists.
    pub(crate) test: bool,
}

/// Where a path starts.
#[derive(Clone)]
pub(crate) enum Base {
    Global(Arc<str>),
    Local {
        hops: u32,
        which: Which,
    },
    Value(Plan),
    /// `c ? a : b`; the branches do not pay for being looked up.
    Choice {
        condition: Plan,
        truthy: Box<Path>,
        falsy: Box<Path>,
    },
}

/// Which variable of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    Accu,
    First,
    Second,
}

/// One step of a path.
#[derive(Clone)]
pub(crate) struct Step {
    pub(crate) index: Index,
    pub(crate) optional: bool,
}

/// What a step asks for.
#[derive(Clone)]
pub(crate) enum Index {
    /// A field or a constant key.
    Constant(Value<'static>),
    /// A key found by another path, which is not charged for its start.
    Path(Path),
    /// A key computed by anything else.
    Plan(Plan),
}

/// A call of a function.
#[derive(Clone)]
pub(crate) struct CallPlan {
    pub(crate) function: Arc<str>,
    /// The overload, or nothing when only the arguments will tell.
    pub(crate) overload: Arc<str>,
    pub(crate) candidates: Vec<Overload>,
    pub(crate) args: Vec<Plan>,
    /// Whether the first failing argument ends the call. Calls of one or two arguments look at
    /// both all the same, unless a pattern was compiled for them.
    pub(crate) eager: bool,
}

impl CallPlan {
    /// Whether the function takes errors as arguments.
    pub(crate) fn lenient(&self) -> bool {
        matches!(
            &*self.function,
            "@not_strictly_false" | "__not_strictly_false__"
        )
    }

    /// What runs for these arguments.
    pub(crate) fn body(&self, args: &[Value<'_>]) -> Option<&Body> {
        let only = if self.candidates.len() == 1 {
            self.candidates.first()
        } else {
            None
        };
        let fits = |overload: &&Overload| {
            matches!(overload.body, Body::Operator(_))
                || overload.args.len() == args.len()
                    && overload
                        .args
                        .iter()
                        .zip(args)
                        .all(|(ty, value)| value.is_a(ty))
        };
        match only {
            Some(overload) => Some(overload).filter(fits).map(|overload| &overload.body),
            None => self
                .candidates
                .iter()
                .find(fits)
                .map(|overload| &overload.body),
        }
    }
}

/// A loop.
#[derive(Clone)]
pub(crate) struct FoldPlan {
    pub(crate) range: Plan,
    pub(crate) pair: bool,
    pub(crate) init: Plan,
    pub(crate) condition: Plan,
    pub(crate) step: Plan,
    pub(crate) result: Plan,
}
