//! Laying a partial value over a whole one.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map as Fields, Value};

use super::atom::{Handled, List, Map};
use super::compare::{entries, fields, zip_fields};
use super::error::Errors;
use super::list_key::step_to;
use super::validate::scalar_error;
use super::{Type, TypeErrors};
use crate::fieldset::PathElement;

/// Merges `config` into `live`: nothing is removed, leaves of `config` win, entries that both lists have
/// come in the order of `config`. `None` is a value that vanished, because nothing was in it.
pub fn merge(live: &Value, config: &Value, ty: Type<'_>) -> Result<Option<Value>, TypeErrors> {
    let mut errors = Errors::default();
    let out = node(Some(live), Some(config), ty, &mut errors);
    errors.finish(out)
}

fn node(
    live: Option<&Value>,
    config: Option<&Value>,
    ty: Type<'_>,
    errors: &mut Errors,
) -> Option<Value> {
    // What is only on one side, in a part where nothing can be wrong, is taken as it is.
    let (apart, shared) = ty.atom().of_pair(live, config);
    if let Some(of_live) = apart {
        // Only its errors count: the value is what the config makes of it.
        handle(of_live, live, config, errors);
    }
    handle(shared, live, config, errors)
}

fn handle(
    how: Handled<'_>,
    live: Option<&Value>,
    config: Option<&Value>,
    errors: &mut Errors,
) -> Option<Value> {
    let leaf = || config.or(live).cloned();
    match how {
        Handled::Scalar(scalar) => {
            let wrong = |value: Option<&Value>| value.and_then(|value| scalar_error(scalar, value));
            if let (Some(of_live), Some(of_config)) = (wrong(live), wrong(config)) {
                errors.push(format!("lhs: {of_live}"));
                errors.push(format!("rhs: {of_config}"));
                return None;
            }
            leaf()
        }
        Handled::Map(map) => {
            let (l, c) = (fields(live), fields(config));
            let empty = l.is_none_or(Fields::is_empty) && c.is_none_or(Fields::is_empty);
            if map.atomic || empty {
                return leaf();
            }
            maps(&map, l, c, errors)
        }
        Handled::List(list) => {
            let (l, c) = (entries(live), entries(config));
            if list.is_atomic() || (l.is_empty() && c.is_empty()) {
                return leaf();
            }
            lists(&list, l, c, errors)
        }
        Handled::Nothing => {
            errors.push("schema error: invalid atom: inlined");
            None
        }
    }
}

fn maps(
    map: &Map<'_>,
    live: Option<&Fields<String, Value>>,
    config: Option<&Fields<String, Value>>,
    errors: &mut Errors,
) -> Option<Value> {
    let mut out = Fields::new();
    zip_fields(live, config, |name, live, config| {
        let mut below = Errors::default();
        if let Some(value) = node(live, config, map.field(name), &mut below) {
            out.insert(name.to_owned(), value);
        }
        if !below.0.is_empty() {
            errors.below(&PathElement::field(name), below);
        }
    });
    (!out.is_empty()).then_some(Value::Object(out))
}

/// A list with the step of every entry.
struct Indexed<'v> {
    steps: Vec<PathElement>,
    by_step: BTreeMap<PathElement, &'v Value>,
}

impl<'v> Indexed<'v> {
    fn new(list: &List<'_>, entries: &'v [Value], may_repeat: bool, errors: &mut Errors) -> Self {
        let mut indexed = Self {
            steps: Vec::with_capacity(entries.len()),
            by_step: BTreeMap::new(),
        };
        for (at, entry) in entries.iter().enumerate() {
            let step = match step_to(list, entry) {
                Ok(step) => step,
                Err(error) => {
                    errors.push(format!("element {at}: {error}"));
                    continue;
                }
            };
            let repeated = indexed.by_step.contains_key(&step);
            if repeated && !may_repeat {
                errors.push(format!("duplicate entries for key {step}"));
                continue;
            }
            // Repeated entries give nothing to merge with.
            let value = if repeated { &Value::Null } else { entry };
            indexed.by_step.insert(step.clone(), value);
            indexed.steps.push(step);
        }
        indexed
    }

    fn get(&self, step: &PathElement) -> Option<&'v Value> {
        self.by_step.get(step).copied()
    }
}

fn lists(list: &List<'_>, live: &[Value], config: &[Value], errors: &mut Errors) -> Option<Value> {
    let mut wrong = Errors::default();
    let right = Indexed::new(list, config, false, &mut wrong);
    let left = Indexed::new(list, live, true, &mut wrong);
    if !wrong.0.is_empty() {
        errors.0.extend(wrong.0);
        return None;
    }
    // What is wrong inside an entry was reported when the value was checked.
    let item = |live: Option<&Value>, config: Option<&Value>| {
        node(live, config, list.element, &mut Errors::default())
    };
    let mut shared = right
        .steps
        .iter()
        .filter(|step| left.by_step.contains_key(step));
    let mut next_shared = shared.next();
    let mut merged: BTreeSet<&PathElement> = BTreeSet::new();
    let mut out = Vec::with_capacity(live.len().max(config.len()));
    let (mut at_left, mut at_right) = (0, 0);
    while at_left < left.steps.len() || at_right < right.steps.len() {
        let of_left = left.steps.get(at_left);
        let of_right = right.steps.get(at_right);
        if let (Some(step), Some(other)) = (of_left, of_right) {
            if step == other {
                merged.insert(step);
                out.extend(item(left.get(step), right.get(step)));
                at_left += 1;
                at_right += 1;
                next_shared = shared.next();
                continue;
            }
            // An entry of both, but another one is due first in the order of the config.
            if right.by_step.contains_key(step) && next_shared.is_some_and(|next| next != step) {
                at_left += 1;
                continue;
            }
        }
        if let Some(step) = of_left {
            if !right.by_step.contains_key(step) {
                out.extend(item(Some(&live[at_left]), None));
                at_left += 1;
                continue;
            }
            if merged.contains(step) {
                at_left += 1;
            }
        }
        if let Some(step) = of_right {
            merged.insert(step);
            out.extend(item(left.get(step), right.get(step)));
            at_right += 1;
            if next_shared == Some(step) {
                next_shared = shared.next();
            }
        }
    }
    (!out.is_empty()).then_some(Value::Array(out))
}
