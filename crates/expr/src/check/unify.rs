//! Which type may stand where another is wanted, and what type variables turn out to be.

use crate::ty::{ListKind, Type};

/// What is known about type variables so far. Changes can be taken back.
#[derive(Default)]
pub(super) struct Bindings {
    known: Vec<Option<Type>>,
    journal: Vec<(u32, Option<Type>)>,
    /// Whether an object may stand for a map from text.
    objects_as_maps: bool,
}

impl Bindings {
    pub(super) fn new(objects_as_maps: bool) -> Self {
        Self {
            objects_as_maps,
            ..Self::default()
        }
    }

    pub(super) fn fresh(&mut self) -> Type {
        self.known.push(None);
        Type::Var(u32::try_from(self.known.len() - 1).unwrap_or(u32::MAX))
    }

    fn find(&self, var: u32) -> Option<&Type> {
        self.known.get(var as usize).and_then(Option::as_ref)
    }

    fn bind(&mut self, var: u32, ty: Type) {
        if let Some(slot) = self.known.get_mut(var as usize) {
            self.journal.push((var, slot.replace(ty)));
        }
    }

    /// Whether all of `from` may be used as `to`; if not, nothing has changed.
    pub(super) fn assignable_all(&mut self, from: &[Type], to: &[Type]) -> bool {
        let mark = self.journal.len();
        if self.all(from, to) {
            return true;
        }
        for (var, old) in self.journal.drain(mark..).rev() {
            if let Some(slot) = self.known.get_mut(var as usize) {
                *slot = old;
            }
        }
        false
    }

    pub(super) fn assignable(&mut self, from: &Type, to: &Type) -> bool {
        self.assignable_all(std::slice::from_ref(from), std::slice::from_ref(to))
    }

    fn all(&mut self, from: &[Type], to: &[Type]) -> bool {
        from.len() == to.len() && from.iter().zip(to).all(|(from, to)| self.one(from, to))
    }

    fn one(&mut self, from: &Type, to: &Type) -> bool {
        if let Type::Var(var) = to {
            match self.substitutes(from, *var) {
                Fit::Yes => return true,
                Fit::No => return false,
                Fit::Unbound => {}
            }
        }
        if let Type::Var(var) = from {
            return matches!(self.substitutes(to, *var), Fit::Yes);
        }
        match (from, to) {
            (Type::Dyn | Type::Error, _)
            | (_, Type::Dyn | Type::Error)
            | (Type::Null, Type::Null)
            | (Type::Type(_), Type::Type(_)) => true,
            (Type::Null, other) | (other, Type::Null) => nullable(other),
            (Type::List(a), Type::List(b)) => self.one(&a.element, &b.element),
            (Type::Map(a), Type::Map(b)) => {
                self.one(&a.key, &b.key) && self.one(&a.value, &b.value)
            }
            (Type::Opaque(a), Type::Opaque(b)) => {
                a.name == b.name && self.all(&a.params, &b.params)
            }
            (Type::Object(_), Type::Map(map)) | (Type::Map(map), Type::Object(_))
                if self.objects_as_maps =>
            {
                // The fields of an object have many types: only a map of anything can hold them.
                let value = self.resolve(&map.value, false);
                matches!(value, Type::Dyn | Type::Var(_))
                    && self.one(&Type::String, &map.key)
                    && self.one(&Type::Dyn, &value)
            }
            _ => from == to,
        }
    }

    /// Whether a type may stand for a variable, which is then bound to it.
    fn substitutes(&mut self, ty: &Type, var: u32) -> Fit {
        if *ty == Type::Var(var) {
            return Fit::Yes;
        }
        match self.find(var).cloned() {
            Some(known) => {
                if *ty == known {
                    return Fit::Yes;
                }
                if !self.one(ty, &known) {
                    return Fit::No;
                }
                let general = most_general(ty, &known).clone();
                if self.absent(var, &general) {
                    self.bind(var, general);
                }
                Fit::Yes
            }
            None if self.absent(var, ty) => {
                self.bind(var, ty.clone());
                Fit::Yes
            }
            None => Fit::Unbound,
        }
    }

