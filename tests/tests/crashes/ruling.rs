//! What must be true at the end of a story, and at every moment of it.

use std::collections::{BTreeMap, BTreeSet};

use kube::api::DynamicObject;
use quadrille_testkit::ClusterKind;
use quadrille_types::ReleaseStatus;
use serde_json::Value;

use crate::judge::{Happened, Judge, Place, is_of_the_cluster};

impl Judge {
    /// Whether exactly these objects are there, as they were asked for, and what belongs to others.
    pub(crate) fn is_as_asked(
        &self,
        found: &BTreeMap<Place, DynamicObject>,
        asked: &BTreeMap<Place, Value>,
    ) -> Result<(), String> {
        let expected: BTreeSet<&Place> = asked.keys().chain(self.foreign.keys()).collect();
        let there: BTreeSet<&Place> = found.keys().collect();
        if expected != there {
            let missing: Vec<_> = expected.difference(&there).collect();
            let extra: Vec<_> = there.difference(&expected).collect();
            return Err(format!("missing {missing:?}, and too many {extra:?}"));
        }
        for (place, asked) in asked {
            let found = serde_json::to_value(&found[place]).unwrap();
            if !contains(&found, asked) {
                return Err(format!("{place:?} is not as asked: {found}"));
            }
            if found["metadata"]["deletionTimestamp"].is_string() {
                return Err(format!("{place:?} is on its way out"));
            }
        }
        Ok(())
    }

    /// Nothing of others was touched.
    pub(crate) fn foreign_is_untouched(&self, found: &BTreeMap<Place, DynamicObject>) {
        for (place, made) in &self.foreign {
            let now = &found[place].metadata;
            assert_eq!(now.uid, made.metadata.uid, "{place:?} was made anew");
            assert_eq!(
                now.generation, made.metadata.generation,
                "{place:?} was changed"
            );
            assert!(now.deletion_timestamp.is_none(), "{place:?} was deleted");
            // On a real cluster a deployment's own controller writes its status.
            if self.cluster == ClusterKind::Embedded || place.0 != "Deployment" {
                let (now, then) = (&now.resource_version, &made.metadata.resource_version);
                assert_eq!(now, then, "{place:?} was touched");
            }
        }
    }

    /// Nothing ran before it was isolated or after it no longer was, nothing appeared that nobody asked for, and
    /// nothing went that was to stay.
    pub(crate) fn order_was_kept(
        &self,
        history: &[Happened],
        before: &BTreeMap<Place, Value>,
        after: &BTreeMap<Place, Value>,
    ) {
        let home = &self.namespaces[0];
        let policy = ("NetworkPolicy".to_owned(), home.clone(), "web".to_owned());
        let mut there = BTreeSet::new();
        for one in history {
            let place = &one.place;
            let runs = matches!(place.0.as_str(), "Deployment" | "Pod");
            let is_bystander = place.2.starts_with("bystander");
            if one.is_gone {
                there.remove(place);
                assert!(!self.foreign.contains_key(place), "{place:?} was deleted");
                let stays = before.contains_key(place) && after.contains_key(place);
                assert!(!stays, "{place:?} was to stay and was deleted");
            } else {
                there.insert(place.clone());
                let is_known = self.foreign.contains_key(place)
                    || before.contains_key(place)
                    || after.contains_key(place)
                    || place.0 == "Pod"
                    || place.2.starts_with("canary")
                    || is_of_the_cluster(place);
                assert!(is_known, "{place:?} appeared, and nobody asked for it");
            }
            if runs && !is_bystander && !one.is_gone {
                let isolated = there.contains(&policy);
                assert!(isolated, "{place:?} was there without its policy");
            }
            if *place == policy && one.is_gone {
                let left = there
                    .iter()
                    .find(|(kind, _, name)| kind == "Deployment" && name == "web");
                assert_eq!(left, None, "the policy went before what it isolates");
            }
        }
    }

    /// The inventory is what is there.
    pub(crate) fn is_written_down(
        &self,
        status: &ReleaseStatus,
        found: &BTreeMap<Place, DynamicObject>,
    ) -> Result<(), String> {
        let written: BTreeSet<(Place, Option<String>)> = status
            .resources
            .iter()
            .map(|entry| {
                let place = (
                    entry.kind.clone(),
                    entry.namespace.clone(),
                    entry.name.clone(),
                );
                (place, entry.uid.as_ref().map(|uid| uid.as_str().to_owned()))
            })
            .collect();
        let there: BTreeSet<(Place, Option<String>)> = found
            .iter()
            .filter(|(place, _)| !self.foreign.contains_key(*place))
            .map(|(place, object)| (place.clone(), object.metadata.uid.clone()))
            .collect();
        if written == there {
            Ok(())
        } else {
            Err(format!("written down: {written:?}; there: {there:?}"))
        }
    }
}

/// Whether an object has everything that was asked for.
fn contains(found: &Value, asked: &Value) -> bool {
    match (found, asked) {
        (Value::Object(found), Value::Object(asked)) => asked
            .iter()
            .all(|(key, asked)| found.get(key).is_some_and(|found| contains(found, asked))),
        (Value::Array(found), Value::Array(asked)) => {
            found.len() == asked.len()
                && found
                    .iter()
                    .zip(asked)
                    .all(|(found, asked)| contains(found, asked))
        }
        (found, asked) => found == asked,
    }
}
