//! Which objects of several environments are the same one.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::deployment_system::migration::{
    own_parts::Cut,
    pile::name,
    pods,
    running::Running,
    unify::{Differences, Each},
};

/// An object, as each environment has it.
pub(super) struct Matched {
    /// Its id in the type.
    pub(super) id: String,
    /// The object.
    pub(super) each: Each,
}

impl Matched {
    /// Its name in the first environment that has it.
    pub(super) fn name(&self) -> Option<&str> {
        self.each.iter().flatten().next().map(name)
    }

    /// Gives names of the object that differ between environments a name.
    pub(super) fn name_differences(&self, differences: &mut Differences) {
        let names = self.each.iter();
        let names: Each = names
            .map(|object| object.as_ref().map(|object| name(object).into()))
            .collect();
        let first = names.iter().flatten().next();
        if names.iter().flatten().any(|name| Some(name) != first) {
            differences.name(&[vec![&self.id, "name"]], &names);
        }
    }
}

/// Objects of all environments: what runs first, then the others by kind and name.
pub(super) fn matched(running: &[Running], cuts: &[Cut]) -> Vec<Matched> {
    let mut found: BTreeMap<(bool, String), Each> = BTreeMap::new();
    for (index, (running, cut)) in running.iter().zip(cuts).enumerate() {
        for object in &cut.objects {
            let runs = pods::way(object).is_some();
            let id = id(object, running, runs);
            let mut numbered = (1..).map(|number: usize| match number {
                1 => id.clone(),
                more => format!("{id}-{more}"),
            });
            let free = numbered.find(|id| {
                let taken = found.get(&(!runs, id.clone()));
                taken.is_none_or(|each| each[index].is_none())
            });
            let each = found
                .entry((!runs, free.unwrap_or(id)))
                .or_insert_with(|| vec![None; cuts.len()]);
            each[index] = Some(object.clone());
        }
    }
    let matched = found
        .into_iter()
        .map(|((_, id), each)| Matched { id, each });
    matched.collect()
}

/// The kind, and what is left of the name without the names of what deploys it there and without its hash.
fn id(object: &Value, running: &Running, runs: bool) -> String {
    let kind = object["kind"].as_str().unwrap_or_default().to_lowercase();
    if runs {
        return kind;
    }
    let name = without_hash(name(object));
    let whole = running.parts.join("-");
    let name = without_owner(without_owner(name, &whole), &running.by.1);
    let name = name.replace(&running.by.1, "");
    let words: Vec<&str> = name
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let mut id = vec![kind.as_str()];
    id.extend(words);
    id.join("-").to_lowercase()
}

/// A name without what it begins with: the name of whom it is made for, or as much of that as fitted into it.
fn without_owner<'n>(name: &'n str, owner: &str) -> &'n str {
    let same = name
        .char_indices()
        .zip(owner.chars())
        .find(|((_, one), other)| one != other)
        .map_or(name.len().min(owner.len()), |((at, _), _)| at);
    let is_enough = same == owner.len() || same >= LEAST;
    if is_enough { &name[same..] } else { name }
}

/// How much of a long name two names share at least if one is cut off.
const LEAST: usize = 10;

/// A name without the eight digits that generated names end with.
fn without_hash(name: &str) -> &str {
    match name.rsplit_once('-') {
        Some((before, hash)) if hash.len() == 8 && hash.chars().all(|c| c.is_ascii_hexdigit()) => {
            without_hash(before)
        }
        _ => name,
    }
}
