//! Server-side apply.

use std::borrow::Cow;

use serde_json::Value;

use super::conflict::ApplyError;
use super::entries::{decode, encode};
use super::last_applied::{allowed_conflicts, renew};
use super::owners::{Managed, Operation, Owner, entries_of, remove_entries, set_entries};
use super::prune::prune;
use super::tracking::{TrackError, Tracking, Versioned};
use super::update::{describe, group_version_kind, id_of, track, without_identity};
use super::write::Write;
use crate::fieldset::equal;
use crate::typed::{Duplicates, merge, to_field_set, validate};

/// Who takes over fields of objects that nobody owned before the first apply.
const BEFORE_FIRST_APPLY: &str = "before-first-apply";

/// The manager whose applies also look after the annotation of client-side apply.
const KUBECTL: &str = "kubectl";

/// What an apply makes.
#[derive(Clone, Debug, PartialEq)]
pub struct Applied {
    /// The merged object with its `managedFields`, still to be defaulted and validated.
    pub object: Value,
    /// Whether anything but `managedFields` differs from the live object.
    pub changed: bool,
}

/// Applies a configuration.
///
/// `live` is the stored object in the request's version; `None` creates. `config` is what the client sent,
/// nulls included. Without `force`, changing what another manager owns is refused.
pub fn apply(
    live: Option<&Value>,
    config: &Value,
    write: &Write<'_>,
    force: bool,
) -> Result<Applied, ApplyError> {
    let live = live.unwrap_or(write.blank);
    let entries = entries_of(live).map_or(&[][..], Vec::as_slice);
    let managed = decode(entries)
        .map_err(|why| ApplyError::Failed(format!("failed to decode managed fields: {why}")))?;
    let live = without_entries(live);
    check_type(config, write)?;

    let first = attempt(&live, config, managed.clone(), write, force);
    let (mut applied, managed) = match first {
        Err(ApplyError::Conflicts(conflicts)) if write.manager == KUBECTL => {
            let Some(allowed) = allowed_conflicts(&live, write) else {
                return Err(ApplyError::Conflicts(conflicts));
            };
            let mut left = conflicts;
            left.retain(|conflict| !allowed.has(&conflict.path));
            if !left.is_empty() {
                return Err(ApplyError::Conflicts(left));
            }
            attempt(&live, config, managed, write, true)?
        }
        other => other?,
    };
    if write.manager == KUBECTL {
        renew(&mut applied.object, config);
    }
    set_entries(&mut applied.object, encode(&managed));
    Ok(applied)
}

fn without_entries(live: &Value) -> Cow<'_, Value> {
    if entries_of(live).is_none() {
        return Cow::Borrowed(live);
    }
    let mut live = live.clone();
    remove_entries(&mut live);
    Cow::Owned(live)
}

fn check_type(config: &Value, write: &Write<'_>) -> Result<(), ApplyError> {
    let text = |name: &str| config.get(name).and_then(Value::as_str).unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    if api_version != write.api_version || kind != write.kind {
        // A version that is none names no type at all.
        let (api_version, kind) = match api_version.matches('/').count() {
            0 | 1 => (api_version, kind),
            _ => ("", ""),
        };
        let found = group_version_kind(api_version, kind);
        return Err(ApplyError::BadRequest(format!(
            "invalid object type: {found}"
        )));
    }
    Ok(())
}

fn attempt(
    live: &Value,
    config: &Value,
    managed: Managed,
    write: &Write<'_>,
    force: bool,
) -> Result<(Applied, Managed), ApplyError> {
    let mut managed = managed;
    if managed.owners.is_empty() {
        managed = track(write.blank, live, managed, BEFORE_FIRST_APPLY, write).map_err(|why| {
            ApplyError::Failed(format!(
                "failed to create manager for existing fields: {why}"
            ))
        })?;
    }
    if entries_of(config).is_some() {
        return Err(ApplyError::BadRequest(
            "metadata.managedFields must be nil".to_owned(),
        ));
    }
    let tracking = Tracking {
        versions: write.versions,
        reset: write.reset,
    };
    let ty = tracking.type_in(write.api_version);
    let typed = |object: &Value, what: &str, duplicates| {
        validate(object, ty, duplicates).map_err(|errors| {
            let name = describe(object, write);
            ApplyError::Failed(format!(
                "failed to create typed {what} object ({name}): {errors}"
            ))
        })
    };
    typed(config, "patch", Duplicates::Refused)?;
    typed(live, "live", Duplicates::Allowed)?;

    let old = Versioned::new(live, write.api_version);
    tracking
        .reconcile(&old, &mut managed.owners)
        .map_err(ApplyError::Failed)?;
    let merged = merge(live, config, ty)
        .map_err(|errors| ApplyError::Failed(format!("failed to merge config: {errors}")))?
        .unwrap_or(Value::Null);
    let merged = Versioned {
        object: Cow::Owned(merged),
        api_version: write.api_version.to_owned(),
    };
    let id = id_of(write.manager, Operation::Apply, write);
    let set = tracking.without_resets(to_field_set(config, ty), write.api_version);
    let owner = Owner {
        set,
        api_version: write.api_version.to_owned(),
        applied: true,
    };
    let last = managed.owners.insert(id.clone(), owner);
    let new = prune(tracking, merged, &managed.owners, last.as_ref(), &id)
        .map_err(|why| ApplyError::Failed(format!("failed to prune fields: {why}")))?;
    tracking
        .take_over(&old, &new, &mut managed.owners, &id, force)
        .map_err(|error| match error {
            TrackError::Conflicts(conflicts) => ApplyError::Conflicts(conflicts),
            TrackError::Failed(why) => ApplyError::Failed(why),
        })?;
    strip(&mut managed, &id);
    let changed = !equal(live, &new.object);
    let object = if changed {
        managed.times.insert(id, write.now.to_owned());
        new.object.into_owned()
    } else {
        live.clone()
    };
    Ok((Applied { object, changed }, managed))
}

fn strip(managed: &mut Managed, id: &super::ManagerId) {
    let Some(owner) = managed.owners.get_mut(id) else {
        return;
    };
    owner.set = without_identity(&owner.set);
    if owner.set.is_empty() {
        managed.owners.remove(id);
    }
}
