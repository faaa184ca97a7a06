//! What can be done with two sets of fields, in one pass over both.

use std::cmp::Ordering;

use super::{PathElement, Set};

/// One step of a walk over two ordered lists.
enum Pair<'a, Item> {
    Left(&'a Item),
    Right(&'a Item),
    Both(&'a Item, &'a Item),
}

/// Walks two lists, each ordered by `step`, side by side.
fn zip<'a, Item>(
    left: &'a [Item],
    right: &'a [Item],
    step: impl Fn(&Item) -> &PathElement,
    mut visit: impl FnMut(Pair<'a, Item>),
) {
    let (mut at, mut other) = (0, 0);
    while at < left.len() && other < right.len() {
        match step(&left[at]).cmp(step(&right[other])) {
            Ordering::Less => {
                visit(Pair::Left(&left[at]));
                at += 1;
            }
            Ordering::Greater => {
                visit(Pair::Right(&right[other]));
                other += 1;
            }
            Ordering::Equal => {
                visit(Pair::Both(&left[at], &right[other]));
                at += 1;
                other += 1;
            }
        }
    }
    left[at..].iter().for_each(|item| visit(Pair::Left(item)));
    right[other..]
        .iter()
        .for_each(|item| visit(Pair::Right(item)));
}

fn itself(step: &PathElement) -> &PathElement {
    step
}

fn of_child(child: &(PathElement, Set)) -> &PathElement {
    &child.0
}

impl Set {
    /// Paths in either set.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let mut out = Self::new();
        out.members
            .reserve(self.members.len().max(other.members.len()));
        zip(&self.members, &other.members, itself, |pair| match pair {
            Pair::Left(step) | Pair::Right(step) | Pair::Both(_, step) => {
                out.members.push(step.clone());
            }
        });
        let children = &mut out.children;
        zip(
            &self.children,
            &other.children,
            of_child,
            |pair| match pair {
                Pair::Left(child) | Pair::Right(child) => children.push(child.clone()),
                Pair::Both(left, right) => {
                    children.push((left.0.clone(), left.1.union(&right.1)));
                }
            },
        );
        out
    }

    /// Paths in both sets.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let mut out = Self::new();
        zip(&self.members, &other.members, itself, |pair| {
            if let Pair::Both(step, _) = pair {
                out.members.push(step.clone());
            }
        });
        let children = &mut out.children;
        zip(&self.children, &other.children, of_child, |pair| {
            if let Pair::Both(left, right) = pair {
                let shared = left.1.intersection(&right.1);
                if !shared.is_empty() {
                    children.push((left.0.clone(), shared));
                }
            }
        });
        out
    }

    /// Paths of this set that the other lacks. A parent in the other does not take its children along.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        let mut out = self.members_without(other);
        zip(
            &self.children,
            &other.children,
            of_child,
            |pair| match pair {
                Pair::Left(child) => out.children.push(child.clone()),
                Pair::Right(_) => {}
                Pair::Both(left, right) => {
                    let rest = left.1.difference(&right.1);
                    if !rest.is_empty() {
                        out.children.push((left.0.clone(), rest));
                    }
                }
            },
        );
        out
    }

    /// Paths of this set that neither are in the other nor lie below one that is.
    #[must_use]
    pub fn recursive_difference(&self, other: &Self) -> Self {
        let mut out = self.members_without(other);
        zip(
            &self.children,
            &other.children,
            of_child,
            |pair| match pair {
                Pair::Right(_) => {}
                Pair::Left(child) | Pair::Both(child, _) if other.has_member(&child.0) => {}
                Pair::Left(child) => out.children.push(child.clone()),
                Pair::Both(left, right) => {
                    let rest = left.1.recursive_difference(&right.1);
                    if !rest.is_empty() {
                        out.children.push((left.0.clone(), rest));
                    }
                }
            },
        );
        out
    }

    fn members_without(&self, other: &Self) -> Self {
        let mut out = Self::new();
        zip(&self.members, &other.members, itself, |pair| {
            if let Pair::Left(step) = pair {
                out.members.push(step.clone());
            }
        });
        out
    }

    /// Only the paths that have nothing below them.
    #[must_use]
    pub fn leaves(&self) -> Self {
        let members = self.members.iter();
        Self {
            members: members
                .filter(|step| self.child(step).is_none())
                .cloned()
                .collect(),
            children: self
                .children
                .iter()
                .map(|(step, below)| (step.clone(), below.leaves()))
                .collect(),
        }
    }
}
