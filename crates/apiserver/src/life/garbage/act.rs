//! What the collector does about one object.

use std::sync::Arc;

use bytes::Bytes;
use quadrille_machinery::status::Status;
use quadrille_store::Revision;
use serde_json::Value;

use super::{
    super::{drop_finalizer, edit},
    index::{Index, Metadata, Owner, Skeleton},
};
use crate::{
    catalog::Catalog,
    resource::Resource,
    rest::{self, FOREGROUND, ORPHAN, Propagation},
    server::Shared,
    stored,
};

/// An object in the store with what is needed to act on it.
struct Found {
    resource: Arc<Resource>,
    namespace: Option<String>,
    name: String,
    /// When it was last changed.
    modified: Revision,
    skeleton: Skeleton,
}

fn find(shared: &Shared, catalog: &Catalog, key: &Bytes) -> Result<Option<Found>, Status> {
    let text = String::from_utf8_lossy(key);
    let storage = text.split('/').next().unwrap_or_default();
    let resource = catalog
        .resources()
        .iter()
        .find(|resource| resource.storage == storage);
    let Some(resource) = resource else {
        return Ok(None);
    };
    let Some(record) = shared.store.get(key).map_err(Status::internal)? else {
        return Ok(None);
    };
    let Ok(skeleton) = serde_json::from_slice(&record.value) else {
        return Ok(None);
    };
    let (namespace, name) = stored::name_of(resource, key);
    Ok(Some(Found {
        resource: resource.clone(),
        namespace: namespace.map(str::to_owned),
        name: name.to_owned(),
        modified: record.modified,
        skeleton,
    }))
}

/// Does for one object what its owners and finalizers ask for.
pub(super) async fn visit(shared: &Arc<Shared>, index: &Index, key: &Bytes) -> Result<(), Status> {
    let catalog = shared.catalog.snapshot();
    let Some(found) = find(shared, &catalog, key)? else {
        return Ok(());
    };
    if found.modified > index.revision {
        return Ok(());
    }
    let metadata = &found.skeleton.metadata;
    if metadata.deletion_timestamp.is_some() {
        if metadata.has_finalizer(ORPHAN) {
            return orphan(shared, &catalog, index, &found).await;
        }
        if metadata.has_finalizer(FOREGROUND) {
            return foreground(shared, &catalog, index, &found).await;
        }
        return Ok(());
    }
    if metadata.owner_references.is_empty() {
        return Ok(());
    }
    let mut living = Vec::new();
    let mut waiting = false;
    for owner in &metadata.owner_references {
        match state(shared, &catalog, index, &found, owner)? {
            OwnerState::Lives => living.push(owner.uid.clone()),
            OwnerState::WaitsForDependents => waiting = true,
            OwnerState::Gone => {}
        }
    }
    if living.len() == metadata.owner_references.len() {
        return Ok(());
    }
    if living.is_empty() {
        let request = shared.request(&found.resource, found.namespace.as_deref(), &found.name);
        let how = if waiting && !index.of(&metadata.uid).is_empty() {
            if closes_a_circle(shared, &catalog, index, metadata)? {
                unblock(shared, &found).await?;
            }
            Propagation::Foreground
        } else {
            kept_propagation(metadata)
        };
        return rest::remove_one(&request, Some(metadata.uid.clone()), how).await;
    }
    // Some owners live: only the references to the others go.
    keep_owners(shared, &found, |uid| {
        living.iter().any(|known| known == uid)
    })
    .await
}

