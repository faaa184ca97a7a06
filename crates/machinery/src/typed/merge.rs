//! Laying a partial value over a whole one.

use serde_json::{Map as Fields, Value};

use super::atom::{Handled, List, Map};
use super::compare::{entries, fields, zip_fields};
use super::error::Errors;
use super::list_key::Steps;
use super::validate::{repeated, scalar_error};
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

/// Where the entries of two lists meet.
struct Pairs {
    /// For each live entry, the configured one with the same step.
    of_live: Vec<Option<usize>>,
    /// For each configured entry, the live one.
    of_config: Vec<Met>,
}

/// What a configured entry meets in the live list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Met {
    Nothing,
    Entry(usize),
    /// Several entries share the step: they give nothing to merge with.
    Several,
}

impl Pairs {
    fn new(steps: &Steps<'_>, live: &[Value], config: &[Value]) -> Self {
        let mut pairs = Self {
            of_live: vec![None; live.len()],
            of_config: vec![Met::Nothing; config.len()],
        };
        let order = steps.sorted(config);
        let mut rest = order.as_slice();
        for at in steps.sorted(live) {
            let of = |other: usize| steps.order(&config[other], &live[at]);
            while let [first, ..] = rest
                && of(*first).is_lt()
            {
                rest = &rest[1..];
            }
            if let [first, ..] = rest
                && of(*first).is_eq()
            {
                pairs.of_live[at] = Some(*first);
                pairs.of_config[*first] = match pairs.of_config[*first] {
                    Met::Nothing => Met::Entry(at),
                    Met::Entry(_) | Met::Several => Met::Several,
                };
            }
        }
        pairs
    }
}

/// What keeps two lists from being merged: entries without a step, and configured entries that share one.
fn obstacles(steps: &Steps<'_>, live: &[Value], config: &[Value], errors: &mut Errors) {
    for (entries, may_repeat) in [(config, false), (live, true)] {
        let wrong: Vec<_> = entries
            .iter()
            .map(|entry| steps.check(entry).err())
            .collect();
        let all_known = wrong.iter().all(Option::is_none);
        let repeated = if all_known && !may_repeat {
            repeated(steps, entries)
        } else {
            vec![false; entries.len()]
        };
        for (at, (entry, wrong)) in entries.iter().zip(wrong).enumerate() {
            if let Some(error) = wrong {
                errors.push(format!("element {at}: {error}"));
            } else if repeated[at] {
                errors.push(format!("duplicate entries for key {}", steps.to(entry)));
            }
        }
    }
}

fn lists(list: &List<'_>, live: &[Value], config: &[Value], errors: &mut Errors) -> Option<Value> {
    let steps = Steps::new(list);
    let mut wrong = Errors::default();
    obstacles(&steps, live, config, &mut wrong);
    if !wrong.0.is_empty() {
        errors.0.extend(wrong.0);
        return None;
    }
    let pairs = Pairs::new(&steps, live, config);
    // What is wrong inside an entry was reported when the value was checked.
    let item = |live: Option<&Value>, config: Option<&Value>| {
        node(live, config, list.element, &mut Errors::default())
    };
    let configured = |at: usize| {
        let with = match pairs.of_config[at] {
            Met::Nothing => None,
            Met::Entry(with) => Some(&live[with]),
            Met::Several => Some(&Value::Null),
        };
        item(with, Some(&config[at]))
    };
    let mut shared = (0..config.len()).filter(|at| pairs.of_config[*at] != Met::Nothing);
    let mut next_shared = shared.next();
    let mut merged = vec![false; config.len()];
    let mut out = Vec::with_capacity(live.len().max(config.len()));
    let (mut at_live, mut at_config) = (0, 0);
    while at_live < live.len() || at_config < config.len() {
        if at_live < live.len() {
            let with = pairs.of_live[at_live];
            if at_config < config.len() {
                if with == Some(at_config) {
                    merged[at_config] = true;
                    out.extend(configured(at_config));
                    at_live += 1;
                    at_config += 1;
                    next_shared = shared.next();
                    continue;
                }
                // An entry of both, but another one is due first in the order of the config.
                if with.is_some() && next_shared.is_some() && next_shared != with {
                    at_live += 1;
                    continue;
                }
            }
            match with {
                None => {
                    out.extend(item(Some(&live[at_live]), None));
                    at_live += 1;
                    continue;
                }
                Some(with) if merged[with] => at_live += 1,
                Some(_) => {}
            }
        }
        if at_config < config.len() {
            merged[at_config] = true;
            out.extend(configured(at_config));
            if next_shared == Some(at_config) {
                next_shared = shared.next();
            }
            at_config += 1;
        }
    }
    (!out.is_empty()).then_some(Value::Array(out))
}
