//! Macros: calls that are rewritten while parsing.

use std::sync::Arc;

use super::{
    ast::{Fold, Id, Kind, Literal},
    parser::Parser,
};

/// The variable that a loop collects in. No text can name it.
pub(crate) const ACCU: &str = "@result";
const OLD_ACCU: &str = "__result__";
/// The variable of a loop that never turns: how a value gets a name.
pub(super) const UNUSED: &str = "#unused";

/// Which macros a text may use.
#[derive(Clone, Copy, Debug, Default)]
#[allow(clippy::struct_excessive_bools)] // one for each library; they do not depend on each other
pub(crate) struct MacroSet {
    /// `has`, `all`, `exists`, `exists_one`, `map`, `filter`.
    pub(crate) standard: bool,
    /// `existsOne` with one variable, which servers do not know.
    pub(crate) exists_one_new: bool,
    /// `optMap`, `optFlatMap`.
    pub(crate) optionals: bool,
    /// Loops over two variables.
    pub(crate) two_variables: bool,
    /// `sortBy`.
    pub(crate) lists: bool,
    /// `math.greatest`, `math.least`.
    pub(crate) math: bool,
    /// `cel.bind`.
    pub(crate) bind: bool,
}

/// A macro that matched but whose arguments are wrong.
pub(super) struct Misuse {
    pub(super) at: Id,
    pub(super) message: String,
}

pub(super) type Expansion = Result<Option<Id>, Misuse>;

pub(super) fn misuse<T>(at: Id, message: impl Into<String>) -> Result<T, Misuse> {
    Err(Misuse {
        at,
        message: message.into(),
    })
}

