//! Types of lists, maps and objects that are written out.

use super::{Checker, Reference, unify::most_general};
use crate::{
    syntax::ast::{Entry, FieldInit, Id},
    ty::Type,
};

impl Checker<'_> {
    pub(super) fn list(&mut self, items: &[Id], optional: &[bool]) -> Type {
        let mut element = None;
        for (place, item) in items.iter().enumerate() {
            self.check(*item);
            let marked = optional.get(place).copied().unwrap_or(false);
            let ty = self.unwrapped(*item, marked);
            element = Some(self.join(element, ty));
        }
        Type::list(element.unwrap_or_else(|| self.bindings.fresh()))
    }

    pub(super) fn map(&mut self, entries: &[Entry]) -> Type {
        let (mut key_type, mut value_type) = (None, None);
        for entry in entries {
            self.check(entry.key);
            let ty = self.ty(entry.key);
            key_type = Some(self.join(key_type, ty));
            self.check(entry.value);
            let ty = self.unwrapped(entry.value, entry.optional);
            value_type = Some(self.join(value_type, ty));
        }
        let key = key_type.unwrap_or_else(|| self.bindings.fresh());
        let value = value_type.unwrap_or_else(|| self.bindings.fresh());
        Type::map(key, value)
    }

    /// The type of an element; of what is inside it, when it is marked with `?`.
    fn unwrapped(&mut self, id: Id, marked: bool) -> Type {
        let ty = self.ty(id);
        if !marked {
            return ty;
        }
        match ty.unwrap_optional() {
            Some(inner) => inner.clone(),
            None => {
                if !matches!(ty, Type::Dyn) {
                    self.mismatch(id, &Type::optional(ty.clone()), &ty);
                }
                ty
            }
        }
    }

    /// The type of elements seen so far and one more.
    fn join(&mut self, before: Option<Type>, ty: Type) -> Type {
        let Some(before) = before else {
            return ty;
        };
        if self.bindings.assignable(&before, &ty) {
            return most_general(&before, &ty).clone();
        }
        Type::Dyn
    }

    pub(super) fn object(&mut self, id: Id, name: &str, fields: &[FieldInit]) -> Type {
        let Some((reference, ty)) = self.lookup(name) else {
            return self.undeclared(id, name);
        };
        let object = match &reference {
            Reference::Type(Type::Object(object)) => Some(object.clone()),
            Reference::Type(ty) => {
                self.report(id, format!("'{}' is not a message type", ty.name()));
                None
            }
            _ => {
                self.report(id, format!("'{}' is not a type", ty.name()));
                None
            }
        };
        self.refer(id, reference);
        for field in fields {
            self.check(field.value);
            let found = self.unwrapped(field.value, field.optional);
            let Some(object) = &object else {
                continue;
            };
            let Some(declared) = object.fields.get(&*field.name) else {
                self.issues.at(
                    field.at as usize,
                    format!("undefined field '{}'", field.name),
                );
                continue;
            };
            if !self.bindings.assignable(&declared.ty, &found) {
                let message = format!(
                    "expected type of field '{}' is '{}' but provided type is '{found}'",
                    field.name, declared.ty
                );
                self.issues.at(field.at as usize, message);
            }
        }
        object.map_or(Type::Error, Type::Object)
    }
}
