//! Declarations: the shape of data and how large it may be.
//!
//! A [`Type`] says what expressions may do with data; a [`Decl`] also says how much of it there can
//! be, which is what estimating a cost before evaluation needs.

use std::collections::BTreeMap;

use crate::ty::{Field, ListKind, Type};

/// The shape of some data with its bounds.
#[derive(Clone, Debug)]
pub struct Decl {
    shape: Shape,
    most: u64,
    smallest: u64,
}

#[derive(Clone, Debug)]
enum Shape {
    Scalar(Type),
    List(Box<Decl>, ListKind),
    Map(Box<Decl>),
    Object {
        name: String,
        fields: BTreeMap<String, (String, Decl)>,
    },
}

impl Decl {
    /// Something without parts; `smallest` is the least number of bytes it takes as JSON.
    pub fn scalar(ty: Type, smallest: u64) -> Self {
        Self {
            shape: Shape::Scalar(ty),
            most: 0,
            smallest,
        }
    }

    /// A list.
    pub fn list(element: Self, kind: ListKind) -> Self {
        Self {
            shape: Shape::List(Box::new(element), kind),
            most: 0,
            smallest: 2,
        }
    }

    /// A map from text.
    pub fn map(value: Self) -> Self {
        Self {
            shape: Shape::Map(Box::new(value)),
            most: 0,
            smallest: 2,
        }
    }

    /// An object: fields as (name in expressions, name in the data, shape).
    pub fn object(fields: impl IntoIterator<Item = (String, String, Self)>, smallest: u64) -> Self {
        let fields = fields
            .into_iter()
            .map(|(key, name, decl)| (key, (name, decl)))
            .collect();
        Self {
            shape: Shape::Object {
                name: "object".to_owned(),
                fields,
            },
            most: 0,
            smallest,
        }
    }

    /// With a bound on length: characters of text, elements of a list, entries of a map.
    #[must_use]
    pub fn at_most(mut self, most: u64) -> Self {
        self.most = most;
        self
    }

    /// The bound on length.
    pub fn most(&self) -> u64 {
        self.most
    }

    /// The least number of bytes as JSON.
    pub fn smallest(&self) -> u64 {
        self.smallest
    }

    /// With names for this object and all objects inside, derived from where they are.
    #[must_use]
    pub fn named(mut self, root: &str) -> Self {
        self.name_objects(root);
        self
    }

    fn name_objects(&mut self, path: &str) {
        match &mut self.shape {
            Shape::Scalar(_) => {}
            Shape::List(element, _) => element.name_objects(&format!("{path}.@idx")),
            Shape::Map(value) => value.name_objects(&format!("{path}.@elem")),
            Shape::Object { name, fields } => {
                path.clone_into(name);
                for (key, (_, field)) in fields {
                    field.name_objects(&format!("{path}.{key}"));
                }
            }
        }
    }

    /// The type of such data.
    pub fn ty(&self) -> Type {
        match &self.shape {
            Shape::Scalar(ty) => ty.clone(),
            Shape::List(element, kind) => Type::list_of(element.ty(), kind.clone()),
            Shape::Map(value) => Type::map(Type::String, value.ty()),
            Shape::Object { name, fields } => Type::object(
                name,
                fields.iter().map(|(key, (name, decl))| {
                    (
                        key.clone(),
                        Field {
                            name: name.clone(),
                            ty: decl.ty(),
                        },
                    )
                }),
            ),
        }
    }

    /// The part at a step of a path: a field, `@items`, `@values` or `@keys`.
    pub(crate) fn step(&self, name: &str) -> Option<Part<'_>> {
        match (&self.shape, name) {
            (Shape::List(element, _), "@items" | "@values") => Some(Part::Decl(element)),
            (Shape::Map(value), "@items" | "@values") => Some(Part::Decl(value)),
            (Shape::Map(_), "@keys") => Some(Part::Key),
            (Shape::Object { fields, .. }, name) => {
                fields.get(name).map(|(_, decl)| Part::Decl(decl))
            }
            _ => None,
        }
    }
}

/// A part of a declaration.
pub(crate) enum Part<'d> {
    Decl(&'d Decl),
    /// A key of a map: text without a bound of its own.
    Key,
}
