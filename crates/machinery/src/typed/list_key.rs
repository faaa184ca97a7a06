//! How an entry of a list is told from the others.

use std::cmp::Ordering;
use std::sync::Arc;

use serde_json::Value;

use super::atom::{List, Map, Relation};
use crate::fieldset::{PathElement, compare};
use crate::go_text::quote;

/// The steps that lead to the entries of one list. Entries are compared without building their steps, since
/// most of them are never needed.
pub(super) struct Steps<'a> {
    relation: Relation<'a>,
    /// The key fields, sorted by name.
    keys: Vec<Key<'a>>,
    element: Option<Map<'a>>,
}

struct Key<'a> {
    name: Arc<str>,
    /// A null default is none.
    default: Option<&'a Value>,
}

impl<'a> Steps<'a> {
    pub(super) fn new(list: &List<'a>) -> Self {
        let mut steps = Self {
            relation: list.relation,
            keys: Vec::new(),
            element: None,
        };
        if let Relation::Keyed(names) = list.relation {
            let element = list.element.atom().map;
            let default = |name: &str| {
                let default = element.as_ref()?.default_of(name)?;
                (!default.is_null()).then_some(default)
            };
            let keys = names.iter().map(|name| Key {
                name: Arc::from(name.as_ref()),
                default: default(name),
            });
            steps.keys = keys.collect();
            steps.keys.sort_by(|left, right| left.name.cmp(&right.name));
            steps.element = element;
        }
        steps
    }

    /// Whether an entry has a step; the words say why not.
    pub(super) fn check(&self, entry: &Value) -> Result<(), String> {
        match self.relation {
            Relation::Atomic => Err("invalid indexing of non-associative list".to_owned()),
            Relation::Set | Relation::Keyed([]) => check_value(entry),
            Relation::Keyed(names) => self.check_key(names, entry),
        }
    }

    fn check_key(&self, names: &[Box<str>], entry: &Value) -> Result<(), String> {
        let fields = match entry {
            Value::Object(fields) => fields,
            Value::Null => {
                return Err("associative list with keys may not have a null element".to_owned());
            }
            _ => {
                return Err("associative list with keys may not have non-map elements".to_owned());
            }
        };
        if self.element.is_none()
            && let Some(name) = names
                .iter()
                .find(|name| !fields.contains_key(name.as_ref()))
        {
            return Err(format!(
                "couldn't find default value for {name}: associative list may not have non-map types"
            ));
        }
        if self.pairs(entry).next().is_none() {
            let names: Vec<_> = names.iter().map(|name| quote(name)).collect();
            return Err(format!(
                "associative list with keys has an element that omits all key fields [{}] (and doesn't \
                 have default values for any key fields)",
                names.join(" ")
            ));
        }
        Ok(())
    }

    /// The key fields of an entry; a missing one without default makes a different entry.
    fn pairs<'e>(&'e self, entry: &'e Value) -> impl Iterator<Item = (&'e Arc<str>, &'e Value)> {
        self.keys.iter().filter_map(move |key| {
            let value = entry.get(key.name.as_ref()).or(key.default)?;
            Some((&key.name, value))
        })
    }

    /// The order of two entries that have steps: that of their steps.
    pub(super) fn order(&self, left: &Value, right: &Value) -> Ordering {
        if self.keys.is_empty() {
            return compare(left, right);
        }
        let (mut of_left, mut of_right) = (self.pairs(left), self.pairs(right));
        loop {
            let order = match (of_left.next(), of_right.next()) {
                (None, None) => return Ordering::Equal,
                (None, Some(_)) => Ordering::Less,
                (Some(_), None) => Ordering::Greater,
                (Some(left), Some(right)) => {
                    left.0.cmp(right.0).then_with(|| compare(left.1, right.1))
                }
            };
            if order.is_ne() {
                return order;
            }
        }
    }

    /// The step to an entry that has one.
    pub(super) fn to(&self, entry: &Value) -> PathElement {
        if self.keys.is_empty() {
            return PathElement::value(entry.clone());
        }
        let pairs = self.pairs(entry);
        PathElement::Key(
            pairs
                .map(|(name, value)| (Arc::clone(name), value.clone()))
                .collect(),
        )
    }

    /// The step to any entry.
    pub(super) fn to_any(&self, entry: &Value) -> PathElement {
        if self.check(entry).is_ok() {
            self.to(entry)
        } else {
            PathElement::Nameless
        }
    }

    /// The entries, which all have steps, in the order of their steps; equal ones stay in their own order.
    pub(super) fn sorted(&self, entries: &[Value]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..entries.len()).collect();
        order.sort_by(|left, right| self.order(&entries[*left], &entries[*right]));
        order
    }
}

fn check_value(entry: &Value) -> Result<(), String> {
    let refused = match entry {
        Value::Object(_) => "associative list without keys has an element that's a map type",
        Value::Array(_) => "not supported: associative list with lists as elements",
        Value::Null => "associative list without keys has an element that's an explicit null",
        _ => return Ok(()),
    };
    Err(refused.to_owned())
}
