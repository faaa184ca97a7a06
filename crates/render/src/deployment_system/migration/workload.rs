//! The workload of the chain: what the first environment runs, and what others have instead.

use std::collections::{BTreeMap, BTreeSet};

use quadrille_types::workload::{Endpoint, Visibility};
use serde_json::{Map, Value, json};

use super::{
    own_parts::Says,
    running::{Own, Running},
};

/// A setting by its name: a variable, or a file with its folder.
type Setting = (String, Value);

/// What the workload says, as far as overrides can make of it what each environment has.
pub(super) fn says(running: &[Running]) -> Says {
    let env: Option<Vec<Vec<Setting>>> = running.iter().map(|one| Some(env(&one.own))).collect();
    let files: Option<Vec<Vec<Setting>>> = running.iter().map(|one| files(&one.own)).collect();
    let can = |each: Option<Vec<Vec<Setting>>>| {
        each.is_some_and(|each| {
            let (first, others) = each
                .split_first()
                .map_or((&[][..], &[][..]), |(one, more)| (one.as_slice(), more));
            others.iter().all(|other| overrides(first, other).is_some())
        })
    };
    Says {
        env: can(env),
        files: can(files),
    }
}

fn env(own: &Own) -> Vec<Setting> {
    let variable =
        |(key, value): &(String, String)| (key.clone(), json!({ "key": key, "value": value }));
    own.env.iter().map(variable).collect()
}

/// The files, by their names. Nothing where two have the same, or one is in no folder: the chain knows neither.
fn files(own: &Own) -> Option<Vec<Setting>> {
    let mut names = BTreeSet::new();
    let file = |(path, content): &(String, String)| {
        let (folder, name) = path.rsplit_once('/')?;
        let is_fine = !folder.is_empty() && !folder.ends_with('/') && !name.is_empty();
        let setting = json!({ "key": name, "mountPath": folder, "value": content });
        (is_fine && names.insert(name.to_owned())).then(|| (name.to_owned(), setting))
    };
    own.files.iter().map(file).collect()
}

/// What must be said over some settings to get others: those that differ, and those that are new, which come last.
fn overrides(base: &[Setting], wanted: &[Setting]) -> Option<Vec<Setting>> {
    let differs = |one: &&Setting| !base.contains(one);
    let over: Vec<Setting> = wanted.iter().filter(differs).cloned().collect();
    let mut made = base.to_vec();
    for entry in &over {
        match made.iter_mut().find(|known| known.0 == entry.0) {
            Some(known) => *known = entry.clone(),
            None => made.push(entry.clone()),
        }
    }
    (made == wanted).then_some(over)
}

fn values(settings: Vec<Setting>) -> Vec<Value> {
    settings.into_iter().map(|(_, value)| value).collect()
}

/// The container of the workload.
pub(super) fn container(first: &Own, says: Says) -> Value {
    let mut container = Map::from_iter([("image".to_owned(), json!(first.image))]);
    let mut put = |field: &str, list: Vec<Value>| {
        if !list.is_empty() {
            container.insert(field.to_owned(), list.into());
        }
    };
    let texts = |texts: &[String]| texts.iter().map(|text| json!(text)).collect();
    put("command", texts(&first.command));
    put("args", texts(&first.args));
    if says.env {
        put("env", values(env(first)));
    }
    if says.files {
        put("files", values(files(first).unwrap_or_default()));
    }
    Value::Object(container)
}

/// What an environment has instead, as its binding says it; nothing where nothing differs.
pub(super) fn overridden(first: &Own, other: &Own, says: Says) -> Option<Value> {
    let mut container = Map::new();
    let mut put = |field: &str, base: Vec<Setting>, wanted: Vec<Setting>| {
        let over = overrides(&base, &wanted).unwrap_or_default();
        if !over.is_empty() {
            container.insert(field.to_owned(), values(over).into());
        }
    };
    if says.env {
        put("env", env(first), env(other));
    }
    if says.files {
        let of = |own: &Own| files(own).unwrap_or_default();
        put("files", of(first), of(other));
    }
    (!container.is_empty()).then(|| json!({ "container": container }))
}

/// What the workload listens on, with who reaches it.
pub(super) fn endpoints(
    first: &Running,
    seen: &BTreeMap<String, BTreeSet<Visibility>>,
) -> BTreeMap<String, Endpoint> {
    let mut endpoints = first.endpoints.clone();
    for (name, endpoint) in &mut endpoints {
        endpoint.protocol = endpoint.protocol.plain();
        let by = seen.get(name).into_iter().flatten();
        for visibility in by {
            if !endpoint.visibility.contains(visibility) {
                endpoint.visibility.push(*visibility);
            }
        }
    }
    endpoints
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(keys: &[(&str, &str)]) -> Vec<Setting> {
        keys.iter()
            .map(|(key, value)| ((*key).to_owned(), json!(value)))
            .collect()
    }

    #[test]
    fn overrides_say_what_differs_and_what_is_new() {
        let base = settings(&[("a", "1"), ("b", "1")]);
        let wanted = settings(&[("a", "1"), ("b", "2"), ("c", "3")]);
        let over = overrides(&base, &wanted).unwrap();
        assert_eq!(over, settings(&[("b", "2"), ("c", "3")]));
    }

    #[test]
    fn overrides_take_nothing_away_and_keep_the_order() {
        let base = settings(&[("a", "1"), ("b", "1")]);
        assert_eq!(overrides(&base, &settings(&[("a", "1")])), None);
        let turned = settings(&[("b", "1"), ("a", "1")]);
        assert_eq!(overrides(&base, &turned), None);
    }
}
