//! Removal of what an applier has stopped applying.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;

use super::owners::{ManagerId, Owner, Owners};
use super::tracking::{Tracking, Versioned};
use crate::fieldset::Set;
use crate::typed::{Type, named_fields, remove_items, to_field_set};

/// Takes out of a merged object what the applier owned before and owns no more, unless somebody else does.
///
/// `owners` already has what the applier, `now`, owns now; `last` is what it owned before.
pub(super) fn prune<'o>(
    tracking: Tracking<'_>,
    merged: Versioned<'o>,
    owners: &Owners,
    last: Option<&Owner>,
    now: &ManagerId,
) -> Result<Versioned<'o>, String> {
    let Some(last) = last.filter(|last| !last.set.is_empty()) else {
        return Ok(merged);
    };
    if applied_again(&merged, owners, last, now) {
        return Ok(merged);
    }
    let target = merged.api_version.clone();
    let pruned = {
        let Some(merged) = tracking
            .convert(&merged, &last.api_version)
            .map_err(|why| {
                format!("failed to convert merged object to last applied version: {why}")
            })?
        else {
            return Ok(merged);
        };
        let ty = tracking.type_in(&last.api_version);
        let pruned = without(&merged, &named_fields(&last.set, ty), ty);
        let pruned = add_back_owned(tracking, &merged, pruned, owners)
            .map_err(|why| format!("failed add back owned items: {why}"))?;
        let pruned = add_back_dangling(tracking, &merged, &pruned, last)
            .map_err(|why| format!("failed add back dangling items: {why}"))?;
        let converted = tracking.convert(&pruned, &target)?;
        let Some(converted) = converted else {
            return Err(format!("no such version: {target}"));
        };
        converted.object.into_owned()
    };
    Ok(Versioned {
        object: Cow::Owned(pruned),
        api_version: target,
    })
}

/// Whether the applier still has all that it had before, with everybody in one version: the usual case, in
/// which nothing can be gone and no conversion can fail.
fn applied_again(merged: &Versioned<'_>, owners: &Owners, last: &Owner, now: &ManagerId) -> bool {
    let version = &merged.api_version;
    last.api_version == *version
        && owners.values().all(|owner| owner.api_version == *version)
        && owners
            .get(now)
            .is_some_and(|owner| last.set.difference(&owner.set).is_empty())
}

fn without(from: &Versioned<'_>, items: &Set, ty: Type<'_>) -> Versioned<'static> {
    let mut object: Value = from.object.as_ref().clone();
    remove_items(&mut object, items, ty);
    Versioned {
        object: Cow::Owned(object),
        api_version: from.api_version.clone(),
    }
}

fn fields(of: &Versioned<'_>, ty: Type<'_>) -> Set {
    named_fields(&to_field_set(&of.object, ty), ty)
}

fn owned(of: &Versioned<'_>) -> Versioned<'static> {
    Versioned {
        object: Cow::Owned(of.object.as_ref().clone()),
        api_version: of.api_version.clone(),
    }
}

/// Puts back what anybody owns, the applier's new configuration included. The version that was pruned comes
/// first: conversions may need what was removed.
fn add_back_owned(
    tracking: Tracking<'_>,
    merged: &Versioned<'_>,
    pruned: Versioned<'static>,
    owners: &Owners,
) -> Result<Versioned<'static>, String> {
    let mut by_version: BTreeMap<&str, Set> = BTreeMap::new();
    for owner in owners.values() {
        let set = by_version.entry(&owner.api_version).or_default();
        *set = set.union(&owner.set);
    }
    let at = pruned.api_version.clone();
    let mut versions: Vec<_> = by_version.iter().collect();
    versions.sort_by_key(|(version, _)| (**version != at, **version));
    let mut merged = owned(merged);
    let mut pruned = pruned;
    for (version, managed) in versions {
        let describe = |what: &str, why: String| {
            format!("failed to convert {what} object at version {version}: {why}")
        };
        let converted = tracking
            .convert(&merged, version)
            .map_err(|why| describe("merged", why))?
            .map(|object| owned(&object));
        let Some(converted) = converted else {
            continue;
        };
        merged = converted;
        let converted = tracking
            .convert(&pruned, version)
            .map_err(|why| describe("pruned", why))?
            .map(|object| owned(&object));
        let Some(converted) = converted else {
            continue;
        };
        let ty = tracking.type_in(version);
        let keep = fields(&converted, ty).union(&named_fields(managed, ty));
        pruned = without(&merged, &fields(&merged, ty).difference(&keep), ty);
    }
    Ok(pruned)
}

/// Puts back what was removed although the applier did not own it: nobody's fields stay.
fn add_back_dangling(
    tracking: Tracking<'_>,
    merged: &Versioned<'_>,
    pruned: &Versioned<'_>,
    last: &Owner,
) -> Result<Versioned<'static>, String> {
    let Some(pruned) = tracking
        .convert(pruned, &last.api_version)
        .map_err(|why| format!("failed to convert pruned object to last applied version: {why}"))?
    else {
        return Ok(owned(merged));
    };
    let ty = tracking.type_in(&last.api_version);
    let removed = fields(merged, ty).difference(&fields(&pruned, ty));
    Ok(without(
        merged,
        &removed.intersection(&named_fields(&last.set, ty)),
        ty,
    ))
}
