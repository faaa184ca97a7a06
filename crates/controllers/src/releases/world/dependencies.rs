//! Releases that stand on others: who waits for whom, and who may go.

use std::{collections::HashSet, sync::Arc};

use super::Inner;
use crate::{key::Key, releases::facts::Facts};

/// What is known of a release's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Nothing yet.
    Open,
    /// It is on its way out, all in place, and stays until those are gone that stand on it.
    HeldBack,
    /// It goes, whoever comes.
    Decided,
}

/// What a release is to those that depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Footing {
    /// Its objects are not all in place yet.
    NotYet,
    /// They are.
    Firm,
    /// It stays only for those that have objects in the plane already.
    ForThoseOnIt,
    /// It is on its way out.
    Going,
}

/// Longer chains of dependencies are not looked into for cycles.
const LONGEST_CHAIN: usize = 100;

impl Inner {
    /// A release depends on others than before.
    pub(super) fn depend(&mut self, key: &Key, before: &[Arc<str>], now: &[Arc<str>]) {
        let on = |name: &Arc<str>| Key {
            namespace: Arc::clone(&key.namespace),
            name: Arc::clone(name),
        };
        for name in before {
            let on = on(name);
            if let Some(dependents) = self.dependents.get_mut(&on) {
                dependents.remove(key);
                if dependents.is_empty() {
                    self.dependents.remove(&on);
                }
            }
        }
        for name in now {
            self.dependents
                .entry(on(name))
                .or_default()
                .insert(key.clone());
        }
    }

    /// Releases that wait for another, or that must go before it.
    pub(crate) fn dependents<'a>(&'a self, key: &'a Key) -> impl Iterator<Item = &'a Arc<Facts>> {
        let dependents = self.dependents.get(key).into_iter().flatten();
        dependents
            .filter(move |other| *other != key)
            .filter_map(|other| self.releases.get(other))
            .map(|held| &held.facts)
    }

    /// Releases that wait for another, and those that wait for them in turn.
    pub(crate) fn all_dependents(&self, key: &Key) -> Vec<Key> {
        let mut found = vec![key.clone()];
        let mut next = 0;
        while let Some(of) = found.get(next).cloned() {
            for facts in self.dependents(&of) {
                if !found.contains(&facts.key) {
                    found.push(facts.key.clone());
                }
            }
            next += 1;
        }
        found.split_off(1)
    }

    /// What a release is to those that depend on it; nothing if there is none of this name.
    pub(crate) fn footing(&self, key: &Key) -> Option<Footing> {
        let held = self.releases.get(key)?;
        let is_going = held.facts.deleting_since.is_some();
        Some(match held.end {
            End::Open if !is_going && held.facts.is_applied() => Footing::Firm,
            End::Open if !is_going => Footing::NotYet,
            End::HeldBack if held.facts.was_applied() => Footing::ForThoseOnIt,
            End::Open | End::HeldBack | End::Decided => Footing::Going,
        })
    }

    /// Takes in what is known of a release's end.
    pub(crate) fn set_end(&mut self, facts: &Facts, end: End) {
        let held = self.releases.get_mut(&facts.key);
        if let Some(held) = held.filter(|held| held.facts.uid == facts.uid) {
            held.end = end;
        }
    }

    /// The end of a release waits for others: who they are is found out anew when one of them is gone.
    pub(crate) fn block(&mut self, key: &Key) {
        self.blocked.insert(key.clone());
    }

    /// Releases that waited for one that is gone, or whose end did.
    pub(crate) fn waiting_for(&mut self, gone: &Key) -> Vec<Key> {
        let mut waiting: Vec<Key> = self.blocked.drain().collect();
        waiting.extend(self.dependents(gone).map(|facts| facts.key.clone()));
        waiting
    }

    /// A chain of dependencies that leads back to where it began.
    pub(crate) fn cycle(&self, start: &Facts) -> Option<Vec<Arc<str>>> {
        let mut path = vec![Arc::clone(&start.key.name)];
        let mut visited = HashSet::new();
        self.walk(start, start, &mut path, &mut visited)
            .then_some(path)
    }

    fn walk(
        &self,
        start: &Facts,
        from: &Facts,
        path: &mut Vec<Arc<str>>,
        visited: &mut HashSet<Arc<str>>,
    ) -> bool {
        if path.len() > LONGEST_CHAIN {
            return false;
        }
        for name in &from.depends_on {
            path.push(Arc::clone(name));
            if *name == start.key.name {
                return true;
            }
            let key = Key {
                namespace: Arc::clone(&start.key.namespace),
                name: Arc::clone(name),
            };
            if visited.insert(Arc::clone(name))
                && let Some(next) = self.releases.get(&key)
                && self.walk(start, &next.facts, path, visited)
            {
                return true;
            }
            path.pop();
        }
        false
    }
}
