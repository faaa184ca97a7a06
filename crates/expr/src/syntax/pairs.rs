//! Loops over two variables: index and element of a list, key and value of a map.

use std::sync::Arc;

use super::{
    ast::{Fold, Id, Kind, Literal},
    macros::{ACCU, Expansion, Misuse, misuse},
    parser::Parser,
};

impl Parser<'_> {
    pub(super) fn pair_macro(
        &mut self,
        range: Id,
        name: &str,
        args: &[Id],
        at: usize,
    ) -> Expansion {
        let quantifier = matches!(name, "all" | "exists" | "existsOne" | "exists_one");
        let transform = matches!(name, "transformList" | "transformMap" | "transformMapEntry");
        let fits = quantifier && args.len() == 3 || transform && (3..=4).contains(&args.len());
        if !fits {
            return self.binding_macro(range, name, args, at);
        }
        let (var, var2) = self.variables(args[0], args[1])?;
        let (test, make) = if args.len() == 4 {
            (Some(args[2]), args[3])
        } else {
            (None, args[2])
        };
        let pair = (var.clone(), Some(var2.clone()));
        Ok(Some(match name {
            "all" => self.all_loop(range, var, Some(var2), make, at),
            "exists" => self.exists_loop(range, var, Some(var2), make, at),
            "existsOne" | "exists_one" => self.one_loop(range, var, Some(var2), make, at),
            "transformList" => self.map_loop(range, pair, test, make, at),
            _ => {
                let accu = self.accu(at);
                let mut inserted = vec![accu];
                if name == "transformMap" {
                    inserted.push(self.add(Kind::Ident(var.clone()), at));
                }
                inserted.push(make);
                let step = self.call("cel.@mapInsert", inserted, at);
                self.map_of(range, pair, test, step, at)
            }
        }))
    }

    fn map_of(
        &mut self,
        range: Id,
        (var, var2): (Arc<str>, Option<Arc<str>>),
        test: Option<Id>,
        step: Id,
        at: usize,
    ) -> Id {
        let init = self.add(
            Kind::Map {
                entries: Vec::new(),
            },
            at,
        );
        let condition = self.constant(Literal::Bool(true), at);
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

    fn variables(&self, first: Id, second: Id) -> Result<(Arc<str>, Arc<str>), Misuse> {
        let one = self.variable(first, "argument must be a simple name")?;
        let two = self.variable(second, "argument must be a simple name")?;
        if one == two {
            return misuse(second, format!("duplicate variable name: {one}"));
        }
        Ok((one, two))
    }
}
