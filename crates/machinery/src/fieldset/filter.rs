//! Rules that take fields out of sets.

use super::{PathElement, Set};

/// Which fields of a set stay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Filter {
    /// All but these and what is below them.
    Without(Set),
    /// Only those on the way to these, and what is below them.
    Only(Pattern),
}

/// Paths to keep, as a tree. At the end of a path everything matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pattern {
    /// `None` is any step.
    steps: Vec<(Option<PathElement>, Pattern)>,
}

impl Pattern {
    /// A pattern of paths of field names; `*` is any step.
    pub fn new(paths: &[&[&str]]) -> Self {
        let mut pattern = Self::default();
        for path in paths {
            pattern.insert(path);
        }
        pattern
    }

    fn insert(&mut self, path: &[&str]) {
        let [name, rest @ ..] = path else {
            return;
        };
        let step = (*name != "*").then(|| PathElement::field(name));
        let known = self.steps.iter().position(|(known, _)| *known == step);
        let at = known.unwrap_or_else(|| {
            self.steps.push((step, Self::default()));
            self.steps.len() - 1
        });
        self.steps[at].1.insert(rest);
    }

    fn below(&self, step: &PathElement) -> Option<&Self> {
        let matches =
            |known: &Option<PathElement>| known.as_ref().is_none_or(|known| known == step);
        let found = self.steps.iter().find(|(known, _)| matches(known));
        found.map(|(_, below)| below)
    }

    fn of(&self, set: &Set) -> Set {
        if self.steps.is_empty() {
            return set.clone();
        }
        let mut out = Set::new();
        for member in set.members() {
            if self.below(member).is_some() {
                out.insert_member(member.clone());
            }
        }
        for (step, children) in set.children() {
            if let Some(below) = self.below(step) {
                out.attach(step.clone(), below.of(children));
            }
        }
        out
    }
}

impl Filter {
    /// What stays of a set.
    pub fn of(&self, set: &Set) -> Set {
        match self {
            Self::Without(fields) => set.recursive_difference(fields),
            Self::Only(pattern) => pattern.of(set),
        }
    }
}
