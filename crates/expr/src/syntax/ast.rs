//! The syntax tree: nodes in one vector, referred to by index.

use std::sync::Arc;

/// A node of the tree.
pub(crate) type Id = u32;

/// More nodes than this come only from macros that repeat their target over and over.
pub(crate) const MAX_NODES: usize = 200_000;

/// A constant in the text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Literal {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(Arc<str>),
    Bytes(Arc<[u8]>),
}

/// `key: value` inside braces.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: Id,
    pub(crate) value: Id,
    pub(crate) optional: bool,
}

/// `field: value` inside the braces of a named type.
#[derive(Clone, Debug)]
pub(crate) struct FieldInit {
    pub(crate) at: u32,
    pub(crate) name: Arc<str>,
    pub(crate) value: Id,
    pub(crate) optional: bool,
}

/// A loop: what every comprehension macro becomes.
#[derive(Clone, Debug)]
pub(crate) struct Fold {
    pub(crate) range: Id,
    pub(crate) var: Arc<str>,
    pub(crate) var2: Option<Arc<str>>,
    pub(crate) accu: Arc<str>,
    pub(crate) init: Id,
    pub(crate) condition: Id,
    pub(crate) step: Id,
    pub(crate) result: Id,
}

/// What a node is.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// Stands where an error was reported.
    Broken,
    Literal(Literal),
    Ident(Arc<str>),
    Select {
        operand: Id,
        field: Arc<str>,
        test: bool,
    },
    Call {
        target: Option<Id>,
        name: Arc<str>,
        args: Vec<Id>,
    },
    List {
        items: Vec<Id>,
        optional: Vec<bool>,
    },
    Map {
        entries: Vec<Entry>,
    },
    Struct {
        name: Arc<str>,
        fields: Vec<FieldInit>,
    },
    Fold(Box<Fold>),
}

/// A node with the place in the text that messages point at.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    /// Offset in code points.
    pub(crate) at: u32,
    /// How deep operators and selections nest below, as the reference parser counts.
    pub(crate) height: u32,
}

/// A whole expression.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ast {
    pub(crate) nodes: Vec<Node>,
    pub(crate) root: Id,
}

impl Ast {
    pub(crate) fn add(&mut self, kind: Kind, at: u32) -> Id {
        let height = self.height_of(&kind);
        let id = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        self.nodes.push(Node { kind, at, height });
        id
    }

    pub(crate) fn kind(&self, id: Id) -> &Kind {
        self.nodes
            .get(id as usize)
            .map_or(&Kind::Broken, |node| &node.kind)
    }

    pub(crate) fn at(&self, id: Id) -> u32 {
        self.nodes.get(id as usize).map_or(0, |node| node.at)
    }

    pub(crate) fn height(&self, id: Id) -> u32 {
        self.nodes.get(id as usize).map_or(0, |node| node.height)
    }

