//! Type checking: every node gets a type, every name and call a meaning.
//!
//! A tree and an environment come in; types and references go out. All problems are reported, not
//! only the first.

mod calls;
mod literals;
mod unify;
mod validate;

use std::sync::Arc;

use crate::{
    env::Env,
    issue::Issues,
    syntax::ast::{Ast, Fold, Id, Kind, Literal},
    ty::{MAX_WEIGHT, Type},
};
use unify::Bindings;
pub(crate) use validate::validate;

/// What a name or a call means.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reference {
    /// A variable, under its full name.
    Variable(Arc<str>),
    /// The name of a type.
    Type(Type),
    /// A function and those of its overloads that may apply.
    Function {
        name: Arc<str>,
        overloads: Vec<usize>,
    },
}

/// What checking found out, by node.
#[derive(Debug, Default)]
pub(crate) struct Checked {
    pub(crate) types: Vec<Option<Type>>,
    pub(crate) references: Vec<Option<Reference>>,
}

impl Checked {
    pub(crate) fn ty(&self, id: Id) -> &Type {
        self.types
            .get(id as usize)
            .and_then(Option::as_ref)
            .unwrap_or(&Type::Dyn)
    }

    pub(crate) fn reference(&self, id: Id) -> Option<&Reference> {
        self.references.get(id as usize).and_then(Option::as_ref)
    }
}

/// Checks a tree.
pub(crate) fn check(env: &Env, ast: &Ast, issues: &mut Issues) -> Checked {
    let mut checker = Checker {
        env,
        ast,
        issues,
        bindings: Bindings::new(env.options.objects_as_maps),
        scopes: Vec::new(),
        types: vec![None; ast.nodes.len()],
        references: vec![None; ast.nodes.len()],
    };
    checker.check(ast.root);
    let Checker {
        bindings,
        types,
        references,
        ..
    } = checker;
    let types = types
        .into_iter()
        .map(|ty| ty.map(|ty| bindings.resolve(&ty, true)))
        .collect();
    Checked { types, references }
}

struct Checker<'c> {
    env: &'c Env,
    ast: &'c Ast,
    issues: &'c mut Issues,
    bindings: Bindings,
    /// Variables of the loops around, innermost last.
    scopes: Vec<(Arc<str>, Type)>,
    types: Vec<Option<Type>>,
    references: Vec<Option<Reference>>,
}

