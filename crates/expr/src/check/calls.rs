//! Which function a call means, and which of its overloads.

use super::{Checker, Reference};
use crate::{
    syntax::ast::{Id, Kind, Literal},
    ty::Type,
};

impl Checker<'_> {
    pub(super) fn call(&mut self, id: Id, target: Option<Id>, name: &str, args: &[Id]) -> Type {
        if name == "_?._"
            && let [operand, field] = args
            && let Kind::Literal(Literal::String(field)) = self.ast.kind(*field)
        {
            let field = field.clone();
            let ty = self.field(id, *operand, &field, true);
            let reference = Reference::Function {
                name: name.into(),
                overloads: vec![0],
            };
            self.refer(id, reference);
            return self.bindings.resolve(&ty, false);
        }
        for arg in args {
            self.check(*arg);
        }
        let plain = name.strip_prefix('.').unwrap_or(name);
        let Some(target) = target else {
            if !self.env.functions.contains_key(plain) {
                return self.undeclared(id, name);
            }
            return self.resolve_overload(id, plain, None, args);
        };
        // `a.b.c()` may be the function `a.b.c`, or `c` called on `a.b`.
        if let Some(space) = self.ast.qualified_name(target) {
            let full = format!("{}.{name}", space.strip_prefix('.').unwrap_or(&space));
            if self.env.functions.contains_key(&full) {
                return self.resolve_overload(id, &full, None, args);
            }
        }
        self.check(target);
        if !self.env.functions.contains_key(name) {
            return self.undeclared(id, name);
        }
        self.resolve_overload(id, name, Some(target), args)
    }

    fn resolve_overload(&mut self, id: Id, name: &str, target: Option<Id>, args: &[Id]) -> Type {
        let env = self.env;
        if matches!(name, "_&&_" | "_||_") {
            return self.logical(id, name, args);
        }
        let types: Vec<Type> = target.iter().chain(args).map(|arg| self.ty(*arg)).collect();
        let mut found = Vec::new();
        let mut result: Option<Type> = None;
        for (place, overload) in env.functions.get(name).into_iter().flatten().enumerate() {
            if overload.member != target.is_some() {
                continue;
            }
            let mut params = Vec::new();
            let wanted: Vec<Type> = overload
                .args
                .iter()
                .map(|arg| self.bindings.instantiate(arg, &mut params))
                .collect();
            let ty = self.bindings.instantiate(&overload.result, &mut params);
            if !self.bindings.assignable_all(&types, &wanted) {
                continue;
            }
            found.push(place);
            let ty = self.bindings.resolve(&ty, false);
            result = Some(match result {
                None => ty,
                Some(Type::Dyn) => Type::Dyn,
                Some(known) if known == ty => known,
                Some(_) => Type::Dyn,
            });
        }
        let Some(result) = result else {
            let shown: Vec<String> = types
                .iter()
                .map(|ty| self.bindings.resolve(ty, true).to_string())
                .collect();
            let signature = match (target, shown.split_first()) {
                (Some(_), Some((first, rest))) => format!("{first}.({})", rest.join(", ")),
                _ => format!("({})", shown.join(", ")),
            };
            self.report(
                id,
                format!("found no matching overload for '{name}' applied to '{signature}'"),
            );
            return Type::Error;
        };
        self.refer(
            id,
            Reference::Function {
                name: name.into(),
                overloads: found,
            },
        );
        result
    }

    fn logical(&mut self, id: Id, name: &str, args: &[Id]) -> Type {
        let mut fits = true;
        for arg in args {
            let ty = self.ty(*arg);
            if !self.bindings.assignable(&ty, &Type::Bool) {
                self.mismatch(*arg, &Type::Bool, &ty);
                fits = false;
            }
        }
        if !fits {
            return Type::Error;
        }
        self.refer(
            id,
            Reference::Function {
                name: name.into(),
                overloads: vec![0],
            },
        );
        Type::Bool
    }
}