    /// How many levels the tree has. Parts come before what they are part of.
    pub(crate) fn levels(&self) -> u32 {
        let mut levels: Vec<u32> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let level = |id: &Id| levels.get(*id as usize).copied().unwrap_or(0);
            let below = match &node.kind {
                Kind::Broken | Kind::Literal(_) | Kind::Ident(_) => 0,
                Kind::Select { operand, .. } => level(operand),
                Kind::Call { target, args, .. } => {
                    target.iter().chain(args).map(level).max().unwrap_or(0)
                }
                Kind::List { items, .. } => items.iter().map(level).max().unwrap_or(0),
                Kind::Map { entries } => entries
                    .iter()
                    .map(|entry| level(&entry.key).max(level(&entry.value)))
                    .max()
                    .unwrap_or(0),
                Kind::Struct { fields, .. } => fields
                    .iter()
                    .map(|field| level(&field.value))
                    .max()
                    .unwrap_or(0),
                Kind::Fold(fold) => [
                    fold.range,
                    fold.init,
                    fold.condition,
                    fold.step,
                    fold.result,
                ]
                .iter()
                .map(level)
                .max()
                .unwrap_or(0),
            };
            levels.push(below + 1);
        }
        levels.get(self.root as usize).copied().unwrap_or(0)
    }

    /// `a.b.c` as one name, when it is nothing but names and dots.
    pub(crate) fn qualified_name(&self, id: Id) -> Option<String> {
        match self.kind(id) {
            Kind::Ident(name) => Some(name.to_string()),
            Kind::Select {
                operand,
                field,
                test: false,
            } => {
                let mut name = self.qualified_name(*operand)?;
                name.push('.');
                name.push_str(field);
                Some(name)
            }
            _ => None,
        }
    }

    /// The operand and the name of a field: `a.b`, `a.?b`, `a["b"]`.
    pub(crate) fn field_of(&self, id: Id) -> Option<(Id, &str)> {
        match self.kind(id) {
            Kind::Select { operand, field, .. } => Some((*operand, field)),
            Kind::Call { name, args, .. } if matches!(&**name, "_?._" | "_[_]" | "_[?_]") => {
                let [operand, field] = args.as_slice() else {
                    return None;
                };
                match self.kind(*field) {
                    Kind::Literal(Literal::String(field)) => Some((*operand, field)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// A copy of a subtree, for macros that use an argument twice.
    pub(crate) fn copy(&mut self, id: Id) -> Id {
        if self.nodes.len() > MAX_NODES {
            return id; // the caller refuses the expression
        }
        let at = self.at(id);
        let kind = match self.kind(id).clone() {
            Kind::Select {
                operand,
                field,
                test,
            } => Kind::Select {
                operand: self.copy(operand),
                field,
                test,
            },
            Kind::Call { target, name, args } => {
                let args = args.into_iter().map(|arg| self.copy(arg)).collect();
                Kind::Call {
                    target: target.map(|target| self.copy(target)),
                    name,
                    args,
                }
            }
            Kind::List { items, optional } => Kind::List {
                items: items.into_iter().map(|item| self.copy(item)).collect(),
                optional,
            },
            Kind::Map { entries } => Kind::Map {
                entries: entries
                    .into_iter()
                    .map(|entry| Entry {
                        key: self.copy(entry.key),
                        value: self.copy(entry.value),
                        optional: entry.optional,
                    })
                    .collect(),
            },
            Kind::Struct { name, fields } => Kind::Struct {
                name,
                fields: fields
                    .into_iter()
                    .map(|field| FieldInit {
                        value: self.copy(field.value),
                        ..field
                    })
                    .collect(),
            },
            Kind::Fold(fold) => Kind::Fold(Box::new(Fold {
                range: self.copy(fold.range),
                init: self.copy(fold.init),
                condition: self.copy(fold.condition),
                step: self.copy(fold.step),
                result: self.copy(fold.result),
                ..*fold
            })),
            leaf @ (Kind::Broken | Kind::Literal(_) | Kind::Ident(_)) => leaf,
        };
        self.add(kind, at)
    }

    /// Counted operators that a macro wrapped around a step.
    fn made_by_macro(&self, step: Id) -> u32 {
        match self.kind(step) {
            Kind::Call { name, args, .. } if &**name == "_?_:_" => {
                1 + args.get(1).map_or(0, |inner| self.made_by_macro(*inner))
            }
            Kind::Call { name, .. } if &**name == "_+_" => 1,
            _ => 0,
        }
    }

    fn height_of(&self, kind: &Kind) -> u32 {
        let most = |ids: &[Id]| ids.iter().map(|id| self.height(*id)).max().unwrap_or(0);
        match kind {
            Kind::Broken | Kind::Literal(_) | Kind::Ident(_) => 0,
            Kind::Select { operand, .. } => self.height(*operand) + 1,
            Kind::Call {
                target: Some(target),
                args,
                ..
            } => self.height(*target).max(most(args)) + 1,
            Kind::Call { name, args, .. } => {
                let counted = name.starts_with('_') || &**name == "@in";
                let logical = matches!(&**name, "_&&_" | "_||_");
                most(args) + u32::from(counted && !logical)
            }
            Kind::List { items, .. } => most(items),
            Kind::Map { entries } => entries
                .iter()
                .map(|entry| self.height(entry.key).max(self.height(entry.value)))
                .max()
                .unwrap_or(0),
            Kind::Struct { fields, .. } => fields
                .iter()
                .map(|field| self.height(field.value))
                .max()
                .unwrap_or(0),
            // The text had one member call here. What the macro put around its arguments (at most a
            // choice and a sum) does not count.
            Kind::Fold(fold) => {
                let step = self
                    .height(fold.step)
                    .saturating_sub(self.made_by_macro(fold.step));
                self.height(fold.range)
                    .max(self.height(fold.init))
                    .max(step)
                    + 1
            }
        }
    }
}
