//! Which fields a value mentions.

use serde_json::Value;

use super::Type;
use super::atom::{Handled, List, Map};
use super::list_key::Steps;
use crate::fieldset::{PathElement, Set};

/// Every leaf field and every list entry that a value mentions.
pub fn to_field_set(value: &Value, ty: Type<'_>) -> Set {
    walk(value, ty).1
}

/// Whether the value's own path belongs to the set, and what is below it.
fn walk(value: &Value, ty: Type<'_>) -> (bool, Set) {
    match ty.atom().of(value) {
        Handled::Scalar(_) => (true, Set::new()),
        Handled::Map(map) if map.atomic => (true, Set::new()),
        Handled::List(list) if list.is_atomic() => (true, Set::new()),
        Handled::Map(map) => (false, walk_map(value, &map)),
        Handled::List(list) => (false, walk_list(value, &list)),
        Handled::Nothing => (false, Set::new()),
    }
}

fn walk_map(value: &Value, map: &Map<'_>) -> Set {
    let mut set = Set::new();
    let Value::Object(fields) = value else {
        return set;
    };
    for (name, value) in fields {
        let named = map.named(name);
        let (member, below) = walk(value, named.unwrap_or(map.element));
        let empty = match value {
            Value::Null => true,
            Value::Object(fields) => fields.is_empty(),
            _ => false,
        };
        if !(member || empty || named.is_none()) && below.is_empty() {
            continue;
        }
        let step = PathElement::field(name);
        if member || empty || named.is_none() {
            set.insert_member(step.clone());
        }
        set.attach(step, below);
    }
    set
}

fn walk_list(value: &Value, list: &List<'_>) -> Set {
    let mut set = Set::new();
    let Value::Array(entries) = value else {
        return set;
    };
    let steps = Steps::new(list);
    let (mut known, nameless): (Vec<&Value>, Vec<_>) =
        entries.iter().partition(|entry| steps.check(entry).is_ok());
    known.sort_by(|left, right| steps.order(left, right));
    for same in known.chunk_by(|left, right| steps.order(left, right).is_eq()) {
        // Entries that share a step are owned together, not part by part.
        let below = match same {
            [only] => walk(only, list.element).1,
            _ => Set::new(),
        };
        let step = steps.to(same[0]);
        set.insert_member(step.clone());
        set.attach(step, below);
    }
    if !nameless.is_empty() {
        set.insert_member(PathElement::Nameless);
        if let [only] = nameless.as_slice() {
            set.attach(PathElement::Nameless, walk(only, list.element).1);
        }
    }
    set
}

/// The set with every struct field that has something below it added as a member.
pub fn named_fields(set: &Set, ty: Type<'_>) -> Set {
    let atom = ty.atom();
    let mut out = Set::new();
    for member in set.members() {
        out.insert_member(member.clone());
    }
    for (step, below) in set.children() {
        let below_type = match (step, atom.map, atom.list) {
            (PathElement::Field(name), Some(map), _) => {
                let named = map.named(name);
                if named.is_some() {
                    out.insert_member(step.clone());
                }
                Some(named.unwrap_or(map.element))
            }
            (PathElement::Key(_), _, Some(list)) => Some(list.element),
            _ => None,
        };
        *out.descend(step) = named_fields(below, below_type.unwrap_or(Type::missing()));
    }
    out
}
