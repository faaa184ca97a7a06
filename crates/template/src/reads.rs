//! What expressions look at, so that nothing else need be prepared for them.

use std::collections::{BTreeMap, BTreeSet};

/// The variables that expressions look at, and which of their fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reads(BTreeMap<String, Part>);

/// What of a variable is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    All,
    Fields(BTreeSet<String>),
}

impl Reads {
    /// Whether anything of a variable is looked at.
    pub fn variable(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Whether a field of a variable is looked at, by itself or with all the others.
    pub fn field(&self, variable: &str, field: &str) -> bool {
        match self.0.get(variable) {
            None => false,
            Some(Part::All) => true,
            Some(Part::Fields(fields)) => fields.contains(field),
        }
    }

    /// With what others look at.
    pub fn extend(&mut self, others: &Self) {
        for (variable, part) in &others.0 {
            match part {
                Part::All => self.add(variable, None),
                Part::Fields(fields) => fields
                    .iter()
                    .for_each(|field| self.add(variable, Some(field))),
            }
        }
    }

    /// Notes that a variable is looked at: one field of it, or all.
    pub(crate) fn add(&mut self, variable: &str, field: Option<&str>) {
        let part = match self.0.get_mut(variable) {
            Some(part) => part,
            None => self
                .0
                .entry(variable.to_owned())
                .or_insert(Part::Fields(BTreeSet::new())),
        };
        match (&mut *part, field) {
            (Part::All, _) => {}
            (Part::Fields(_), None) => *part = Part::All,
            (Part::Fields(fields), Some(field)) => {
                if !fields.contains(field) {
                    fields.insert(field.to_owned());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_taken_as_a_whole_has_all_its_fields_read() {
        let mut reads = Reads::default();
        reads.add("a", Some("x"));
        assert!(reads.variable("a") && reads.field("a", "x"));
        assert!(!reads.field("a", "y") && !reads.variable("b"));
        reads.add("a", None);
        reads.add("a", Some("x"));
        assert!(reads.field("a", "y"));
        let mut others = Reads::default();
        others.add("b", Some("z"));
        others.extend(&reads);
        assert!(others.field("a", "y") && others.field("b", "z") && !others.field("b", "y"));
    }
}