impl Checker<'_> {
    fn report(&mut self, id: Id, message: String) {
        self.issues.at(self.ast.at(id) as usize, message);
    }

    fn undeclared(&mut self, id: Id, name: &str) -> Type {
        self.report(
            id,
            format!("undeclared reference to '{name}' (in container '')"),
        );
        Type::Error
    }

    fn ty(&self, id: Id) -> Type {
        self.types
            .get(id as usize)
            .and_then(Clone::clone)
            .unwrap_or(Type::Error)
    }

    fn set(&mut self, id: Id, ty: Type) {
        let ty = if ty.weight() > MAX_WEIGHT {
            self.report(id, "type of expression is too large".to_owned());
            Type::Error
        } else {
            ty
        };
        if let Some(slot) = self.types.get_mut(id as usize) {
            *slot = Some(ty);
        }
    }

    fn refer(&mut self, id: Id, reference: Reference) {
        if let Some(slot) = self.references.get_mut(id as usize) {
            *slot = Some(reference);
        }
    }

    fn check(&mut self, id: Id) {
        let ast = self.ast;
        let ty = match ast.kind(id) {
            Kind::Broken => Type::Error,
            Kind::Literal(literal) => match literal {
                Literal::Null => Type::Null,
                Literal::Bool(_) => Type::Bool,
                Literal::Int(_) => Type::Int,
                Literal::Uint(_) => Type::Uint,
                Literal::Double(_) => Type::Double,
                Literal::String(_) => Type::String,
                Literal::Bytes(_) => Type::Bytes,
            },
            Kind::Ident(name) => match self.lookup(name) {
                Some((reference, ty)) => {
                    self.refer(id, reference);
                    ty
                }
                None => self.undeclared(id, name),
            },
            Kind::Select {
                operand,
                field,
                test,
            } => self.select(id, *operand, field, *test),
            Kind::Call { target, name, args } => self.call(id, *target, name, args),
            Kind::List { items, optional } => self.list(items, optional),
            Kind::Map { entries } => self.map(entries),
            Kind::Struct { name, fields } => self.object(id, name, fields),
            Kind::Fold(fold) => self.fold(fold),
        };
        self.set(id, ty);
    }

    /// What a name means: a variable of a loop, a variable of the environment, or a type.
    fn lookup(&self, name: &str) -> Option<(Reference, Type)> {
        let (absolute, name) = match name.strip_prefix('.') {
            Some(rest) => (true, rest),
            None => (false, name),
        };
        if !absolute && let Some((name, ty)) = self.scopes.iter().rev().find(|var| *var.0 == *name)
        {
            return Some((Reference::Variable(name.clone()), ty.clone()));
        }
        if let Some(ty) = self.env.variables.get(name) {
            return Some((Reference::Variable(name.into()), ty.clone()));
        }
        let ty = self.env.types.get(name)?;
        Some((Reference::Type(ty.clone()), ty.clone().type_of()))
    }

    fn select(&mut self, id: Id, operand: Id, field: &str, test: bool) -> Type {
        if !test
            && let Some(name) = self.ast.qualified_name(id)
            && let Some((reference, ty)) = self.lookup(&name)
        {
            self.refer(id, reference);
            return ty;
        }
        let ty = self.field(id, operand, field, false);
        if test {
            Type::Bool
        } else {
            self.bindings.resolve(&ty, false)
        }
    }

    /// The type of a field of an operand.
    fn field(&mut self, id: Id, operand: Id, field: &str, optional: bool) -> Type {
        self.check(operand);
        let operand_type = self.bindings.resolve(&self.ty(operand), false);
        let inner = operand_type.unwrap_optional();
        let target = inner.unwrap_or(&operand_type);
        let result = match target {
            Type::Map(map) => map.value.clone(),
            Type::Object(object) => match object.fields.get(field) {
                Some(field) => field.ty.clone(),
                None => {
                    // Types of libraries are names only; the reference stumbles over them.
                    let hidden = object.fields.is_empty() && object.name.starts_with("kubernetes.");
                    let message = if hidden {
                        format!("unexpected failed resolution of '{}'", object.name)
                    } else {
                        format!("undefined field '{field}'")
                    };
                    self.report(id, message);
                    Type::Error
                }
            },
            Type::Var(_) => {
                self.bindings.assignable(&Type::Dyn, target);
                Type::Dyn
            }
            Type::Dyn | Type::Error => Type::Dyn,
            other => {
                self.report(
                    id,
                    format!("type '{other}' does not support field selection"),
                );
                Type::Dyn
            }
        };
        if optional || inner.is_some() {
            Type::optional(result)
        } else {
            result
        }
    }

    fn fold(&mut self, fold: &Fold) -> Type {
        self.check(fold.range);
        self.check(fold.init);
        let range = self.bindings.resolve(&self.ty(fold.range), false);
        let accu = self.ty(fold.init);
        let pair = fold.var2.is_some();
        let (first, second) = match &range {
            Type::List(list) if pair => (Type::Int, list.element.clone()),
            Type::List(list) => (list.element.clone(), Type::Dyn),
            Type::Map(map) => (map.key.clone(), map.value.clone()),
            Type::Object(_) if self.env.options.objects_as_maps => (Type::String, Type::Dyn),
            Type::Dyn | Type::Error | Type::Var(_) => {
                self.bindings.assignable(&Type::Dyn, &range);
                (Type::Dyn, Type::Dyn)
            }
            other => {
                self.report(
                    fold.range,
                    format!(
                        "expression of type '{other}' cannot be range of a comprehension (must be list, map, or dynamic)"
                    ),
                );
                (Type::Error, Type::Error)
            }
        };
        let depth = self.scopes.len();
        self.scopes.push((fold.accu.clone(), accu.clone()));
        self.scopes.push((fold.var.clone(), first));
        if let Some(var2) = &fold.var2 {
            self.scopes.push((var2.clone(), second));
        }
        self.check(fold.condition);
        self.expect(fold.condition, &Type::Bool);
        self.check(fold.step);
        self.expect(fold.step, &accu);
        self.scopes.truncate(depth + 1);
        self.check(fold.result);
        self.scopes.truncate(depth);
        self.bindings.resolve(&self.ty(fold.result), false)
    }

    fn expect(&mut self, id: Id, wanted: &Type) {
        let found = self.ty(id);
        if !self.bindings.assignable(wanted, &found) {
            self.mismatch(id, wanted, &found);
        }
    }

    fn mismatch(&mut self, id: Id, wanted: &Type, found: &Type) {
        self.report(id, format!("expected type '{wanted}' but found '{found}'"));
    }
}