/// Whether something that depends on an object already waits for its own dependents: then each of them would
/// wait for the other for ever.
fn closes_a_circle(
    shared: &Shared,
    catalog: &Catalog,
    index: &Index,
    metadata: &Metadata,
) -> Result<bool, Status> {
    for key in index.of(&metadata.uid) {
        let dependent = find(shared, catalog, &key)?;
        if dependent.is_some_and(|dependent| dependent.skeleton.metadata.waits_for_dependents()) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Lets the owners of an object go without it.
async fn unblock(shared: &Arc<Shared>, dependent: &Found) -> Result<(), Status> {
    let namespace = dependent.namespace.as_deref();
    let (resource, name) = (&dependent.resource, &dependent.name);
    edit(shared, resource, namespace, name, |object| {
        let list = object.pointer_mut("/metadata/ownerReferences");
        for reference in list.and_then(Value::as_array_mut).into_iter().flatten() {
            if reference["blockOwnerDeletion"] == true {
                reference["blockOwnerDeletion"] = Value::Bool(false);
            }
        }
        true
    })
    .await?;
    Ok(())
}

/// A finalizer that a user set before decides how the object's own dependents fare.
fn kept_propagation(metadata: &Metadata) -> Propagation {
    if metadata.has_finalizer(ORPHAN) {
        Propagation::Orphan
    } else if metadata.has_finalizer(FOREGROUND) {
        Propagation::Foreground
    } else {
        Propagation::Background
    }
}

/// What an owner is to its dependent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OwnerState {
    Lives,
    WaitsForDependents,
    Gone,
}

fn state(
    shared: &Shared,
    catalog: &Catalog,
    index: &Index,
    dependent: &Found,
    owner: &Owner,
) -> Result<OwnerState, Status> {
    // A kind that nobody serves may be served again: its objects are not known to be gone.
    let Some(resource) = catalog.of_kind(&owner.api_version, &owner.kind) else {
        return Ok(OwnerState::Lives);
    };
    let namespace = match (&dependent.namespace, resource.namespaced) {
        (Some(namespace), true) => Some(namespace.as_str()),
        // A cluster-scoped object can't be owned by one in a namespace: nothing is known, nothing is done.
        (None, true) => return Ok(OwnerState::Lives),
        (_, false) => None,
    };
    let key = stored::key(resource, namespace, &owner.name);
    let Some(record) = shared.store.get(&key).map_err(Status::internal)? else {
        return Ok(OwnerState::Gone);
    };
    let skeleton: Skeleton = serde_json::from_slice(&record.value).unwrap_or_default();
    if skeleton.metadata.uid != owner.uid {
        return Ok(OwnerState::Gone);
    }
    // An end that the index has not heard of yet brings its dependents to be looked at again.
    let is_heard = record.modified <= index.revision;
    Ok(if is_heard && skeleton.metadata.waits_for_dependents() {
        OwnerState::WaitsForDependents
    } else {
        OwnerState::Lives
    })
}

/// Lets dependents go, then the finalizer.
async fn orphan(
    shared: &Arc<Shared>,
    catalog: &Catalog,
    index: &Index,
    owner: &Found,
) -> Result<(), Status> {
    let uid = owner.skeleton.metadata.uid.clone();
    for key in index.of(&uid) {
        if let Some(dependent) = find(shared, catalog, &key)? {
            keep_owners(shared, &dependent, |known| known != uid).await?;
        }
    }
    release(shared, owner, ORPHAN).await
}

/// Deletes dependents; the finalizer goes when none is left that blocks.
async fn foreground(
    shared: &Arc<Shared>,
    catalog: &Catalog,
    index: &Index,
    owner: &Found,
) -> Result<(), Status> {
    let uid = owner.skeleton.metadata.uid.clone();
    for key in index.of(&uid) {
        let Some(dependent) = find(shared, catalog, &key)? else {
            continue;
        };
        let metadata = &dependent.skeleton.metadata;
        let others_live = metadata.owner_references.iter().any(|reference| {
            reference.uid != uid
                && state(shared, catalog, index, &dependent, reference) == Ok(OwnerState::Lives)
        });
        if others_live {
            keep_owners(shared, &dependent, |known| known != uid).await?;
            continue;
        }
        if metadata.deletion_timestamp.is_none() {
            let request = shared.request(
                &dependent.resource,
                dependent.namespace.as_deref(),
                &dependent.name,
            );
            let how = if index.of(&metadata.uid).is_empty() {
                kept_propagation(metadata)
            } else {
                if closes_a_circle(shared, catalog, index, metadata)? {
                    unblock(shared, &dependent).await?;
                }
                Propagation::Foreground
            };
            rest::remove_one(&request, Some(metadata.uid.clone()), how).await?;
        }
    }
    let still = index
        .of(&uid)
        .into_iter()
        .filter_map(|key| find(shared, catalog, &key).ok()?);
    let held = still.into_iter().any(|dependent| {
        dependent
            .skeleton
            .metadata
            .owner_references
            .iter()
            .any(|reference| reference.uid == uid && reference.block_owner_deletion)
    });
    if held {
        return Ok(());
    }
    release(shared, owner, FOREGROUND).await
}

/// Where the owners of an object that is gone are.
pub(super) fn owners_of(shared: &Shared, gone: &Metadata) -> Vec<Bytes> {
    let catalog = shared.catalog.snapshot();
    let owners = gone.owner_references.iter().filter_map(|owner| {
        let resource = catalog.of_kind(&owner.api_version, &owner.kind)?;
        let namespace = gone.namespace.as_deref().filter(|_| resource.namespaced);
        Some(stored::key(resource, namespace, &owner.name))
    });
    owners.collect()
}

async fn release(shared: &Arc<Shared>, owner: &Found, finalizer: &str) -> Result<(), Status> {
    let namespace = owner.namespace.as_deref();
    edit(shared, &owner.resource, namespace, &owner.name, |object| {
        object["metadata"]["uid"] == owner.skeleton.metadata.uid.as_str()
            && drop_finalizer(object, finalizer)
    })
    .await?;
    Ok(())
}

/// Removes the owner references that are not to be kept.
async fn keep_owners(
    shared: &Arc<Shared>,
    dependent: &Found,
    keep: impl Fn(&str) -> bool + Send + Sync,
) -> Result<(), Status> {
    let namespace = dependent.namespace.as_deref();
    edit(
        shared,
        &dependent.resource,
        namespace,
        &dependent.name,
        |object| {
            let Some(metadata) = object["metadata"].as_object_mut() else {
                return false;
            };
            let Some(list) = metadata
                .get_mut("ownerReferences")
                .and_then(Value::as_array_mut)
            else {
                return false;
            };
            list.retain(|reference| keep(reference["uid"].as_str().unwrap_or_default()));
            if list.is_empty() {
                metadata.remove("ownerReferences");
            }
            true
        },
    )
    .await?;
    Ok(())
}
