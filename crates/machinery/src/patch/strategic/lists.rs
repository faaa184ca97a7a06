//! Merging lists: by key, as sets of scalars, or not at all.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::{
    directives::{DELETE, MARKER, MERGE, REPLACE, SET_ORDER, clean_list, list_name},
    error::{Refusal, Result, go_type},
    lookup::{Strategy, list_field},
    merge_fields,
    order::{self, Entries, Known, key_text},
};
use crate::{go_text, schema::SchemaRef};

/// What to do with the entries of the patch.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Merge {
    /// Put them in.
    Into,
    /// Take them out.
    Deleting,
}

impl Merge {
    pub(super) fn deleting(is_deletion: bool) -> Self {
        if is_deletion {
            Self::Deleting
        } else {
            Self::Into
        }
    }
}

/// Handles `$setElementOrder` directives and the lists they are about, and takes both out of the patch.
pub(super) fn merge_ordered(
    current: &mut Map<String, Value>,
    patch: &mut Map<String, Value>,
    schema: SchemaRef<'_>,
) -> Result<()> {
    let is_order = |name: &&String| name.starts_with(SET_ORDER);
    let directives: Vec<String> = patch.keys().filter(is_order).cloned().collect();
    for directive in directives {
        let order = match patch.remove(&directive) {
            Some(Value::Array(order)) => order,
            Some(other) => return Err(Refusal::not_a_list(&other)),
            None => continue,
        };
        let name = list_name(&directive, SET_ORDER).ok_or(Refusal::ELEMENT_ORDER)?;
        let known = current.get(name).cloned().map(into_list).transpose()?;
        let change = patch.get(name).cloned().map(into_list).transpose()?;
        let (entries, strategy) = list_field(schema, name)?;
        order::check(change.as_deref().unwrap_or_default(), &order, strategy.key)?;
        let given = change.clone().unwrap_or_default();
        let live = left_behind(known.clone().unwrap_or_default(), &given, &strategy);
        let merged = match (known, change) {
            (None, None) => continue,
            (Some(known), None) => known,
            (None, Some(change)) => clean_list(change),
            (Some(known), Some(change)) => merge(known, change, entries, &strategy, Merge::Into)?,
        };
        let (named, others) = order::partition(merged, &order, strategy.key)?;
        let kind = element_kind(&live, &given)?;
        let sorted = order::arrange(
            named,
            others,
            &order,
            &live,
            &Known::new(kind, strategy.key),
        )?;
        current.insert(name.to_owned(), Value::Array(sorted));
        patch.remove(name);
    }
    Ok(())
}

/// The live list as a real server sees it when it puts the merged one in order: merging works in the memory of
/// the live list, so deleted entries have made room there for those after them and for new ones.
fn left_behind(live: Vec<Value>, patch: &[Value], strategy: &Strategy<'_>) -> Vec<Value> {
    let Some(key) = strategy.key.filter(|_| strategy.merge) else {
        return live;
    };
    let mut memory = live;
    let mut length = memory.len();
    let marker = |entry: &Value| entry.get(MARKER).and_then(Value::as_str).map(str::to_owned);
    for entry in patch
        .iter()
        .filter(|entry| marker(entry).as_deref() == Some(DELETE))
    {
        let mut at = 0;
        while at < length {
            if memory[at].get(key) != entry.get(key) {
                at += 1;
                continue;
            }
            for next in at + 1..length {
                memory[next - 1] = memory[next].clone();
            }
            length -= 1;
        }
    }
    if patch
        .iter()
        .any(|entry| marker(entry).as_deref() == Some(REPLACE))
    {
        return memory;
    }
    for entry in patch.iter().filter(|entry| marker(entry).is_none()) {
        let known = |there: &Value| there.get(key) == entry.get(key);
        let reached = length.min(memory.len());
        if !memory[..reached].iter().any(known) {
            if let Some(place) = memory.get_mut(length) {
                *place = entry.clone();
            }
            length += 1;
        }
    }
    memory
}

fn into_list(value: Value) -> Result<Vec<Value>> {
    match value {
        Value::Array(entries) => Ok(entries),
        other => Err(Refusal::not_a_list(&other)),
    }
}

