//! What differs between two states of an object, field by field, for people to read.
//!
//! Every change is about one leaf: a scalar, a list of scalars, or something empty. So what must not be shown can
//! be told by its path alone, and a subtree that comes or goes is as many changes as it has leaves.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// One field that differs.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Where: `spec.template.spec.containers[main].image`.
    pub path: String,
    /// What it was; nothing for a field that is new.
    pub before: Option<Said>,
    /// What it is; nothing for a field that is gone.
    pub after: Option<Said>,
}

/// A value, as far as it may be shown.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// The value.
    Value(Value),
    /// It may not be shown.
    Hidden,
}

impl Change {
    /// Takes the values away; that something changed stays.
    pub fn hide(&mut self) {
        for said in [&mut self.before, &mut self.after].into_iter().flatten() {
            *said = Said::Hidden;
        }
    }
}

/// Fields that a server writes by itself: they change with everything, and say nothing.
const OF_THE_SERVER: [&str; 8] = [
    "metadata.creationTimestamp",
    "metadata.deletionGracePeriodSeconds",
    "metadata.generation",
    "metadata.managedFields",
    "metadata.resourceVersion",
    "metadata.selfLink",
    "metadata.uid",
    "status",
];

/// What differs, in the order of the fields. What a server writes by itself is left out; what a Secret holds is
/// hidden.
pub fn changes(before: &Value, after: &Value) -> Vec<Change> {
    let mut changes = Vec::new();
    compare("", Some(before), Some(after), &mut changes);
    let is_secret = after["kind"] == "Secret" && after["apiVersion"] == "v1";
    for change in &mut changes {
        if is_secret && holds_secret(&change.path) {
            change.hide();
        }
    }
    changes
}

/// Whether a field of a Secret may hold what it keeps. Some tools put a copy into an annotation.
fn holds_secret(path: &str) -> bool {
    ["data", "stringData", "metadata.annotations"]
        .iter()
        .any(|field| path.starts_with(field))
}

fn compare(path: &str, before: Option<&Value>, after: Option<&Value>, changes: &mut Vec<Change>) {
    if before == after || OF_THE_SERVER.contains(&path) {
        return;
    }
    if let Some(keys) = both(before, after, Value::as_object) {
        let names: BTreeSet<&String> = keys.iter().flat_map(|keys| keys.keys()).collect();
        for name in names {
            let field = |of: Option<&Value>| of.and_then(|of| of.get(name)).cloned();
            let inner = within(path, name);
            compare(
                &inner,
                field(before).as_ref(),
                field(after).as_ref(),
                changes,
            );
        }
        return;
    }
    let lists = both(before, after, Value::as_array);
    if let Some(lists) = lists.filter(|lists| lists.iter().any(|list| holds_objects(list))) {
        compare_lists(path, before, after, &lists, changes);
        return;
    }
    let said = |value: Option<&Value>| value.cloned().map(Said::Value);
    changes.push(Change {
        path: path.to_owned(),
        before: said(before),
        after: said(after),
    });
}

/// Both sides in one form, if they have it, and not both are empty; a side that is not there has any form.
fn both<'a, T: Contents + ?Sized>(
    before: Option<&'a Value>,
    after: Option<&'a Value>,
    form: impl Fn(&'a Value) -> Option<&'a T>,
) -> Option<Vec<&'a T>> {
    let sides: Vec<&Value> = [before, after].into_iter().flatten().collect();
    let formed: Vec<&T> = sides.iter().copied().filter_map(form).collect();
    let is_whole = formed.len() == sides.len() && formed.iter().all(|side| !side.is_empty());
    is_whole.then_some(formed)
}

/// Something that can be empty.
trait Contents {
    fn is_empty(&self) -> bool;
}

impl Contents for Map<String, Value> {
    fn is_empty(&self) -> bool {
        Map::is_empty(self)
    }
}

impl Contents for Vec<Value> {
    fn is_empty(&self) -> bool {
        Vec::is_empty(self)
    }
}

fn holds_objects(list: &[Value]) -> bool {
    list.iter().any(Value::is_object)
}

/// What items of lists are known by, the first that all of them have.
const KEYS: [&str; 9] = [
    "name",
    "id",
    "key",
    "mountPath",
    "containerPort",
    "port",
    "uid",
    "type",
    "ip",
];

fn compare_lists(
    path: &str,
    before: Option<&Value>,
    after: Option<&Value>,
    lists: &[&Vec<Value>],
    changes: &mut Vec<Change>,
) {
    let items = |side: Option<&Value>| side.and_then(Value::as_array).cloned().unwrap_or_default();
    let (before, after) = (items(before), items(after));
    let Some(key) = KEYS.into_iter().find(|key| is_key(key, lists)) else {
        for index in 0..before.len().max(after.len()) {
            let inner = format!("{path}[{index}]");
            compare(&inner, before.get(index), after.get(index), changes);
        }
        return;
    };
    let of = |list: &[Value], name: &str| {
        let mut list = list.iter();
        list.find(|item| word(&item[key]) == name).cloned()
    };
    let mut names: Vec<String> = Vec::new();
    for item in before.iter().chain(&after) {
        let name = word(&item[key]);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    for name in names {
        let inner = format!("{path}[{name}]");
        let (old, new) = (of(&before, &name), of(&after, &name));
        // A name and a value is a variable: its name is the path, its value the field.
        let is_variable = |item: &Option<Value>| {
            let keys = item.as_ref().and_then(Value::as_object);
            keys.is_none_or(|keys| keys.len() == 2 && keys.contains_key("value"))
        };
        if key == "name" && is_variable(&old) && is_variable(&new) {
            let value = |item: Option<Value>| item.map(|mut item| item["value"].take());
            compare(&inner, value(old).as_ref(), value(new).as_ref(), changes);
        } else {
            // That it comes or goes is told by its other fields, if it has any.
            let others = |item: Option<Value>| {
                item.map(|mut item| {
                    if let Some(fields) = item.as_object_mut().filter(|fields| fields.len() > 1) {
                        fields.remove(key);
                    }
                    item
                })
            };
            compare(&inner, others(old).as_ref(), others(new).as_ref(), changes);
        }
    }
}

/// Whether every item of every list has a value of its own there.
fn is_key(key: &str, lists: &[&Vec<Value>]) -> bool {
    lists.iter().all(|list| {
        let words: Vec<String> = list
            .iter()
            .filter(|item| item[key].is_string() || item[key].is_number())
            .map(|item| word(&item[key]))
            .collect();
        let different: BTreeSet<&String> = words.iter().collect();
        words.len() == list.len() && different.len() == list.len()
    })
}

fn word(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// A field within another one. A name with dots or slashes, such as a label's, stands in brackets.
fn within(path: &str, name: &str) -> String {
    let is_plain = !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    match (path, is_plain) {
        ("", true) => name.to_owned(),
        (_, true) => format!("{path}.{name}"),
        (_, false) => format!("{path}[{name}]"),
    }
}

#[cfg(test)]
mod tests;