impl Parser<'_> {
    pub(super) fn global_call(&mut self, name: &str, args: Vec<Id>, at: usize) -> Id {
        let expansion = match (name, args.as_slice()) {
            ("has", [arg]) if self.macros.standard => self.has(*arg, at).map(Some),
            _ => Ok(self.rewritten_call(name, &args, at)),
        };
        match self.settle(expansion, at) {
            Some(expanded) => expanded,
            None => self.call(name, args, at),
        }
    }

    pub(super) fn member_call(&mut self, target: Id, name: &str, args: Vec<Id>, at: usize) -> Id {
        let expansion = self.expand_member(target, name, &args, at);
        match self.settle(expansion, at) {
            Some(expanded) => expanded,
            None => self.add(
                Kind::Call {
                    target: Some(target),
                    name: name.into(),
                    args,
                },
                at,
            ),
        }
    }

    fn settle(&mut self, expansion: Expansion, at: usize) -> Option<Id> {
        match expansion {
            Ok(expanded) => expanded,
            Err(misuse) => {
                self.issues
                    .at(self.ast.at(misuse.at) as usize, misuse.message);
                Some(self.add(Kind::Broken, at))
            }
        }
    }

    fn expand_member(&mut self, target: Id, name: &str, args: &[Id], at: usize) -> Expansion {
        let set = self.macros;
        match (name, args) {
            ("all", [var, test]) if set.standard => self.all(target, *var, *test, at),
            ("exists", [var, test]) if set.standard => self.exists(target, *var, *test, at),
            ("exists_one", [var, test]) if set.standard => self.one(target, *var, *test, at),
            ("existsOne", [var, test]) if set.exists_one_new => self.one(target, *var, *test, at),
            ("map", [var, make]) if set.standard => self.map_macro(target, *var, None, *make, at),
            ("map", [var, test, make]) if set.standard => {
                self.map_macro(target, *var, Some(*test), *make, at)
            }
            ("filter", [var, test]) if set.standard => {
                self.map_macro(target, *var, Some(*test), *var, at)
            }
            _ if set.two_variables && args.len() >= 3 => self.pair_macro(target, name, args, at),
            _ => match self.rewritten_method(target, name, args, at)? {
                None => self.binding_macro(target, name, args, at),
                rewritten => Ok(rewritten),
            },
        }
    }

    fn has(&mut self, arg: Id, at: usize) -> Result<Id, Misuse> {
        match self.ast.kind(arg).clone() {
            Kind::Select { operand, field, .. } => Ok(self.add(
                Kind::Select {
                    operand,
                    field,
                    test: true,
                },
                at,
            )),
            _ => misuse(arg, "invalid argument to has() macro"),
        }
    }

    /// The name of a loop's variable.
    pub(super) fn variable(&self, id: Id, complaint: &str) -> Result<Arc<str>, Misuse> {
        match self.ast.kind(id) {
            Kind::Ident(name) if &**name == ACCU || &**name == OLD_ACCU => {
                misuse(id, "iteration variable overwrites accumulator variable")
            }
            Kind::Ident(name) => Ok(name.clone()),
            _ => misuse(id, complaint),
        }
    }

    pub(super) fn accu(&mut self, at: usize) -> Id {
        self.add(Kind::Ident(ACCU.into()), at)
    }

    pub(super) fn constant(&mut self, literal: Literal, at: usize) -> Id {
        self.add(Kind::Literal(literal), at)
    }

    fn all(&mut self, range: Id, var: Id, test: Id, at: usize) -> Expansion {
        let var = self.variable(var, "argument must be a simple name")?;
        Ok(Some(self.all_loop(range, var, None, test, at)))
    }

    fn exists(&mut self, range: Id, var: Id, test: Id, at: usize) -> Expansion {
        let var = self.variable(var, "argument must be a simple name")?;
        Ok(Some(self.exists_loop(range, var, None, test, at)))
    }

    fn one(&mut self, range: Id, var: Id, test: Id, at: usize) -> Expansion {
        let var = self.variable(var, "argument must be a simple name")?;
        Ok(Some(self.one_loop(range, var, None, test, at)))
    }

    pub(super) fn all_loop(
        &mut self,
        range: Id,
        var: Arc<str>,
        var2: Option<Arc<str>>,
        test: Id,
        at: usize,
    ) -> Id {
        let init = self.constant(Literal::Bool(true), at);
        let accu = self.accu(at);
        let condition = self.call("@not_strictly_false", vec![accu], at);
        let accu = self.accu(at);
        let step = self.call("_&&_", vec![accu, test], at);
        let result = self.accu(at);
        self.fold(
            Fold {
                range,
                var,
                var2,
                accu: ACCU.into(),
                init,
                condition,
                step,
                result,
            },
            at,
        )
    }

    pub(super) fn exists_loop(
        &mut self,
        range: Id,
        var: Arc<str>,
        var2: Option<Arc<str>>,
        test: Id,
        at: usize,
    ) -> Id {
        let init = self.constant(Literal::Bool(false), at);
        let accu = self.accu(at);
        let negated = self.call("!_", vec![accu], at);
        let condition = self.call("@not_strictly_false", vec![negated], at);
        let accu = self.accu(at);
        let step = self.call("_||_", vec![accu, test], at);
        let result = self.accu(at);
        self.fold(
            Fold {
                range,
                var,
                var2,
                accu: ACCU.into(),
                init,
                condition,
                step,
                result,
            },
            at,
        )
    }

    pub(super) fn one_loop(
        &mut self,
        range: Id,
        var: Arc<str>,
        var2: Option<Arc<str>>,
        test: Id,
        at: usize,
    ) -> Id {
        let init = self.constant(Literal::Int(0), at);
        let condition = self.constant(Literal::Bool(true), at);
        let (accu, one) = (self.accu(at), self.constant(Literal::Int(1), at));
        let more = self.call("_+_", vec![accu, one], at);
        let same = self.accu(at);
        let step = self.call("_?_:_", vec![test, more, same], at);
        let (accu, one) = (self.accu(at), self.constant(Literal::Int(1), at));
        let result = self.call("_==_", vec![accu, one], at);
        self.fold(
            Fold {
                range,
                var,
                var2,
                accu: ACCU.into(),
                init,
                condition,
                step,
                result,
            },
            at,
        )
    }

    pub(super) fn map_macro(
        &mut self,
        range: Id,
        var: Id,
        test: Option<Id>,
        make: Id,
        at: usize,
    ) -> Expansion {
        let var = self.variable(var, "argument is not an identifier")?;
        Ok(Some(self.map_loop(range, (var, None), test, make, at)))
    }

    pub(super) fn map_loop(
        &mut self,
        range: Id,
        (var, var2): (Arc<str>, Option<Arc<str>>),
        test: Option<Id>,
        make: Id,
        at: usize,
    ) -> Id {
        let init = self.add(
            Kind::List {
                items: Vec::new(),
                optional: Vec::new(),
            },
            at,
        );
        let condition = self.constant(Literal::Bool(true), at);
        let accu = self.accu(at);
        let item = self.add(
            Kind::List {
                items: vec![make],
                optional: vec![false],
            },
            at,
        );
        let step = self.call("_+_", vec![accu, item], at);
        let step = self.filtered(test, step, at);
        let result = self.accu(at);
        self.fold(
            Fold {
                range,
                var,
                var2,
                accu: ACCU.into(),
                init,
                condition,
                step,
                result,
            },
            at,
        )
    }

    /// A step that is taken only when a test holds.
    pub(super) fn filtered(&mut self, test: Option<Id>, step: Id, at: usize) -> Id {
        let Some(test) = test else {
            return step;
        };
        let same = self.accu(at);
        self.call("_?_:_", vec![test, step, same], at)
    }

    pub(super) fn fold(&mut self, fold: Fold, at: usize) -> Id {
        self.add(Kind::Fold(Box::new(fold)), at)
    }
}
