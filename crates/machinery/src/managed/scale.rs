//! The scale subresource has an object of its own: its `managedFields` are made from those of its parent and
//! go back there.

use std::collections::BTreeMap;

use serde_json::Value;

use super::entries::{EntriesError, decode, encode};
use super::owners::{Managed, Owner};
use crate::fieldset::{Path, Set};

/// The version of `Scale` objects.
const SCALE_VERSION: &str = "autoscaling/v1";

/// Where `Scale` objects have their replicas.
fn replicas_in_scale() -> Path {
    Path::of_fields(["spec", "replicas"])
}

/// The `managedFields` of a `Scale` whose parent has these. `replicas` says where the parent has its replicas
/// in each of its versions; `None` in a version without scale.
pub fn scale_to_subresource(
    parent: &[Value],
    replicas: &BTreeMap<String, Option<Path>>,
) -> Result<Vec<Value>, EntriesError> {
    let parent = decode(parent)?;
    let mut scale = Managed::default();
    for (id, owner) in parent.owners {
        let Some(Some(path)) = replicas.get(&owner.api_version) else {
            continue;
        };
        if !owner.set.has(path) {
            continue;
        }
        if let Some(time) = parent.times.get(&id) {
            scale.times.insert(id.clone(), time.clone());
        }
        let owner = Owner {
            set: Set::from_iter([replicas_in_scale()]),
            api_version: SCALE_VERSION.to_owned(),
            applied: owner.applied,
        };
        scale.owners.insert(id, owner);
    }
    Ok(encode(&scale))
}

/// The `managedFields` of a parent in `api_version` after its `Scale` was written.
pub fn scale_to_parent(
    parent: &[Value],
    scale: &[Value],
    api_version: &str,
    replicas: &BTreeMap<String, Option<Path>>,
) -> Result<Vec<Value>, EntriesError> {
    let parent = decode(parent)?;
    let mut of_scale = decode(scale)?.owners;
    let mut out = Managed::default();
    for (id, owner) in parent.owners {
        let Some(path) = replicas.get(&owner.api_version) else {
            continue;
        };
        let mut owner = owner;
        if let Some(path) = path.as_ref().filter(|path| owner.set.has(path))
            && of_scale.remove(&id).is_none()
        {
            // Somebody has taken the replicas by writing the scale.
            owner.set = owner.set.difference(&Set::from_iter([path.clone()]));
            if owner.set.is_empty() {
                continue;
            }
        }
        if let Some(time) = parent.times.get(&id) {
            out.times.insert(id.clone(), time.clone());
        }
        out.owners.insert(id, owner);
    }
    for (id, owner) in of_scale {
        if !owner.set.has(&replicas_in_scale()) {
            continue;
        }
        let path = replicas
            .get(api_version)
            .cloned()
            .flatten()
            .unwrap_or_default();
        let owner = Owner {
            set: Set::from_iter([path]),
            api_version: api_version.to_owned(),
            applied: owner.applied,
        };
        // Times are the parent's: a manager that is new there has none.
        if let Some(time) = parent.times.get(&id) {
            out.times.insert(id.clone(), time.clone());
        }
        out.owners.insert(id, owner);
    }
    Ok(encode(&out))
}
