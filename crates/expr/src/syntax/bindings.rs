//! Macros that give a value a name: `optMap`, `optFlatMap`, `sortBy`, `cel.bind`; and those that
//! only look at their arguments: `math.greatest`, `math.least`.

use super::{
    ast::{Fold, Id, Kind, Literal},
    macros::{Expansion, Misuse, UNUSED, misuse},
    parser::Parser,
};

const SORTED: &str = "@__sortBy_input__";

impl Parser<'_> {
    pub(super) fn binding_macro(
        &mut self,
        target: Id,
        name: &str,
        args: &[Id],
        at: usize,
    ) -> Expansion {
        let set = self.macros;
        match (name, args) {
            ("optMap" | "optFlatMap", [var, make]) if set.optionals => {
                self.optional_map(target, name, *var, *make, at)
            }
            ("sortBy", [var, key]) if set.lists => self.sort_by(target, *var, *key, at),
            ("bind", [var, init, result]) if set.bind && self.names(target, "cel") => {
                self.bind(*var, *init, *result, at)
            }
            ("greatest", args) if set.math && self.names(target, "math") => {
                self.extreme("greatest", "math.@max", target, args, at)
            }
            ("least", args) if set.math && self.names(target, "math") => {
                self.extreme("least", "math.@min", target, args, at)
            }
            _ => Ok(None),
        }
    }

    fn names(&self, target: Id, space: &str) -> bool {
        matches!(self.ast.kind(target), Kind::Ident(name) if &**name == space)
    }

    fn simple(&self, id: Id, complaint: String) -> Result<std::sync::Arc<str>, Misuse> {
        match self.ast.kind(id) {
            Kind::Ident(name) => Ok(name.clone()),
            _ => misuse(id, complaint),
        }
    }

    /// A loop over nothing, whose result sees `accu` as a variable.
    fn let_in(&mut self, accu: &str, init: Id, result: Id, at: usize) -> Id {
        let range = self.add(
            Kind::List {
                items: Vec::new(),
                optional: Vec::new(),
            },
            at,
        );
        let condition = self.constant(Literal::Bool(false), at);
        let step = self.add(Kind::Ident(accu.into()), at);
        let (var, accu) = (UNUSED.into(), accu.into());
        self.fold(
            Fold {
                range,
                var,
                var2: None,
                accu,
                init,
                condition,
                step,
                result,
            },
            at,
        )
    }

    fn method(&mut self, target: Id, name: &str, args: Vec<Id>, at: usize) -> Id {
        self.add(
            Kind::Call {
                target: Some(target),
                name: name.into(),
                args,
            },
            at,
        )
    }

    fn optional_map(&mut self, target: Id, name: &str, var: Id, make: Id, at: usize) -> Expansion {
        let complaint = format!("{name}() variable name must be a simple identifier");
        let var = self.simple(var, complaint)?;
        let test = self.method(target, "hasValue", Vec::new(), at);
        let again = self.ast.copy(target);
        let value = self.method(again, "value", Vec::new(), at);
        let mut result = self.let_in(&var, value, make, at);
        if name == "optMap" {
            result = self.call("optional.of", vec![result], at);
        }
        let none = self.call("optional.none", Vec::new(), at);
        Ok(Some(self.call("_?_:_", vec![test, result, none], at)))
    }

    fn sort_by(&mut self, target: Id, var: Id, key: Id, at: usize) -> Expansion {
        if matches!(
            self.ast.kind(target),
            Kind::Literal(_) | Kind::Map { .. } | Kind::Struct { .. }
        ) {
            return misuse(
                target,
                "sortBy can only be applied to a list, identifier, comprehension, call or select expression",
            );
        }
        let input = self.add(Kind::Ident(SORTED.into()), at);
        let Some(keys) = self.map_macro(input, var, None, key, at)? else {
            return Ok(None);
        };
        let input = self.add(Kind::Ident(SORTED.into()), at);
        let sorted = self.method(input, "@sortByAssociatedKeys", vec![keys], at);
        Ok(Some(self.let_in(SORTED, target, sorted, at)))
    }

    fn bind(&mut self, var: Id, init: Id, result: Id, at: usize) -> Expansion {
        let var = self.simple(
            var,
            "cel.bind() variable names must be simple identifiers".into(),
        )?;
        Ok(Some(self.let_in(&var, init, result, at)))
    }

    fn extreme(
        &mut self,
        word: &str,
        function: &str,
        target: Id,
        args: &[Id],
        at: usize,
    ) -> Expansion {
        match args {
            [] => misuse(
                target,
                format!("math.{word}() requires at least one argument"),
            ),
            [only] => {
                let list = matches!(self.ast.kind(*only), Kind::List { items, .. }
                    if !items.is_empty() && items.iter().all(|item| self.numeric(*item)));
                if list || self.numeric(*only) {
                    return Ok(Some(self.call(function, vec![*only], at)));
                }
                misuse(
                    *only,
                    format!("math.{word}() invalid single argument value"),
                )
            }
            many => {
                if let Some(wrong) = many.iter().find(|arg| !self.numeric(**arg)) {
                    let complaint = "simple literal arguments must be numeric";
                    return misuse(*wrong, format!("math.{word}() {complaint}"));
                }
                if many.len() == 2 {
                    return Ok(Some(self.call(function, many.to_vec(), at)));
                }
                let optional = vec![false; many.len()];
                let list = self.add(
                    Kind::List {
                        items: many.to_vec(),
                        optional,
                    },
                    at,
                );
                Ok(Some(self.call(function, vec![list], at)))
            }
        }
    }

    fn numeric(&self, id: Id) -> bool {
        match self.ast.kind(id) {
            Kind::Literal(literal) => {
                matches!(
                    literal,
                    Literal::Int(_) | Literal::Uint(_) | Literal::Double(_)
                )
            }
            Kind::List { .. } | Kind::Map { .. } | Kind::Struct { .. } => false,
            _ => true,
        }
    }
}
