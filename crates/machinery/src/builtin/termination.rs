//! What a namespace that is being deleted says about itself.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::conditions;

/// What is left in a namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remaining {
    /// Objects by resource, named `plural.group`.
    pub resources: BTreeMap<String, u64>,
    /// Objects by the finalizer that holds them.
    pub finalizers: BTreeMap<String, u64>,
}

impl Remaining {
    /// How many objects there are.
    pub fn count(&self) -> u64 {
        self.resources.values().sum()
    }

    /// Brings the conditions of a namespace's status up to date; `now` is the time of those that turn.
    /// Says whether anything changed.
    pub fn tell(&self, status: &mut Value, now: &str) -> bool {
        let mut changed = false;
        for (kind, truth, reason, message) in self.conditions() {
            let condition =
                json!({ "type": kind, "status": truth, "reason": reason, "message": message });
            changed |= conditions::set(status, condition, now);
        }
        changed
    }

    fn conditions(&self) -> [(&'static str, &'static str, &'static str, String); 5] {
        let fine = |kind, reason, message: &str| (kind, "False", reason, message.to_owned());
        let joined = |counts: &BTreeMap<String, u64>, link: &str| {
            let parts = counts
                .iter()
                .map(|(name, count)| format!("{name} {link} {count} resource instances"));
            parts.collect::<Vec<_>>().join(", ")
        };
        [
            fine(
                "NamespaceDeletionDiscoveryFailure",
                "ResourcesDiscovered",
                "All resources successfully discovered",
            ),
            fine(
                "NamespaceDeletionGroupVersionParsingFailure",
                "ParsedGroupVersions",
                "All legacy kube types successfully parsed",
            ),
            fine(
                "NamespaceDeletionContentFailure",
                "ContentDeleted",
                "All content successfully deleted, may be waiting on finalization",
            ),
            if self.resources.is_empty() {
                fine(
                    "NamespaceContentRemaining",
                    "ContentRemoved",
                    "All content successfully removed",
                )
            } else {
                (
                    "NamespaceContentRemaining",
                    "True",
                    "SomeResourcesRemain",
                    format!(
                        "Some resources are remaining: {}",
                        joined(&self.resources, "has")
                    ),
                )
            },
            if self.finalizers.is_empty() {
                fine(
                    "NamespaceFinalizersRemaining",
                    "ContentHasNoFinalizers",
                    "All content-preserving finalizers finished",
                )
            } else {
                (
                    "NamespaceFinalizersRemaining",
                    "True",
                    "SomeFinalizersRemain",
                    format!(
                        "Some content in the namespace has finalizers remaining: {}",
                        joined(&self.finalizers, "in")
                    ),
                )
            },
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reasons(status: &Value) -> Vec<&str> {
        let conditions = status["conditions"].as_array().expect("conditions");
        conditions
            .iter()
            .filter_map(|condition| condition["reason"].as_str())
            .collect()
    }

    #[test]
    fn a_namespace_names_what_holds_it_and_turns_when_that_goes() {
        let mut status = json!({ "phase": "Terminating" });
        let held = Remaining {
            resources: [("configmaps.".to_owned(), 2)].into(),
            finalizers: [("example.com/hold".to_owned(), 1)].into(),
        };
        assert!(held.tell(&mut status, "then"));
        assert!(!held.tell(&mut status, "later"), "nothing changed");
        let messages: Vec<_> = status["conditions"]
            .as_array()
            .expect("conditions")
            .iter()
            .map(|condition| condition["message"].as_str().unwrap_or_default())
            .collect();
        assert_eq!(
            messages[3..],
            [
                "Some resources are remaining: configmaps. has 2 resource instances",
                "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances",
            ]
        );
        assert!(Remaining::default().tell(&mut status, "later"));
        assert_eq!(
            reasons(&status)[3..],
            ["ContentRemoved", "ContentHasNoFinalizers"]
        );
        assert_eq!(status["conditions"][0]["lastTransitionTime"], "then");
        assert_eq!(status["conditions"][3]["lastTransitionTime"], "later");
    }
}
