//! Taking fields out of a value, or everything but them.

use std::sync::Arc;

use serde_json::{Map as Fields, Value};

use super::atom::{Handled, List, Map};
use super::list_key::Steps;
use super::{Type, to_field_set};
use crate::fieldset::{Path, PathElement, Set};

/// Removes fields and list entries. A list or map that has nothing left becomes null.
pub fn remove_items(value: &mut Value, items: &Set, ty: Type<'_>) {
    match (ty.atom().of(value), &mut *value) {
        (Handled::Scalar(_), _) => return,
        (Handled::Map(map), Value::Object(fields)) if !map.atomic => {
            fields.retain(|name, value| remove_field(name, value, items, &map));
            if !fields.is_empty() {
                return;
            }
        }
        (Handled::List(list), Value::Array(entries)) if !list.is_atomic() => {
            let steps = Steps::new(&list);
            entries.retain_mut(|entry| remove_entry(entry, items, &list, &steps));
            if !entries.is_empty() {
                return;
            }
        }
        _ => {}
    }
    *value = Value::Null;
}

fn remove_field(name: &str, value: &mut Value, items: &Set, map: &Map<'_>) -> bool {
    if items.has_field(name) {
        return false;
    }
    if let Some(below) = items.child_field(name).filter(|below| !below.is_empty()) {
        remove_items(value, below, map.field(name));
    }
    true
}

fn remove_entry(entry: &mut Value, items: &Set, list: &List<'_>, steps: &Steps<'_>) -> bool {
    let step = steps.to_any(entry);
    if items.has_member(&step) {
        return false;
    }
    if let Some(below) = items.child(&step).filter(|below| !below.is_empty()) {
        remove_items(entry, below, list.element);
    }
    true
}

/// Keeps only fields and list entries of a set; with `keys`, the key fields of kept entries too.
pub fn extract_items(value: &Value, items: &Set, ty: Type<'_>, keys: bool) -> Value {
    if keys {
        let present = to_field_set(value, ty);
        extract(value, &items.union(&key_fields(items, &present)), ty)
    } else {
        extract(value, items, ty)
    }
}

/// The paths of the key fields of all entries that the items pass through.
fn key_fields(items: &Set, present: &Set) -> Set {
    let mut out = Set::new();
    items.for_each(&mut |path| {
        if !present.has(path) {
            return;
        }
        for (at, step) in path.0.iter().enumerate() {
            let PathElement::Key(fields) = step else {
                continue;
            };
            for (name, _) in fields.iter() {
                let mut steps = path.0[..=at].to_vec();
                steps.push(PathElement::Field(Arc::clone(name)));
                out.insert(&Path(steps));
            }
        }
    });
    out
}

fn extract(value: &Value, items: &Set, ty: Type<'_>) -> Value {
    match (ty.atom().of(value), value) {
        (Handled::Scalar(_), _) => value.clone(),
        (Handled::Map(map), Value::Object(fields)) => {
            if fields.is_empty() || map.atomic {
                return value.clone();
            }
            let kept: Fields<_, _> = fields
                .iter()
                .filter_map(|(name, value)| extract_field(name, value, items, &map))
                .collect();
            if kept.is_empty() {
                Value::Null
            } else {
                Value::Object(kept)
            }
        }
        (Handled::List(list), Value::Array(entries)) => {
            if entries.is_empty() || list.is_atomic() {
                return value.clone();
            }
            let steps = Steps::new(&list);
            let kept: Vec<_> = entries
                .iter()
                .filter_map(|entry| extract_entry(entry, items, &list, &steps))
                .collect();
            if kept.is_empty() {
                Value::Null
            } else {
                Value::Array(kept)
            }
        }
        _ => Value::Null,
    }
}

fn extract_field(name: &str, value: &Value, items: &Set, map: &Map<'_>) -> Option<(String, Value)> {
    let ty = map.field(name);
    let kept = if items.has_field(name) {
        // The real server looks at the same level of the set again here; scalars do not mind.
        extract(value, items, ty)
    } else {
        let below = items.child_field(name).filter(|below| !below.is_empty())?;
        extract(value, below, ty)
    };
    Some((name.to_owned(), kept))
}

fn extract_entry(entry: &Value, items: &Set, list: &List<'_>, steps: &Steps<'_>) -> Option<Value> {
    let step = steps.to_any(entry);
    match items.child(&step).filter(|below| !below.is_empty()) {
        Some(below) => Some(extract(entry, below, list.element)),
        None => items.has_member(&step).then(|| entry.clone()),
    }
}
