//! Calls that an environment reads as something else: functions of any number of arguments, and
//! methods that stand for a field of another variable.

use std::sync::Arc;

use super::{
    ast::{Id, Kind},
    macros::{Expansion, misuse},
    parser::Parser,
};

/// A call and what it is read as.
#[derive(Clone, Debug)]
pub(crate) struct Rewrite {
    /// The variable that the call is made on; `None` for a plain call.
    pub(crate) receiver: Option<Arc<str>>,
    pub(crate) name: Arc<str>,
    pub(crate) meaning: Meaning,
}

/// What a call is read as.
#[derive(Clone, Debug)]
pub(crate) enum Meaning {
    /// `f(a, b, c)` is `f([a, b, c])`.
    Gathered,
    /// `f(a, b, c)` is `f(f(a, b), c)`.
    Chained,
    /// `x.f()` is `variable.field`; when it takes a key, `x.f(k)` is `variable.field[?k]`.
    Field {
        variable: Arc<str>,
        field: Arc<str>,
        by_key: bool,
    },
}

impl Parser<'_> {
    /// A plain call, if it is read as something else.
    pub(super) fn rewritten_call(&mut self, name: &str, args: &[Id], at: usize) -> Option<Id> {
        let wanted = |rewrite: &&Rewrite| rewrite.receiver.is_none() && &*rewrite.name == name;
        let rewrite = self.syntax.rewrites.iter().find(wanted)?;
        match (&rewrite.meaning, args) {
            (Meaning::Gathered, [_, _, ..]) => {
                let list = self.add(
                    Kind::List {
                        items: args.to_vec(),
                        optional: vec![false; args.len()],
                    },
                    at,
                );
                Some(self.call(name, vec![list], at))
            }
            (Meaning::Chained, [first, second, rest @ ..]) if !rest.is_empty() => {
                let mut chain = self.call(name, vec![*first, *second], at);
                for next in rest {
                    chain = self.call(name, vec![chain, *next], at);
                }
                Some(chain)
            }
            _ => None,
        }
    }

    /// A call on a variable, if it is read as a field of another.
    pub(super) fn rewritten_method(
        &mut self,
        target: Id,
        name: &str,
        args: &[Id],
        at: usize,
    ) -> Expansion {
        let rewrites = self.syntax.rewrites;
        let Kind::Ident(receiver) = self.ast.kind(target) else {
            return Ok(None);
        };
        let wanted = |rewrite: &&Rewrite| {
            rewrite.receiver.as_ref() == Some(receiver) && &*rewrite.name == name
        };
        let Some(Rewrite {
            meaning:
                Meaning::Field {
                    variable,
                    field,
                    by_key,
                },
            ..
        }) = rewrites.iter().find(wanted)
        else {
            return Ok(None);
        };
        if args.len() != usize::from(*by_key) {
            let takes = if *by_key {
                "one argument"
            } else {
                "no argument"
            };
            return misuse(target, format!("{receiver}.{name}() takes {takes}"));
        }
        let operand = self.add(Kind::Ident(variable.clone()), at);
        let found = self.add(
            Kind::Select {
                operand,
                field: field.clone(),
                test: false,
            },
            at,
        );
        Ok(Some(match args {
            [key] => self.call("_[?_]", vec![found, *key], at),
            _ => found,
        }))
    }
}
