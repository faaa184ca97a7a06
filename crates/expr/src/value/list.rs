//! Lists: made by an expression, borrowed from JSON, or two put together.

use std::sync::Arc;

use serde_json::Value as Json;

use super::{Value, adopt, json::LIST_OF_ANYTHING};
use crate::ty::{ListKind, ListType};

/// Below this many elements, copying is cheaper than remembering two halves.
const SMALL: usize = 64;

/// A list.
#[derive(Clone, Debug)]
pub enum List<'a> {
    /// Elements side by side.
    Items(Arc<Vec<Value<'a>>>),
    /// JSON and the type of the list.
    Json(&'a [Json], Arc<ListType>),
    /// One list after another: adding long lists must not copy them.
    Joined(Arc<Joined<'a>>),
}

/// Two lists put together.
#[derive(Clone, Debug)]
pub struct Joined<'a> {
    first: List<'a>,
    second: List<'a>,
    length: usize,
    depth: u32,
}

impl<'a> List<'a> {
    pub(crate) fn new(items: Vec<Value<'a>>) -> Self {
        Self::Items(Arc::new(items))
    }

    /// Whether it is data that a schema describes.
    pub(crate) fn has_schema(&self) -> bool {
        matches!(self, Self::Json(_, ty) if !Arc::ptr_eq(ty, &LIST_OF_ANYTHING))
    }

    /// How many elements there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Items(items) => items.len(),
            Self::Json(items, _) => items.len(),
            Self::Joined(joined) => joined.length,
        }
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The element at a place.
    pub fn get(&self, place: usize) -> Option<Value<'a>> {
        match self {
            Self::Items(items) => items.get(place).cloned(),
            Self::Json(items, ty) => items.get(place).map(|item| adopt(item, &ty.element)),
            Self::Joined(joined) => match place.checked_sub(joined.first.len()) {
                None => joined.first.get(place),
                Some(rest) => joined.second.get(rest),
            },
        }
    }

    /// All elements in order.
    pub fn iter(&self) -> impl Iterator<Item = Value<'a>> + '_ {
        (0..self.len()).filter_map(|place| self.get(place))
    }

    /// How such lists compare and add up.
    pub(crate) fn kind(&self) -> &ListKind {
        match self {
            Self::Json(_, ty) => &ty.kind,
            _ => &ListKind::Plain,
        }
    }

    fn depth(&self) -> u32 {
        if let Self::Joined(joined) = self {
            joined.depth
        } else {
            0
        }
    }

    /// This list followed by another.
    pub(crate) fn join(&self, other: &Self) -> Self {
        if other.is_empty() {
            return self.clone();
        }
        if self.is_empty() {
            return other.clone();
        }
        let length = self.len() + other.len();
        let depth = self.depth().max(other.depth()) + 1;
        if length <= SMALL || depth > 300 {
            return Self::new(self.iter().chain(other.iter()).collect());
        }
        Self::Joined(Arc::new(Joined {
            first: self.clone(),
            second: other.clone(),
            length,
            depth,
        }))
    }

    /// This list and one more element, in place when nobody else holds the list.
    pub(crate) fn push(self, item: Value<'a>) -> Self {
        match self {
            Self::Items(mut items) => {
                Arc::make_mut(&mut items).push(item);
                Self::Items(items)
            }
            other => other.join(&Self::new(vec![item])),
        }
    }
}
