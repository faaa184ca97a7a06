//! What a patch can say besides values.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::error::{Refusal, Result};

/// Marks an object or a list entry; its value is one of the three below.
pub(super) const MARKER: &str = "$patch";
/// Take it away.
pub(super) const DELETE: &str = "delete";
/// Put this in its place.
pub(super) const REPLACE: &str = "replace";
/// Merge it; refused, since merging is what happens anyway.
pub(super) const MERGE: &str = "merge";
/// Fields that may stay; all others go.
const RETAIN_KEYS: &str = "$retainKeys";
/// Before a list's name: entries to take out.
pub(super) const DELETE_FROM_LIST: &str = "$deleteFromPrimitiveList";
/// Before a list's name: the order of its entries.
pub(super) const SET_ORDER: &str = "$setElementOrder";

/// The list that a directive such as `$setElementOrder/containers` is about.
pub(super) fn list_name<'a>(name: &'a str, prefix: &str) -> Option<&'a str> {
    let (found, list) = name.split_once('/')?;
    (found == prefix).then_some(list)
}

/// Obeys `$retainKeys`: what it does not name goes, and the patch may set nothing else.
pub(super) fn retain_keys(
    current: &mut Map<String, Value>,
    patch: &mut Map<String, Value>,
) -> Result<()> {
    let Some(kept) = patch.remove(RETAIN_KEYS) else {
        return Ok(());
    };
    let Value::Array(kept) = &kept else {
        return Err(Refusal::RETAIN_KEYS);
    };
    let kept: HashSet<&str> = kept.iter().filter_map(Value::as_str).collect();
    let is_directive =
        |name: &str| name.starts_with(DELETE_FROM_LIST) || name.starts_with(SET_ORDER);
    let sets_another = patch.iter().any(|(name, value)| {
        !value.is_null() && !is_directive(name) && !kept.contains(name.as_str())
    });
    if sets_another {
        return Err(Refusal::RETAIN_KEYS);
    }
    current.retain(|name, _| kept.contains(name.as_str()));
    Ok(())
}

/// A value that is taken over as it is, without its marked parts; `None` if it is marked itself.
pub(super) fn clean(value: Value) -> Option<Value> {
    match value {
        Value::Object(fields) if fields.contains_key(MARKER) => None,
        Value::Object(fields) => Some(Value::Object(
            fields
                .into_iter()
                .filter_map(|(name, field)| Some((name, clean(field)?)))
                .collect(),
        )),
        Value::Array(entries) => Some(Value::Array(clean_list(entries))),
        scalar => Some(scalar),
    }
}

/// The unmarked entries of a list.
pub(super) fn clean_list(entries: Vec<Value>) -> Vec<Value> {
    entries.into_iter().filter_map(clean).collect()
}
