//! How two values of a type differ, as sets of fields.

use std::cmp::Ordering;

use serde_json::{Map as Fields, Value};

use super::atom::{Handled, List, Map, Scalar};
use super::error::Errors;
use super::list_key::Steps;
use super::validate::scalar_error;
use super::{Type, TypeErrors};
use crate::fieldset::{Filter, PathElement, Set, equal};

/// The fields in which two values differ. No field is in two of the sets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Only the left value has them.
    pub removed: Set,
    /// Both have them, with different values.
    pub modified: Set,
    /// Only the right value has them.
    pub added: Set,
}

impl Comparison {
    /// Whether the values are equal.
    pub fn is_same(&self) -> bool {
        self.removed.is_empty() && self.modified.is_empty() && self.added.is_empty()
    }

    /// What a filter leaves of all three sets.
    #[must_use]
    pub fn filtered(&self, filter: &Filter) -> Self {
        Self {
            removed: filter.of(&self.removed),
            modified: filter.of(&self.modified),
            added: filter.of(&self.added),
        }
    }

    fn attach(&mut self, step: &PathElement, marks: Marks, below: Self) {
        let sets = [
            (&mut self.removed, below.removed, marks.removed),
            (&mut self.modified, below.modified, marks.modified),
            (&mut self.added, below.added, marks.added),
        ];
        for (set, below, marked) in sets {
            if marked {
                set.insert_member(step.clone());
            }
            set.attach(step.clone(), below);
        }
    }
}

/// What a walk found out about the place itself.
#[derive(Clone, Copy, Default)]
struct Marks {
    removed: bool,
    modified: bool,
    added: bool,
}

/// Compares two values of a type.
pub fn compare(left: &Value, right: &Value, ty: Type<'_>) -> Result<Comparison, TypeErrors> {
    let mut walk = Walk::default();
    walk.node(Some(left), Some(right), ty);
    walk.errors.finish(walk.found)
}

/// The walk at one place.
#[derive(Default)]
struct Walk {
    marks: Marks,
    found: Comparison,
    errors: Errors,
}

impl Walk {
    fn node(&mut self, left: Option<&Value>, right: Option<&Value>, ty: Type<'_>) {
        let (apart, shared) = ty.atom().of_pair(left, right);
        if let Some(of_left) = apart {
            self.handle(of_left, left, right);
        }
        let is_leaf = self.handle(shared, left, right);
        if !is_leaf {
            self.marks.added |= left.is_none();
            self.marks.removed |= left.is_some() && right.is_none();
        }
    }

    /// Handles both values in one way; gives whether the place was a leaf.
    fn handle(&mut self, how: Handled<'_>, left: Option<&Value>, right: Option<&Value>) -> bool {
        match how {
            Handled::Scalar(scalar) => self.scalars(scalar, left, right),
            Handled::Map(map) => {
                let (l, r) = (fields(left), fields(right));
                let empty = l.is_none_or(Fields::is_empty) && r.is_none_or(Fields::is_empty);
                if map.atomic || empty {
                    return self.leaf(left, right);
                }
                self.maps(&map, l, r);
                false
            }
            Handled::List(list) => {
                let (l, r) = (entries(left), entries(right));
                if list.is_atomic() || (l.is_empty() && r.is_empty()) {
                    return self.leaf(left, right);
                }
                self.lists(&list, l, r);
                false
            }
            Handled::Nothing => {
                self.errors.push("schema error: invalid atom: inlined");
                false
            }
        }
    }

    fn leaf(&mut self, left: Option<&Value>, right: Option<&Value>) -> bool {
        match (left, right) {
            (None, _) => self.marks.added = true,
            (_, None) => self.marks.removed = true,
            (Some(left), Some(right)) => self.marks.modified |= !equal(left, right),
        }
        true
    }

    fn scalars(&mut self, scalar: Scalar, left: Option<&Value>, right: Option<&Value>) -> bool {
        let wrong = |value: Option<&Value>| value.and_then(|value| scalar_error(scalar, value));
        if let (Some(of_left), Some(of_right)) = (wrong(left), wrong(right)) {
            self.errors.push(format!("lhs: {of_left}"));
            self.errors.push(format!("rhs: {of_right}"));
            return false;
        }
        self.leaf(left, right)
    }

