//! The order of a merged list: first as the patch (or its order directive) says, then as it was.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{
    directives::{DELETE, MARKER, SET_ORDER},
    error::{Refusal, Result},
};
use crate::go_text;

/// Up to here, entries of unknown place are sorted exactly as Go sorts them; beyond, they come first.
const EXACT_SORT: usize = 20;

/// What a list holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Entries {
    /// Objects.
    Maps,
    /// Scalars of one type.
    Scalars,
}

/// How entries of a list are known apart.
pub(super) struct Known<'a> {
    entries: Entries,
    key: &'a str,
}

impl<'a> Known<'a> {
    pub(super) fn new(entries: Entries, key: Option<&'a str>) -> Self {
        Self {
            entries,
            key: key.unwrap_or_default(),
        }
    }

    /// What identifies an entry.
    fn by(&self, entry: &Value) -> String {
        match self.entries {
            Entries::Maps => entry.get(self.key).unwrap_or(&Value::Null).to_string(),
            Entries::Scalars => entry.to_string(),
        }
    }

    /// Where each entry is first found in a list.
    fn places(&self, list: &[Value]) -> HashMap<String, usize> {
        let mut places = HashMap::with_capacity(list.len());
        for (at, entry) in list.iter().enumerate() {
            places.entry(self.by(entry)).or_insert(at);
        }
        places
    }
}

/// A key's value as text; real servers crash on keys that are lists or objects.
pub(super) fn key_text(key: &Value) -> Result<String> {
    if key.is_array() || key.is_object() {
        return Err(Refusal::Late(format!(
            "a merge key must be a scalar, not {}",
            go_text::value(key)
        )));
    }
    Ok(key.to_string())
}

fn fields(entry: &Value) -> Result<&Map<String, Value>> {
    entry.as_object().ok_or_else(|| Refusal::not_a_map(entry))
}

/// Splits a list into the entries that another list names and the others.
pub(super) fn partition(
    list: Vec<Value>,
    by: &[Value],
    key: Option<&str>,
) -> Result<(Vec<Value>, Vec<Value>)> {
    let mut named = Vec::with_capacity(list.len());
    let mut others = Vec::new();
    let mut places = HashMap::new();
    let mut broken = None;
    for (at, entry) in by.iter().enumerate() {
        let identity = match key {
            None => Some(key_text(entry)?),
            Some(key) => match entry.as_object() {
                None => {
                    broken = Some(at);
                    break;
                }
                Some(fields) => fields.get(key).map(Value::to_string),
            },
        };
        if let Some(identity) = identity {
            places.entry(identity).or_insert(at);
        }
    }
    for entry in list {
        let identity = match key {
            None => key_text(&entry)?,
            Some(key) => {
                let fields = fields(&entry)?;
                let named = fields
                    .get(key)
                    .ok_or_else(|| Refusal::no_merge_key(fields, key))?;
                key_text(named)?
            }
        };
        match (places.contains_key(&identity), broken) {
            (true, _) => named.push(entry),
            (false, Some(at)) => {
                return Err(Refusal::Late(format!("value for key {at} is not a map")));
            }
            (false, None) => others.push(entry),
        }
    }
    Ok((named, others))
}

/// Sorts both parts and interleaves them: an entry that only the server has goes before the first named entry
/// that it preceded.
pub(super) fn arrange(
    named: Vec<Value>,
    others: Vec<Value>,
    order: &[Value],
    live: &[Value],
    known: &Known<'_>,
) -> Result<Vec<Value>> {
    let named = sort(named, order, known)?;
    let others = sort(others, live, known)?;
    let places = known.places(live);
    let place = |entry: &Value| places.get(&known.by(entry)).copied();
    let mut arranged = Vec::with_capacity(named.len() + others.len());
    let mut others = others.into_iter().peekable();
    for entry in named {
        while let Some(other) = others.peek() {
            match (place(other), place(&entry)) {
                (Some(before), Some(after)) if before < after => {
                    arranged.extend(others.next());
                }
                _ => break,
            }
        }
        arranged.push(entry);
    }
    arranged.extend(others);
    Ok(arranged)
}

/// Sorts entries by their place in another list; entries to be deleted go last.
fn sort(list: Vec<Value>, order: &[Value], known: &Known<'_>) -> Result<Vec<Value>> {
    let mut deleted = Vec::new();
    let mut kept = Vec::with_capacity(list.len());
    if known.entries == Entries::Maps {
        for entry in list.iter().chain(order) {
            let fields = fields(entry)?;
            if !fields.contains_key(known.key) {
                return Err(Refusal::no_merge_key(fields, known.key));
            }
        }
    }
    let places = known.places(order);
    for entry in list {
        if entry.as_object().is_some_and(is_deletion) {
            deleted.push(entry);
        } else {
            kept.push((places.get(&known.by(&entry)).copied(), entry));
        }
    }
    if kept.len() <= EXACT_SORT {
        insertion_sort(&mut kept);
    } else {
        kept.sort_by_key(|(place, _)| *place);
    }
    Ok(kept
        .into_iter()
        .map(|(_, entry)| entry)
        .chain(deleted)
        .collect())
}

/// An entry without a place counts as before every other, which is no order at all; so the steps matter.
fn insertion_sort(list: &mut [(Option<usize>, Value)]) {
    let before = |left: Option<usize>, right: Option<usize>| match (left, right) {
        (Some(left), Some(right)) => left < right,
        _ => true,
    };
    for end in 1..list.len() {
        let mut at = end;
        while at > 0 && before(list[at].0, list[at - 1].0) {
            list.swap(at, at - 1);
            at -= 1;
        }
    }
}

/// The entries of a patch must come in the order that its directive gives, and be named there.
pub(super) fn check(patch: &[Value], order: &[Value], key: Option<&str>) -> Result<()> {
    if patch.is_empty() || order.is_empty() {
        return Ok(());
    }
    let mut remaining = Vec::with_capacity(patch.len());
    for entry in patch {
        if key.is_none() || !is_deletion(fields(entry)?) {
            remaining.push(entry);
        }
    }
    let mut at = 0;
    let mut wanted = order.iter();
    while at < remaining.len() {
        if remaining[at].get(MARKER).is_some() {
            if wanted.len() == 0 {
                break;
            }
            at += 1;
            continue;
        }
        let Some(wanted) = wanted.next() else {
            break;
        };
        if same(remaining[at], wanted, key)? {
            at += 1;
        }
    }
    if at < remaining.len() {
        return Err(Refusal::Late(format!(
            "The order in patch list:\n{}\n doesn't match {SET_ORDER} list:\n{}\n",
            go_text::list(patch),
            go_text::list(order)
        )));
    }
    Ok(())
}

fn is_deletion(fields: &Map<String, Value>) -> bool {
    fields.get(MARKER).and_then(Value::as_str) == Some(DELETE)
}

fn same(left: &Value, right: &Value, key: Option<&str>) -> Result<bool> {
    let Some(key) = key else {
        return Ok(key_text(left)? == key_text(right)?);
    };
    let value = |entry| {
        let fields = fields(entry)?;
        let named = fields
            .get(key)
            .ok_or_else(|| Refusal::no_merge_key(fields, key))?;
        key_text(named)
    };
    Ok(value(left)? == value(right)?)
}
