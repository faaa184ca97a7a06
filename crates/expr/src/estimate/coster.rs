//! Walks over a checked tree and adds up.

use std::collections::HashMap;

use super::sizes::{Entries, Operand, Range};
use crate::{
    Decl, Program, Type,
    check::Reference,
    decl::Part,
    syntax::ast::{Fold, Id, Kind, Literal},
};

/// A variable of a loop, or one that was given a name.
struct Local {
    name: String,
    path: Vec<String>,
    size: Option<Range>,
    entries: Option<Entries>,
}

pub(super) struct Coster<'c> {
    pub(super) program: &'c Program,
    root: Option<&'c Decl>,
    paths: HashMap<Id, Vec<String>>,
    sizes: HashMap<Id, Range>,
    entries: HashMap<Id, Entries>,
    locals: Vec<Local>,
}

impl<'c> Coster<'c> {
    pub(super) fn new(program: &'c Program, root: Option<&'c Decl>) -> Self {
        Self {
            program,
            root,
            paths: HashMap::new(),
            sizes: HashMap::new(),
            entries: HashMap::new(),
            locals: Vec::new(),
        }
    }

    pub(super) fn kind(&self, id: Id) -> &'c Kind {
        self.program.ast.kind(id)
    }

    pub(super) fn ty(&self, id: Id) -> &'c Type {
        self.program.checked.ty(id)
    }

    /// The name, if a node is a variable or a type.
    fn name(&self, id: Id) -> Option<String> {
        match (self.program.checked.reference(id), self.kind(id)) {
            (Some(Reference::Variable(name)), Kind::Ident(_) | Kind::Select { .. }) => {
                Some(name.to_string())
            }
            (Some(Reference::Type(ty)), Kind::Ident(_) | Kind::Select { .. }) => {
                Some(ty.name().to_owned())
            }
            (_, Kind::Ident(name)) => Some(name.to_string()),
            _ => None,
        }
    }

    fn local(&self, name: &str) -> Option<&Local> {
        self.locals.iter().rev().find(|local| local.name == name)
    }

    pub(super) fn cost(&mut self, id: Id) -> Range {
        if let Some(name) = self.name(id) {
            let path = self
                .local(&name)
                .map_or_else(|| vec![name.clone()], |local| local.path.clone());
            self.paths.insert(id, path);
            return Range::fixed(1);
        }
        match self.kind(id) {
            Kind::Broken | Kind::Literal(_) | Kind::Ident(_) => Range::fixed(0),
            Kind::Select {
                operand,
                test: true,
                ..
            } => self.cost(*operand),
            Kind::Select { operand, field, .. } => {
                let mut sum = self.cost(*operand);
                if matches!(self.ty(*operand), Type::Map(_) | Type::Object(_)) {
                    sum = sum.plus(Range::fixed(1));
                }
                let mut path = self.path(*operand);
                path.push(field.to_string());
                self.paths.insert(id, path);
                sum
            }
            Kind::Call { target, args, .. } => self.call(id, *target, args),
            Kind::List { items, .. } => {
                let mut size = if items.is_empty() {
                    Range::fixed(0)
                } else {
                    Range::NOTHING
                };
                let mut sum = Range::fixed(10);
                for item in items {
                    sum = sum.plus(self.cost(*item));
                    size = size.union(self.size_or_unknown(*item));
                }
                let key = Range::fixed(1);
                self.entries.insert(
                    id,
                    Entries {
                        list: true,
                        key,
                        value: size,
                    },
                );
                sum
            }
            Kind::Map { entries } => {
                let none = if entries.is_empty() {
                    Range::fixed(0)
                } else {
                    Range::NOTHING
                };
                let (mut key, mut value) = (none, none);
                let mut sum = Range::fixed(30);
                for entry in entries {
                    sum = sum.plus(self.cost(entry.key)).plus(self.cost(entry.value));
                    key = key.union(self.size_or_unknown(entry.key));
                    value = value.union(self.size_or_unknown(entry.value));
                }
                self.entries.insert(
                    id,
                    Entries {
                        list: false,
                        key,
                        value,
                    },
                );
                sum
            }
            Kind::Struct { fields, .. } => fields.iter().fold(Range::fixed(40), |sum, field| {
                sum.plus(self.cost(field.value))
            }),
            Kind::Fold(fold) if self.names_a_value(fold) => self.let_in(id, fold),
            Kind::Fold(fold) => self.fold(id, fold),
        }
    }

    /// A loop over nothing is only there to give a value a name.
    fn names_a_value(&self, fold: &Fold) -> bool {
        matches!(self.kind(fold.range), Kind::List { items, .. } if items.is_empty())
            && matches!(
                self.kind(fold.condition),
                Kind::Literal(Literal::Bool(false))
            )
    }

    fn let_in(&mut self, id: Id, fold: &Fold) -> Range {
        let mut sum = self.cost(fold.range).plus(self.cost(fold.init));
        self.push_value(&fold.accu, fold.init);
        sum = sum.plus(self.cost(fold.result));
        self.locals.pop();
        self.copy_sizes(id, fold.result);
        sum
    }

    fn fold(&mut self, id: Id, fold: &Fold) -> Range {
        let mut sum = self.cost(fold.range).plus(self.cost(fold.init));
        self.push_value(&fold.accu, fold.init);
        match &fold.var2 {
            Some(second) => {
                self.push_part(&fold.var, fold.range, true, false);
                self.push_part(second, fold.range, false, false);
            }
            None => self.push_part(&fold.var, fold.range, true, true),
        }
        let turn = self.cost(fold.condition).plus(self.cost(fold.step));
        self.locals.pop();
        if fold.var2.is_some() {
            self.locals.pop();
        }
        sum = sum.plus(self.cost(fold.result));
        self.locals.pop();
        let count = self.size_or_unknown(fold.range);
        sum = sum.plus(count.times(turn));
        match self.kind(fold.init) {
            Kind::Literal(_) => {
                if let Some(size) = self.size(fold.init) {
                    self.sizes.insert(id, size);
                }
            }
            Kind::List { .. } | Kind::Map { .. } => {
                self.sizes.insert(id, count);
                if let Some(entries) = self.entries_of(fold.step) {
                    self.entries.insert(id, entries);
                }
            }
            _ => {}
        }
        sum
    }

    fn push_value(&mut self, name: &str, value: Id) {
        let local = Local {
            name: name.to_owned(),
            path: self.path(value),
            size: self.size(value),
            entries: self.entries_of(value),
        };
        self.locals.push(local);
    }

    /// A variable that goes over a range: keys or values, or what a loop with one variable sees.
    fn push_part(&mut self, name: &str, range: Id, key: bool, single: bool) {
        let entries = self.entries_of(range);
        let list = entries.map_or(matches!(self.ty(range), Type::List(_)), |entries| {
            entries.list
        });
        let key = if single { !list } else { key };
        let step = match (key, list) {
            (true, true) => "@indices",
            (true, false) => "@keys",
            (false, true) => "@items",
            (false, false) => "@values",
        };
        let mut path = self.path(range);
        path.push(step.to_owned());
        let size = entries.map(|entries| if key { entries.key } else { entries.value });
        self.locals.push(Local {
            name: name.to_owned(),
            path,
            size,
            entries: None,
        });
    }

    pub(super) fn path(&self, id: Id) -> Vec<String> {
        if let Some(local) = self.name(id).and_then(|name| self.local(&name)) {
            return local.path.clone();
        }
        self.paths.get(&id).cloned().unwrap_or_default()
    }

    pub(super) fn set_path(&mut self, id: Id, from: Id, step: &str) {
        let mut path = self.path(from);
        path.push(step.to_owned());
        self.paths.insert(id, path);
    }

    pub(super) fn set_size(&mut self, id: Id, size: Option<Range>) {
        if let Some(size) = size {
            self.sizes.insert(id, size);
        }
    }

    pub(super) fn set_entries(&mut self, id: Id, entries: Option<Entries>) {
        if let Some(entries) = entries {
            self.entries.insert(id, entries);
        }
    }

    pub(super) fn copy_sizes(&mut self, to: Id, from: Id) {
        let size = self.size(from);
        self.set_size(to, size);
        let entries = self.entries_of(from);
        self.set_entries(to, entries);
    }

    pub(super) fn entries_of(&self, id: Id) -> Option<Entries> {
        self.entries.get(&id).copied().or_else(|| {
            self.name(id)
                .and_then(|name| self.local(&name))
                .and_then(|local| local.entries)
        })
    }

    pub(super) fn size_or_unknown(&mut self, id: Id) -> Range {
        self.size(id).unwrap_or(Range::UNKNOWN)
    }

    pub(super) fn size(&mut self, id: Id) -> Option<Range> {
        if let Some(size) = self.sizes.get(&id) {
            return Some(*size);
        }
        let written = match self.kind(id) {
            Kind::Literal(Literal::String(text)) => Some(text.chars().count()),
            Kind::Literal(Literal::Bytes(bytes)) => Some(bytes.len()),
            Kind::Literal(_) => Some(1),
            Kind::List { items, .. } => Some(items.len()),
            Kind::Map { entries } => Some(entries.len()),
            _ => None,
        };
        if let Some(size) = written {
            return Some(Range::fixed(size as u64));
        }
        if let Some(size) = self.declared(&self.path(id)) {
            self.sizes.insert(id, size);
            return Some(size);
        }
        if is_scalar(self.ty(id)) {
            return Some(Range::fixed(1));
        }
        self.name(id)
            .and_then(|name| self.local(&name))
            .and_then(|local| local.size)
    }

    /// The size of what is at a path, as far as the declaration tells.
    pub(super) fn declared(&self, path: &[String]) -> Option<Range> {
        let (_, steps) = path.split_first()?;
        let mut at = Part::Decl(self.root?);
        for step in steps {
            at = match at {
                Part::Decl(decl) => decl.step(step)?,
                Part::Key => return None,
            };
        }
        let most = match at {
            Part::Decl(decl) => decl.most(),
            Part::Key => 0,
        };
        Some(Range { min: 0, max: most })
    }

    /// A node as the estimators of functions see it.
    pub(super) fn operand(&mut self, id: Id) -> Operand<'c> {
        let mut path = self.path(id);
        if path
            .first()
            .is_some_and(|first| first == "@result" || first == "__result__")
        {
            path.clear();
        }
        let literal = match self.kind(id) {
            Kind::Literal(Literal::Int(number)) => Some(*number),
            _ => None,
        };
        Operand {
            path,
            ty: self.ty(id),
            size: self.size(id),
            literal,
            id,
        }
    }
}

fn is_scalar(ty: &Type) -> bool {
    match ty {
        Type::Bool | Type::Double | Type::Duration | Type::Int | Type::Timestamp | Type::Uint => {
            true
        }
        other => other.unwrap_optional().is_some_and(is_scalar),
    }
}