    fn below(
        &mut self,
        step: impl FnOnce() -> PathElement,
        ty: Type<'_>,
        left: Option<&Value>,
        right: Option<&Value>,
    ) {
        let mut walk = Self::default();
        walk.node(left, right, ty);
        let Marks {
            removed,
            modified,
            added,
        } = walk.marks;
        if !(removed || modified || added || !walk.found.is_same() || !walk.errors.0.is_empty()) {
            return;
        }
        let step = step();
        self.errors.below(&step, walk.errors);
        self.found.attach(&step, walk.marks, walk.found);
    }

    fn maps(
        &mut self,
        map: &Map<'_>,
        left: Option<&Fields<String, Value>>,
        right: Option<&Fields<String, Value>>,
    ) {
        zip_fields(left, right, |name, left, right| {
            self.below(|| PathElement::field(name), map.field(name), left, right);
        });
    }

    fn lists(&mut self, list: &List<'_>, left: &[Value], right: &[Value]) {
        let steps = Steps::new(list);
        let mut found = Vec::with_capacity(left.len() + right.len());
        for (side, entries) in [(Side::Left, left), (Side::Right, right)] {
            for (at, entry) in entries.iter().enumerate() {
                match steps.check(entry) {
                    Ok(()) => found.push((side, entry)),
                    Err(error) => self.errors.push(format!("element {at}: {error}")),
                }
            }
        }
        // The sort is stable: left entries stay before right ones, and each side keeps its order.
        found.sort_by(|one, other| steps.order(one.1, other.1));
        for same in found.chunk_by(|one, other| steps.order(one.1, other.1).is_eq()) {
            self.same_step(list, &steps, same);
        }
    }

    /// Compares the entries of both lists that share a step.
    fn same_step(&mut self, list: &List<'_>, steps: &Steps<'_>, same: &[(Side, &Value)]) {
        let step = || steps.to(same[0].1);
        let (left, right) = same.split_at(same.partition_point(|entry| entry.0 == Side::Left));
        let mut one_to_one = |left: Option<&Value>, right: Option<&Value>| {
            self.below(step, list.element, left, right);
        };
        match (left, right) {
            ([] | [_], [] | [_]) => {
                one_to_one(left.first().map(|l| l.1), right.first().map(|r| r.1));
            }
            // Entries that share a step are one unit: they have no parts of their own.
            ([_, _, ..], [_, _, ..]) => {
                let equal = left.len() == right.len()
                    && left
                        .iter()
                        .zip(right)
                        .all(|(left, right)| equal(left.1, right.1));
                if !equal {
                    self.found.modified.insert_member(step());
                }
            }
            ([_, _, ..], rest) => {
                if let [only] = rest {
                    one_to_one(None, Some(only.1));
                }
                self.found.removed.insert_member(step());
            }
            (rest, [_, _, ..]) => {
                if let [only] = rest {
                    one_to_one(Some(only.1), None);
                }
                self.found.added.insert_member(step());
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

pub(super) fn fields(value: Option<&Value>) -> Option<&Fields<String, Value>> {
    value.and_then(Value::as_object)
}

pub(super) fn entries(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Visits the fields of two objects side by side, in the order of their names.
pub(super) fn zip_fields<'v>(
    left: Option<&'v Fields<String, Value>>,
    right: Option<&'v Fields<String, Value>>,
    mut visit: impl FnMut(&'v str, Option<&'v Value>, Option<&'v Value>),
) {
    let mut left = left.into_iter().flatten().peekable();
    let mut right = right.into_iter().flatten().peekable();
    loop {
        let order = match (left.peek(), right.peek()) {
            (None, None) => return,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(left), Some(right)) => left.0.cmp(right.0),
        };
        let of_left = if order.is_le() { left.next() } else { None };
        let of_right = if order.is_ge() { right.next() } else { None };
        if let Some((name, _)) = of_left.or(of_right) {
            visit(
                name,
                of_left.map(|field| field.1),
                of_right.map(|field| field.1),
            );
        }
    }
}
