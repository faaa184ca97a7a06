//! A set of paths as a tree.

use super::{Path, PathElement};

/// A set of paths.
///
/// Members are paths of one step; children hold the longer ones below their first step. Being a child does
/// not make a step a member. Both lists are ordered and free of duplicates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Set {
    pub(super) members: Vec<PathElement>,
    pub(super) children: Vec<(PathElement, Set)>,
}

impl Set {
    /// The empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// A set of paths made of field names: `[&["spec", "replicas"]]`.
    pub fn of_fields(paths: &[&[&str]]) -> Self {
        let mut set = Self::new();
        for path in paths {
            set.insert(&Path::of_fields(path.iter().copied()));
        }
        set
    }

    /// Adds one path, not its parents. The empty path, the whole object, is never part of a set.
    pub fn insert(&mut self, path: &Path) {
        self.insert_steps(&path.0);
    }

    fn insert_steps(&mut self, steps: &[PathElement]) {
        match steps {
            [] => {}
            [last] => self.insert_member(last.clone()),
            [first, rest @ ..] => self.descend(first).insert_steps(rest),
        }
    }

    /// Adds a path of one step.
    pub fn insert_member(&mut self, step: PathElement) {
        // Walks mostly come in order, so that the end is the usual place.
        if self.members.last().is_none_or(|last| *last < step) {
            self.members.push(step);
        } else if let Err(at) = self.members.binary_search(&step) {
            self.members.insert(at, step);
        }
    }

    /// The subset below a step, made if it is missing.
    pub fn descend(&mut self, step: &PathElement) -> &mut Self {
        let at = match self.children.binary_search_by(|child| child.0.cmp(step)) {
            Ok(at) => at,
            Err(at) => {
                self.children.insert(at, (step.clone(), Self::new()));
                at
            }
        };
        &mut self.children[at].1
    }

    /// Puts a subset below a step; an empty one is left out.
    pub(crate) fn attach(&mut self, step: PathElement, below: Self) {
        if below.is_empty() {
            return;
        }
        if self.children.last().is_none_or(|last| last.0 < step) {
            self.children.push((step, below));
            return;
        }
        match self.children.binary_search_by(|child| child.0.cmp(&step)) {
            Ok(at) => self.children[at].1 = self.children[at].1.union(&below),
            Err(at) => self.children.insert(at, (step, below)),
        }
    }

    /// Whether a path is part of the set.
    pub fn has(&self, path: &Path) -> bool {
        match path.0.as_slice() {
            [] => false,
            [between @ .., last] => {
                let mut set = self;
                for step in between {
                    match set.child(step) {
                        Some(below) => set = below,
                        None => return false,
                    }
                }
                set.has_member(last)
            }
        }
    }

    /// Whether a path of one step is part of the set.
    pub fn has_member(&self, step: &PathElement) -> bool {
        self.members.binary_search(step).is_ok()
    }

    /// The subset below a step.
    pub fn child(&self, step: &PathElement) -> Option<&Self> {
        let at = self
            .children
            .binary_search_by(|child| child.0.cmp(step))
            .ok()?;
        Some(&self.children[at].1)
    }

    /// Whether a field of the top level is part of the set.
    pub fn has_field(&self, name: &str) -> bool {
        let at = self.members.binary_search_by(|step| step.cmp_field(name));
        at.is_ok()
    }

    /// The subset below a field of the top level.
    pub fn child_field(&self, name: &str) -> Option<&Self> {
        let at = self
            .children
            .binary_search_by(|child| child.0.cmp_field(name));
        at.ok().map(|at| &self.children[at].1)
    }

    /// The paths of one step, in order.
    pub fn members(&self) -> &[PathElement] {
        &self.members
    }

    /// The subsets, in the order of their steps.
    pub fn children(&self) -> &[(PathElement, Self)] {
        &self.children
    }

    /// Whether there is no path in the set.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty() && self.children.iter().all(|(_, below)| below.is_empty())
    }

    /// How many paths are in the set.
    pub fn len(&self) -> usize {
        let below: usize = self.children.iter().map(|(_, below)| below.len()).sum();
        self.members.len() + below
    }

    /// Calls `visit` with every path: members of a level first, then what is below.
    pub fn for_each(&self, visit: &mut impl FnMut(&Path)) {
        self.walk(&mut Path::default(), visit);
    }

    fn walk(&self, at: &mut Path, visit: &mut impl FnMut(&Path)) {
        for member in &self.members {
            at.0.push(member.clone());
            visit(at);
            at.0.pop();
        }
        for (step, below) in &self.children {
            at.0.push(step.clone());
            below.walk(at, visit);
            at.0.pop();
        }
    }

    /// All paths, in the order of [`Set::for_each`].
    pub fn paths(&self) -> Vec<Path> {
        let mut paths = Vec::new();
        self.for_each(&mut |path| paths.push(path.clone()));
        paths
    }
}

impl FromIterator<Path> for Set {
    fn from_iter<Paths: IntoIterator<Item = Path>>(paths: Paths) -> Self {
        let mut set = Self::new();
        for path in paths {
            set.insert(&path);
        }
        set
    }
}
