//! What becomes of a set of fields when its schema has changed since it was written.

use super::Type;
use super::atom::{Handled, List, Map};
use crate::fieldset::{Path, PathElement, Set};

/// The set as the current schema would have it, or `None` where that is the same.
///
/// Lists and maps that have become one unit are owned as a whole by those who owned a part.
pub fn reconcile(set: &Set, ty: Type<'_>) -> Option<Set> {
    let mut units = Set::new();
    walk(Some(set), false, ty, &mut Path::default(), &mut units);
    (!units.is_empty()).then(|| set.recursive_difference(&units).union(&units))
}

fn walk(set: Option<&Set>, is_unit: bool, ty: Type<'_>, at: &mut Path, units: &mut Set) {
    match ty.atom().first() {
        Handled::Map(map) if !map.is_untyped() => {
            if !is_unit && map.atomic {
                if set.is_some_and(|set| !set.is_empty()) {
                    units.insert(at);
                }
            } else if let Some(set) = set {
                walk_map(set, &map, at, units);
            }
        }
        Handled::List(list) => {
            if !is_unit && list.is_atomic() {
                units.insert(at);
            } else if let Some(set) = set {
                walk_list(set, &list, at, units);
            }
        }
        Handled::Map(_) | Handled::Scalar(_) | Handled::Nothing => {}
    }
}

fn walk_map(set: &Set, map: &Map<'_>, at: &mut Path, units: &mut Set) {
    each_step(set, |step, below, is_unit| {
        let ty = match step {
            PathElement::Field(name) => map.field(name),
            _ => map.element,
        };
        if !ty.is_missing() {
            at.0.push(step.clone());
            walk(below, is_unit, ty, at, units);
            at.0.pop();
        }
    });
}

fn walk_list(set: &Set, list: &List<'_>, at: &mut Path, units: &mut Set) {
    each_step(set, |step, below, is_unit| {
        at.0.push(step.clone());
        walk(below, is_unit, list.element, at, units);
        at.0.pop();
    });
}

/// Visits every step of one level: what is below it, and whether it is owned without parts.
fn each_step(set: &Set, mut visit: impl FnMut(&PathElement, Option<&Set>, bool)) {
    for (step, below) in set.children() {
        visit(step, Some(below), false);
    }
    for member in set.members() {
        if set.child(member).is_none() {
            visit(member, None, true);
        }
    }
}
