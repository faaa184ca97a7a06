//! Tracking of every write that is not an apply.

use serde_json::{Map, Value};

use super::cap::cap_updaters;
use super::entries::{decode, encode};
use super::owners::{
    Managed, ManagerId, Operation, Owner, entries_of, metadata_text, remove_entries, set_entries,
};
use super::tracking::{TrackError, Tracking, Versioned};
use super::write::Write;
use crate::fieldset::Set;
use crate::typed::{Duplicates, validate};

/// Why an update could not be tracked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UpdateError(pub String);

/// The new object with the `managedFields` that a create, update or patch leaves.
///
/// `live` is the stored object in the request's version, `None` for a create. An update is never refused for
/// the sake of tracking: where it fails (the object does not fit its schema), `managedFields` are dropped.
pub fn update(live: Option<&Value>, new: Value, write: &Write<'_>) -> Value {
    let mut new = new;
    match tracked(live, &mut new, write) {
        Ok(managed) => set_entries(&mut new, encode(&managed)),
        Err(_) => remove_entries(&mut new),
    }
    new
}

/// As [`update`], but says why tracking failed.
pub fn try_update(
    live: Option<&Value>,
    new: Value,
    write: &Write<'_>,
) -> Result<Value, UpdateError> {
    let mut new = new;
    let managed = tracked(live, &mut new, write).map_err(UpdateError)?;
    set_entries(&mut new, encode(&managed));
    Ok(new)
}

fn tracked(live: Option<&Value>, new: &mut Value, write: &Write<'_>) -> Result<Managed, String> {
    let live = live.unwrap_or(write.blank);
    let managed = starting_point(live, new, write);
    remove_entries(new);
    // Whoever has had tracking removed from an object does not get it back by an update.
    if managed.owners.is_empty() && !metadata_text(live, "uid").is_empty() {
        return Ok(managed);
    }
    track(live, new, managed, write.manager, write)
}

/// The `managedFields` to start from. Clients may set them on the object itself; those that know nothing
/// about them and leave them out change nothing.
fn starting_point(live: &Value, new: &Value, write: &Write<'_>) -> Managed {
    let of_live = || {
        let entries = entries_of(live).map_or(&[][..], Vec::as_slice);
        decode(entries).unwrap_or_default()
    };
    if !write.subresource.is_empty() {
        return of_live();
    }
    let Some(entries) = entries_of(new) else {
        return of_live();
    };
    if is_reset(entries) {
        return Managed::default();
    }
    match decode(entries) {
        Ok(managed) if !managed.owners.is_empty() => managed,
        _ => of_live(),
    }
}

/// Whether a client asks to forget all managers.
fn is_reset(entries: &[Value]) -> bool {
    match entries {
        [] => true,
        [only] => only.as_object().is_some_and(Map::is_empty),
        _ => false,
    }
}

/// Gives the changes between two objects to a manager.
pub(super) fn track(
    live: &Value,
    new: &Value,
    managed: Managed,
    name: &str,
    write: &Write<'_>,
) -> Result<Managed, String> {
    let tracking = Tracking {
        versions: write.versions,
        reset: write.reset,
    };
    let ty = tracking.type_in(write.api_version);
    for (object, what) in [(new, "new"), (live, "live")] {
        validate(object, ty, Duplicates::Allowed).map_err(|errors| {
            let name = describe(object, write);
            format!("failed to convert {what} object ({name}) to smd typed: {errors}")
        })?;
    }
    let mut managed = managed;
    let old = Versioned::new(live, write.api_version);
    let new = Versioned::new(new, write.api_version);
    let failed = |why: String| {
        let what = describe(&new.object, write);
        format!("failed to update ManagedFields ({what}): {why}")
    };
    tracking
        .reconcile(&old, &mut managed.owners)
        .map_err(failed)?;
    let writer = ManagerId::current();
    let changes = tracking
        .take_over(&old, &new, &mut managed.owners, &writer, true)
        .map_err(|error| match error {
            TrackError::Failed(why) => failed(why),
            TrackError::Conflicts(_) => failed("a forced write had conflicts".to_owned()),
        })?;
    let set = changes.modified.union(&changes.added);
    let set = tracking.without_resets(set, write.api_version);
    give(&mut managed, without_identity(&set), name, write);
    cap_updaters(&mut managed);
    Ok(managed)
}

/// Adds fields to what a manager owns.
fn give(managed: &mut Managed, set: Set, name: &str, write: &Write<'_>) {
    if set.is_empty() {
        return;
    }
    let id = id_of(name, Operation::Update, write);
    let set = match managed.owners.get(&id) {
        Some(previous) => set.union(&previous.set),
        None => set,
    };
    let owner = Owner {
        set,
        api_version: write.api_version.to_owned(),
        applied: false,
    };
    managed.owners.insert(id.clone(), owner);
    managed.times.insert(id, write.now.to_owned());
}

/// The manager that a write belongs to.
pub(super) fn id_of(manager: &str, operation: Operation, write: &Write<'_>) -> ManagerId {
    let manager = if manager.is_empty() {
        "unknown"
    } else {
        manager
    };
    ManagerId::new(manager, operation, write.api_version, write.subresource)
}

/// Takes what nobody owns out of a set: the object's type, its name and what the server itself keeps.
pub(super) fn without_identity(set: &Set) -> Set {
    use std::sync::LazyLock;
    static IDENTITY: LazyLock<Set> = LazyLock::new(|| {
        Set::of_fields(&[
            &["apiVersion"],
            &["kind"],
            &["metadata"],
            &["metadata", "name"],
            &["metadata", "namespace"],
            &["metadata", "creationTimestamp"],
            &["metadata", "selfLink"],
            &["metadata", "uid"],
            &["metadata", "clusterName"],
            &["metadata", "generation"],
            &["metadata", "managedFields"],
            &["metadata", "resourceVersion"],
        ])
    });
    set.difference(&IDENTITY)
}

/// An object as errors name it: `namespace/name; group/version, Kind=kind`.
pub(super) fn describe(object: &Value, write: &Write<'_>) -> String {
    let namespace = metadata_text(object, "namespace");
    let name = metadata_text(object, "name");
    let kind = group_version_kind(write.api_version, write.kind);
    format!("{namespace}/{name}; {kind}")
}

/// `apps/v1, Kind=Deployment`; the core group is nothing before a slash.
pub(super) fn group_version_kind(api_version: &str, kind: &str) -> String {
    let slash = if api_version.contains('/') { "" } else { "/" };
    format!("{slash}{api_version}, Kind={kind}")
}
