//! A limit on how many updaters an object remembers.

use std::collections::BTreeMap;

use super::entries::seconds;
use super::owners::{Managed, ManagerId, Operation};

/// How many updaters are told apart.
const MAX_UPDATERS: usize = 10;

/// Who the oldest updaters become.
const OLD_UPDATERS: &str = "ancient-changes";

/// Merges the oldest updaters of a version into one until few enough are left.
pub(super) fn cap_updaters(managed: &mut Managed) {
    let updaters = managed.owners.iter().filter(|(_, owner)| !owner.applied);
    let mut updaters: Vec<_> = updaters.map(|(id, _)| id.clone()).collect();
    let mut left = updaters.len();
    if left <= MAX_UPDATERS {
        return;
    }
    updaters.sort_by_cached_key(|id| (seconds(managed.times.get(id)), id.clone()));
    let mut first_of_version: BTreeMap<String, ManagerId> = BTreeMap::new();
    for id in updaters {
        if left <= MAX_UPDATERS {
            return;
        }
        let Some(owner) = managed.owners.get(&id).cloned() else {
            continue;
        };
        let version = owner.api_version.clone();
        let Some(first) = first_of_version.get(&version) else {
            first_of_version.insert(version, id);
            continue;
        };
        let bucket = ManagerId::new(OLD_UPDATERS, Operation::Update, &version, "");
        if !managed.owners.contains_key(&bucket)
            && let Some(oldest) = managed.owners.remove(first)
        {
            managed.owners.insert(bucket.clone(), oldest);
        }
        let mut merged = owner;
        if let Some(older) = managed.owners.get(&bucket) {
            merged.set = merged.set.union(&older.set);
        }
        managed.owners.insert(bucket.clone(), merged);
        managed.owners.remove(&id);
        left -= 1;
        // The merged update is the more recent one.
        match managed.times.get(&id).cloned() {
            Some(time) => managed.times.insert(bucket, time),
            None => managed.times.remove(&bucket),
        };
    }
}