/// Merges two lists as the field's strategy says.
pub(super) fn merge(
    current: Vec<Value>,
    patch: Vec<Value>,
    schema: SchemaRef<'_>,
    strategy: &Strategy<'_>,
    how: Merge,
) -> Result<Vec<Value>> {
    if !strategy.merge && how == Merge::Into {
        return Ok(patch);
    }
    if current.is_empty() && patch.is_empty() {
        return Ok(current);
    }
    let kind = element_kind(&current, &patch)?;
    let (merged, live, patch) = match (kind, strategy.key) {
        (Entries::Scalars, _) if how == Merge::Deleting => return Ok(without(current, &patch)),
        (Entries::Scalars, _) => {
            let merged = distinct(current.iter().chain(&patch));
            (merged, current, patch)
        }
        (Entries::Maps, None) => {
            return Err(Refusal::Late(
                "cannot merge lists without merge key for struct".to_owned(),
            ));
        }
        (Entries::Maps, Some(key)) => {
            let (live, patch) = obey_markers(current, patch, key)?;
            let merged = merge_by_key(live.clone(), patch.clone(), key, schema)?;
            (merged, live, patch)
        }
    };
    let (named, others) = order::partition(merged, &patch, strategy.key)?;
    order::arrange(
        named,
        others,
        &patch,
        &live,
        &Known::new(kind, strategy.key),
    )
}

/// The common type of all entries.
fn element_kind(current: &[Value], patch: &[Value]) -> Result<Entries> {
    let mut all = current.iter().chain(patch);
    let Some(first) = all.next() else {
        return Err(Refusal::Late(
            "no elements in any of the given slices".to_owned(),
        ));
    };
    if first.is_array() {
        return Err(Refusal::ListOfLists);
    }
    if first.is_null() || all.any(|entry| go_type(entry) != go_type(first)) {
        return Err(Refusal::Late(format!(
            "list element types are not identical: [{} {}]",
            go_text::list(current),
            go_text::list(patch)
        )));
    }
    Ok(if first.is_object() {
        Entries::Maps
    } else {
        Entries::Scalars
    })
}

fn without(current: Vec<Value>, deleted: &[Value]) -> Vec<Value> {
    let deleted: HashSet<String> = deleted.iter().map(Value::to_string).collect();
    let stays = |entry: &Value| !deleted.contains(&entry.to_string());
    current.into_iter().filter(stays).collect()
}

fn distinct<'a>(entries: impl Iterator<Item = &'a Value>) -> Vec<Value> {
    let mut seen = HashSet::new();
    entries
        .filter(|entry| seen.insert(entry.to_string()))
        .cloned()
        .collect()
}

/// Obeys `$patch` markers on entries: gives the list without deleted entries (or, after `replace`, the patch
/// in its place) and the patch without marked entries.
fn obey_markers(
    mut current: Vec<Value>,
    patch: Vec<Value>,
    key: &str,
) -> Result<(Vec<Value>, Vec<Value>)> {
    let mut plain = Vec::with_capacity(patch.len());
    let mut deleted = HashSet::new();
    let mut replace = false;
    for entry in patch {
        let Some(fields) = entry.as_object() else {
            return Err(Refusal::not_a_map(&entry));
        };
        let Some(marker) = fields.get(MARKER) else {
            plain.push(entry);
            continue;
        };
        match marker.as_str() {
            Some(DELETE) => {
                let named = fields
                    .get(key)
                    .ok_or_else(|| Refusal::no_merge_key(fields, key))?;
                deleted.insert(key_text(named)?);
            }
            Some(REPLACE) => replace = true,
            Some(MERGE) => {
                return Err(Refusal::Late(
                    "merging lists cannot yet be specified in the patch".to_owned(),
                ));
            }
            _ => return Err(Refusal::unknown_directive(marker, fields)),
        }
    }
    if replace {
        return Ok((plain, Vec::new()));
    }
    if !deleted.is_empty() {
        current.retain(|entry| {
            let named = entry.get(key).map(Value::to_string);
            named.is_none_or(|named| !deleted.contains(&named))
        });
    }
    Ok((current, plain))
}

/// Merges entries of equal key and appends the others.
fn merge_by_key(
    mut current: Vec<Value>,
    patch: Vec<Value>,
    key: &str,
    schema: SchemaRef<'_>,
) -> Result<Vec<Value>> {
    let mut places: HashMap<String, usize> = HashMap::new();
    for (at, entry) in current.iter().enumerate() {
        if let Some(named) = entry.get(key) {
            places.entry(named.to_string()).or_insert(at);
        }
    }
    for entry in patch {
        let Value::Object(change) = entry else {
            return Err(Refusal::not_a_map(&entry));
        };
        let named = change
            .get(key)
            .ok_or_else(|| Refusal::no_merge_key(&change, key))?;
        let named = key_text(named)?;
        if let Some(&at) = places.get(&named) {
            let Value::Object(fields) = current[at].take() else {
                return Err(Refusal::Late(format!("value for key {at} is not a map")));
            };
            current[at] = Value::Object(merge_fields(fields, change, schema)?);
        } else {
            places.insert(named, current.len());
            current.push(Value::Object(change));
        }
    }
    Ok(current)
}