    /// Whether a variable does not occur inside a type.
    fn absent(&self, var: u32, ty: &Type) -> bool {
        match ty {
            Type::Var(inner) => {
                *inner != var
                    && self
                        .find(*inner)
                        .is_none_or(|known| self.absent(var, known))
            }
            Type::List(list) => self.absent(var, &list.element),
            Type::Map(map) => self.absent(var, &map.key) && self.absent(var, &map.value),
            Type::Opaque(opaque) => opaque.params.iter().all(|param| self.absent(var, param)),
            Type::Type(Some(inner)) => self.absent(var, inner),
            _ => true,
        }
    }

    /// The type with everything known filled in; what stays unknown becomes `dyn` on request.
    pub(super) fn resolve(&self, ty: &Type, unknown_to_dyn: bool) -> Type {
        match ty {
            Type::Var(var) => match self.find(*var) {
                Some(known) => self.resolve(known, unknown_to_dyn),
                None if unknown_to_dyn => Type::Dyn,
                None => ty.clone(),
            },
            Type::Param(_) if unknown_to_dyn => Type::Dyn,
            Type::List(list) => Type::list_of(
                self.resolve(&list.element, unknown_to_dyn),
                list.kind.clone(),
            ),
            Type::Map(map) => Type::map(
                self.resolve(&map.key, unknown_to_dyn),
                self.resolve(&map.value, unknown_to_dyn),
            ),
            Type::Opaque(opaque) if !opaque.params.is_empty() => Type::opaque(
                &opaque.name,
                opaque
                    .params
                    .iter()
                    .map(|param| self.resolve(param, unknown_to_dyn))
                    .collect(),
            ),
            Type::Type(Some(inner)) => self.resolve(inner, unknown_to_dyn).type_of(),
            _ => ty.clone(),
        }
    }

    /// A declaration's type with its parameters replaced by fresh variables.
    pub(super) fn instantiate(&mut self, ty: &Type, params: &mut Vec<(String, Type)>) -> Type {
        match ty {
            Type::Param(name) => {
                if let Some((_, var)) = params.iter().find(|(known, _)| **known == **name) {
                    return var.clone();
                }
                let var = self.fresh();
                params.push((name.to_string(), var.clone()));
                var
            }
            Type::List(list) => {
                Type::list_of(self.instantiate(&list.element, params), ListKind::Plain)
            }
            Type::Map(map) => {
                let key = self.instantiate(&map.key, params);
                Type::map(key, self.instantiate(&map.value, params))
            }
            Type::Opaque(opaque) if !opaque.params.is_empty() => {
                let inner = opaque
                    .params
                    .iter()
                    .map(|param| self.instantiate(param, params))
                    .collect();
                Type::opaque(&opaque.name, inner)
            }
            Type::Type(Some(inner)) => self.instantiate(inner, params).type_of(),
            _ => ty.clone(),
        }
    }
}

enum Fit {
    Yes,
    No,
    Unbound,
}

fn nullable(ty: &Type) -> bool {
    matches!(
        ty,
        Type::Opaque(_) | Type::Object(_) | Type::Timestamp | Type::Duration
    )
}

/// The more general of two types that are known to fit.
pub(super) fn most_general<'t>(one: &'t Type, two: &'t Type) -> &'t Type {
    if less_specific(one, two) { one } else { two }
}

fn less_specific(one: &Type, two: &Type) -> bool {
    match (one, two) {
        // A map that may stand for an object says less of its values.
        (Type::Dyn | Type::Var(_) | Type::Param(_), _)
        | (Type::Type(_), Type::Type(_))
        | (Type::Map(_), Type::Object(_)) => true,
        (_, Type::Dyn | Type::Var(_) | Type::Param(_)) => false,
        (Type::List(a), Type::List(b)) => less_specific(&a.element, &b.element),
        (Type::Map(a), Type::Map(b)) => {
            less_specific(&a.key, &b.key) && less_specific(&a.value, &b.value)
        }
        (Type::Opaque(a), Type::Opaque(b)) => {
            a.name == b.name
                && a.params.len() == b.params.len()
                && a.params
                    .iter()
                    .zip(&b.params)
                    .all(|(a, b)| less_specific(a, b))
        }
        _ => one == two,
    }
}
