//! Variables of a policy, computed when they are first looked at.
//!
//! A variable may only look at those before it, so they form a chain, and each is bound to the one before. Links also
//! know one far behind them, so that looking one up takes few steps however long the chain is.

use std::{
    fmt,
    sync::{
        OnceLock,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};

use quadrille_expr::{Bindings, COST_LIMIT, EvalError, Fields, Map, Value};
use typed_arena::Arena;

use super::expressions::{Variable, Variables};

/// The name under which expressions find the variables.
const VARIABLES: &str = "variables";
/// How many variables may be computed for the sake of one another: each takes room on the stack.
const DEEPEST: usize = 50;

/// What computing variables took so far.
#[derive(Default)]
pub(super) struct Effort {
    cost: AtomicU64,
    depth: AtomicUsize,
}

impl Effort {
    /// The cost since this was last asked.
    pub(super) fn take_cost(&self) -> u64 {
        self.cost.swap(0, Ordering::Relaxed)
    }
}

/// One variable and, through it, all before.
pub(super) struct Link<'a> {
    before: Option<&'a Self>,
    far_before: Option<&'a Self>,
    place: usize,
    variables: &'a Variables,
    vars: &'a Bindings<'a>,
    value: OnceLock<Result<Value<'a>, EvalError>>,
    effort: &'a Effort,
}

/// No variables.
#[derive(Debug)]
struct Nothing;

impl Fields for Nothing {
    fn field<'a>(&'a self, _: &str) -> Option<Result<Value<'a>, EvalError>> {
        None
    }
}

/// Binds all variables of a policy.
pub(super) fn bind<'a>(
    arena: &'a Arena<Link<'a>>,
    variables: &'a Variables,
    vars: &'a Bindings<'a>,
    effort: &'a Effort,
) -> Bindings<'a> {
    let mut before: Option<&'a Link<'a>> = None;
    for place in 0..variables.list.len() {
        before = Some(arena.alloc(Link {
            before,
            far_before: before.and_then(Link::landing),
            place,
            variables,
            vars,
            value: OnceLock::new(),
            effort,
        }));
    }
    with(vars, before)
}

fn with<'a>(vars: &Bindings<'a>, last: Option<&'a Link<'a>>) -> Bindings<'a> {
    let variables: &'a dyn Fields = match last {
        Some(link) => link,
        None => &Nothing,
    };
    vars.clone()
        .with(VARIABLES, Value::Map(Map::Lazy(variables)))
}

impl<'a> Link<'a> {
    fn variable(&self) -> &'a Variable {
        &self.variables.list[self.place]
    }

    /// Where the next link jumps to: over two jumps of the same length at once, else to this one.
    fn landing(&'a self) -> Option<&'a Self> {
        let length = |link: &Self| Some(link.place - link.far_before?.place);
        match self.far_before {
            Some(far) if length(self) == length(far) && length(self).is_some() => far.far_before,
            _ => Some(self),
        }
    }

    /// The link at a place not after this one.
    fn at(&self, place: usize) -> Option<&Self> {
        let mut link = self;
        while link.place > place {
            link = match link.far_before {
                Some(far) if far.place >= place => far,
                _ => link.before?,
            };
        }
        Some(link)
    }

    fn compute(&self) -> Result<Value<'a>, EvalError> {
        let name = &self.variable().name;
        let fail = |what: &str, error: &dyn fmt::Display| {
            EvalError::new(format!(
                "composited variable {name:?} fails to {what}: {error}"
            ))
        };
        let program = match &self.variable().expression.program {
            Ok(program) => program,
            Err(mistake) => return Err(fail("compile", &mistake.text())),
        };
        if self.effort.depth.fetch_add(1, Ordering::Relaxed) >= DEEPEST {
            return Err(fail(
                "evaluate",
                &"too many variables depend on one another",
            ));
        }
        let evaluation = program.evaluate(&with(self.vars, self.before), COST_LIMIT);
        self.effort.depth.fetch_sub(1, Ordering::Relaxed);
        self.effort
            .cost
            .fetch_add(evaluation.cost, Ordering::Relaxed);
        evaluation.result.map_err(|error| fail("evaluate", &error))
    }
}

impl Fields for Link<'_> {
    fn field<'s>(&'s self, name: &str) -> Option<Result<Value<'s>, EvalError>> {
        let place = self.variables.place(name, self.place)?;
        let link = self.at(place)?;
        Some(link.value.get_or_init(|| link.compute()).clone())
    }
}

impl fmt::Debug for Link<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.variable().name)
    }
}
