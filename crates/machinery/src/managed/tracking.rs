//! The common part of update and apply: who loses which fields when one object becomes another.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;

use super::conflict::Conflict;
use super::owners::{ManagerId, Owners};
use super::{ConvertError, Resets, Versions};
use crate::fieldset::Set;
use crate::typed::{Comparison, Duplicates, Type, compare, reconcile, validate};

/// Why fields could not be tracked.
#[derive(Debug)]
pub(super) enum TrackError {
    /// Others own what an apply would change.
    Conflicts(Vec<Conflict>),
    /// Anything else, in words.
    Failed(String),
}

/// An object in one version.
#[derive(Clone)]
pub(super) struct Versioned<'o> {
    pub(super) object: Cow<'o, Value>,
    pub(super) api_version: String,
}

impl<'o> Versioned<'o> {
    pub(super) fn new(object: &'o Value, api_version: &str) -> Self {
        Self {
            object: Cow::Borrowed(object),
            api_version: api_version.to_owned(),
        }
    }
}

/// Schemas and conversions, and what an endpoint resets.
#[derive(Clone, Copy)]
pub(super) struct Tracking<'a> {
    pub(super) versions: &'a dyn Versions,
    pub(super) reset: &'a Resets,
}

impl<'a> Tracking<'a> {
    /// The type of an object in a version that is known to exist.
    pub(super) fn type_in(self, api_version: &str) -> Type<'a> {
        let schema = self.versions.schema(api_version);
        schema.map_or(Type::deduced(), Type::of_object)
    }

    /// The object in another version, or `None` if there is no such version any more.
    pub(super) fn convert<'o>(
        self,
        from: &'o Versioned<'_>,
        api_version: &str,
    ) -> Result<Option<Versioned<'o>>, String> {
        if from.api_version == api_version {
            return Ok(Some(Versioned::new(&from.object, api_version)));
        }
        let object = match self.versions.convert(&from.object, api_version) {
            Ok(object) => object,
            Err(ConvertError::UnknownVersion(_)) => return Ok(None),
            Err(ConvertError::Failed(why)) => return Err(why),
        };
        let Some(schema) = self.versions.schema(api_version) else {
            return Ok(None);
        };
        validate(&object, Type::of_object(schema), Duplicates::Refused)
            .map_err(|errors| errors.to_string())?;
        Ok(Some(Versioned {
            object: Cow::Owned(object),
            api_version: api_version.to_owned(),
        }))
    }

    /// Takes what the endpoint resets out of a set.
    pub(super) fn without_resets(self, set: Set, api_version: &str) -> Set {
        match self.reset.of(api_version) {
            Some(reset) => reset.of(&set),
            None => set,
        }
    }

    /// Brings what everybody owns in line with today's schemas; owners in versions that are gone are dropped.
    pub(super) fn reconcile(self, live: &Versioned<'_>, owners: &mut Owners) -> Result<(), String> {
        let mut gone = Vec::new();
        for (id, owner) in owners.iter_mut() {
            if owner.api_version != live.api_version {
                let converted = self.convert(live, &owner.api_version)?;
                if converted.is_none() {
                    gone.push(id.clone());
                    continue;
                }
            }
            if let Some(set) = reconcile(&owner.set, self.type_in(&owner.api_version)) {
                owner.set = set;
            }
        }
        for id in gone {
            owners.remove(&id);
        }
        Ok(())
    }

    /// Compares two objects in a version, without what the endpoint resets.
    fn compare_in(self, old: &Versioned<'_>, new: &Versioned<'_>) -> Result<Comparison, String> {
        let ty = self.type_in(&new.api_version);
        let comparison = compare(&old.object, &new.object, ty)
            .map_err(|errors| format!("failed to compare objects: {errors}"))?;
        Ok(match self.reset.of(&new.api_version) {
            Some(reset) => comparison.filtered(reset),
            None => comparison,
        })
    }

    /// Takes from everybody but the writer what the write changes or removes. Without `force`, changing what
    /// others own is a conflict.
    pub(super) fn take_over(
        self,
        old: &Versioned<'_>,
        new: &Versioned<'_>,
        owners: &mut Owners,
        writer: &ManagerId,
        force: bool,
    ) -> Result<Comparison, TrackError> {
        let failed = TrackError::Failed;
        let mine = self.compare_in(old, new).map_err(failed)?;
        let mut by_version: BTreeMap<String, Option<Comparison>> = BTreeMap::new();
        for (id, owner) in owners.iter() {
            let version = &owner.api_version;
            if id == writer || *version == new.api_version || by_version.contains_key(version) {
                continue;
            }
            let comparison = self.compare_elsewhere(old, new, version).map_err(failed)?;
            by_version.insert(version.clone(), comparison);
        }
        let mut changed_by_version: BTreeMap<&str, Set> = BTreeMap::new();
        let mut taken: Vec<(ManagerId, Set)> = Vec::new();
        let mut gone = Vec::new();
        for (id, owner) in owners.iter().filter(|(id, _)| *id != writer) {
            let comparison = if owner.api_version == new.api_version {
                Some(&mine)
            } else {
                by_version.get(&owner.api_version).and_then(Option::as_ref)
            };
            let Some(comparison) = comparison else {
                gone.push(id.clone());
                continue;
            };
            let changed = changed_by_version
                .entry(&owner.api_version)
                .or_insert_with(|| comparison.modified.union(&comparison.added));
            let conflicts = owner.set.intersection(changed);
            if !conflicts.is_empty() {
                taken.push((id.clone(), conflicts));
            }
        }
        for id in gone {
            owners.remove(&id);
        }
        if !force && !taken.is_empty() {
            return Err(TrackError::Conflicts(conflicts_of(&taken)));
        }
        for (id, conflicts) in taken {
            if let Some(owner) = owners.get_mut(&id) {
                owner.set = owner.set.difference(&conflicts);
            }
        }
        for (_, owner) in owners.iter_mut().filter(|(id, _)| *id != writer) {
            let comparison = if owner.api_version == new.api_version {
                Some(&mine)
            } else {
                by_version.get(&owner.api_version).and_then(Option::as_ref)
            };
            if let Some(comparison) = comparison.filter(|found| !found.removed.is_empty()) {
                owner.set = owner.set.difference(&comparison.removed);
            }
        }
        owners.retain(|_, owner| !owner.set.is_empty());
        Ok(mine)
    }

    fn compare_elsewhere(
        self,
        old: &Versioned<'_>,
        new: &Versioned<'_>,
        api_version: &str,
    ) -> Result<Option<Comparison>, String> {
        let old = self
            .convert(old, api_version)
            .map_err(|why| format!("failed to convert old object: {why}"))?;
        let new = self
            .convert(new, api_version)
            .map_err(|why| format!("failed to convert new object: {why}"))?;
        match (old, new) {
            (Some(old), Some(new)) => self.compare_in(&old, &new).map(Some),
            _ => Ok(None),
        }
    }
}

fn conflicts_of(taken: &[(ManagerId, Set)]) -> Vec<Conflict> {
    let mut conflicts = Vec::new();
    for (manager, set) in taken {
        set.for_each(&mut |path| {
            conflicts.push(Conflict {
                manager: manager.clone(),
                path: path.clone(),
            });
        });
    }
    conflicts
}
