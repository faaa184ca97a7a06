//! How an entry of a list is told from the others.

use std::sync::Arc;

use serde_json::Value;

use super::atom::{List, Relation};
use crate::fieldset::PathElement;
use crate::go_text::quote;

/// The step that leads to an entry of a list that is not one unit.
pub(super) fn step_to(list: &List<'_>, entry: &Value) -> Result<PathElement, String> {
    match list.relation {
        Relation::Atomic => Err("invalid indexing of non-associative list".to_owned()),
        Relation::Set | Relation::Keyed([]) => step_by_value(entry),
        Relation::Keyed(keys) => step_by_key(list, keys, entry),
    }
}

fn step_by_value(entry: &Value) -> Result<PathElement, String> {
    let refused = match entry {
        Value::Object(_) => "associative list without keys has an element that's a map type",
        Value::Array(_) => "not supported: associative list with lists as elements",
        Value::Null => "associative list without keys has an element that's an explicit null",
        scalar => return Ok(PathElement::value(scalar.clone())),
    };
    Err(refused.to_owned())
}

fn step_by_key(list: &List<'_>, keys: &[Box<str>], entry: &Value) -> Result<PathElement, String> {
    let fields = match entry {
        Value::Object(fields) => fields,
        Value::Null => {
            return Err("associative list with keys may not have a null element".to_owned());
        }
        _ => {
            return Err("associative list with keys may not have non-map elements".to_owned());
        }
    };
    let mut key: Vec<(Arc<str>, Value)> = Vec::with_capacity(keys.len());
    for name in keys {
        if let Some(value) = fields.get(name.as_ref()) {
            key.push((Arc::from(name.as_ref()), value.clone()));
            continue;
        }
        let Some(map) = list.element.atom().map else {
            return Err(format!(
                "couldn't find default value for {name}: associative list may not have non-map types"
            ));
        };
        // A null default is none; a missing key without default makes a different entry.
        if let Some(default) = map.default_of(name).filter(|default| !default.is_null()) {
            key.push((Arc::from(name.as_ref()), default.clone()));
        }
    }
    if key.is_empty() {
        let names: Vec<_> = keys.iter().map(|name| quote(name)).collect();
        return Err(format!(
            "associative list with keys has an element that omits all key fields [{}] (and doesn't have \
             default values for any key fields)",
            names.join(" ")
        ));
    }
    Ok(PathElement::key(key))
}
