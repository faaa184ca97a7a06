//! The garbage collector: dependents follow their owners.
//!
//! It keeps one index, from an owner's uid to the keys of objects that name it, and reads everything else
//! from the store when an event asks for it.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use bytes::Bytes;
use quadrille_machinery::status::Status;
use quadrille_store::{Change, Event, WatchEnd};
use serde::Deserialize;
use serde_json::Value;

use super::{drop_finalizer, edit};
use crate::{
    catalog::Catalog,
    resource::Resource,
    rest::{self, FOREGROUND, ORPHAN, Propagation},
    server::Shared,
    stored,
};

/// How many records are read at a time.
const CHUNK: usize = 500;

/// As much of an object as the collector looks at.
#[derive(Debug, Default, Deserialize)]
struct Skeleton {
    metadata: Metadata,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    #[serde(default)]
    uid: String,
    #[serde(default)]
    owner_references: Vec<Owner>,
    #[serde(default)]
    finalizers: Vec<String>,
    #[serde(default)]
    deletion_timestamp: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Owner {
    #[serde(default)]
    api_version: String,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    uid: String,
    #[serde(default)]
    block_owner_deletion: bool,
}

/// The dependents of every owner, by the owner's uid.
#[derive(Debug, Default)]
struct Index {
    dependents: HashMap<String, BTreeSet<Bytes>>,
    owners: HashMap<Bytes, Vec<String>>,
}

impl Index {
    fn set(&mut self, key: &Bytes, owners: &[Owner]) {
        self.forget(key);
        if owners.is_empty() {
            return;
        }
        for owner in owners {
            self.dependents
                .entry(owner.uid.clone())
                .or_default()
                .insert(key.clone());
        }
        let uids = owners.iter().map(|owner| owner.uid.clone()).collect();
        self.owners.insert(key.clone(), uids);
    }

    fn forget(&mut self, key: &Bytes) {
        for uid in self.owners.remove(key).unwrap_or_default() {
            if let Some(keys) = self.dependents.get_mut(&uid) {
                keys.remove(key);
                if keys.is_empty() {
                    self.dependents.remove(&uid);
                }
            }
        }
    }

    fn of(&self, uid: &str) -> Vec<Bytes> {
        self.dependents
            .get(uid)
            .into_iter()
            .flatten()
            .cloned()
            .collect()
    }
}

/// Collects until the server stops.
pub(crate) async fn run(shared: Arc<Shared>) {
    while !shared.shutdown.is_cancelled() {
        if let Err(status) = follow(&shared).await {
            tracing::error!(%status, "garbage collection failed");
            return;
        }
    }
}

async fn follow(shared: &Arc<Shared>) -> Result<(), Status> {
    let at = shared.store.revision();
    let mut watch = shared.store.watch(b"", at).map_err(Status::internal)?;
    let mut index = Index::default();
    let mut first = Vec::new();
    let mut after: Option<Bytes> = None;
    loop {
        let page = shared
            .store
            .list(b"", after.as_deref(), CHUNK, Some(at))
            .map_err(Status::internal)?;
        for record in &page.records {
            let Some(skeleton) = skeleton(&record.value) else {
                continue;
            };
            index.set(&record.key, &skeleton.metadata.owner_references);
            if is_interesting(&skeleton) {
                first.push(record.key.clone());
            }
        }
        match page.records.last() {
            Some(last) if page.more => after = Some(last.key.clone()),
            _ => break,
        }
        tokio::task::yield_now().await;
    }
    for key in first {
        report(visit(shared, &index, &key).await, &key);
    }
    loop {
        let event = tokio::select! {
            () = shared.shutdown.cancelled() => return Ok(()),
            event = watch.next() => event,
        };
        match event {
            Ok(event) => observe(shared, &mut index, &event).await,
            Err(WatchEnd::Closed) => {
                shared.shutdown.cancelled().await;
                return Ok(());
            }
            // Start over from the newest state.
            Err(_) => return Ok(()),
        }
    }
}

fn report(result: Result<(), Status>, key: &Bytes) {
    if let Err(status) = result {
        tracing::warn!(%status, key = %String::from_utf8_lossy(key), "not collected");
    }
}

/// Most objects have nothing to do with the collector, and need no parsing to tell.
fn skeleton(value: &[u8]) -> Option<Skeleton> {
    let mentions = |what: &[u8]| value.windows(what.len()).any(|window| window == what);
    if !mentions(b"\"ownerReferences\"") && !mentions(b"\"finalizers\"") {
        return None;
    }
    serde_json::from_slice(value).ok()
}

/// Whether an object may need something done by itself, not only when its owner goes.
fn is_interesting(skeleton: &Skeleton) -> bool {
    let metadata = &skeleton.metadata;
    !metadata.owner_references.is_empty()
        || (metadata.deletion_timestamp.is_some()
            && metadata
                .finalizers
                .iter()
                .any(|name| name == ORPHAN || name == FOREGROUND))
}

async fn observe(shared: &Arc<Shared>, index: &mut Index, event: &Arc<Event>) {
    if event.change == Change::Deleted {
        let owners = index.owners.get(&event.key).cloned().unwrap_or_default();
        index.forget(&event.key);
        if let Ok(gone) = serde_json::from_slice::<Skeleton>(&event.value) {
            for key in index.of(&gone.metadata.uid) {
                report(visit(shared, index, &key).await, &key);
            }
        }
        // An owner may have waited for this dependent to go.
        for uid in owners {
            if let Err(status) = release_owner(shared, index, &uid, &event.value).await {
                report(Err(status), &event.key);
            }
        }
        return;
    }
    match skeleton(&event.value) {
        Some(skeleton) => {
            index.set(&event.key, &skeleton.metadata.owner_references);
            if is_interesting(&skeleton) {
                report(visit(shared, index, &event.key).await, &event.key);
            }
        }
        None => index.forget(&event.key),
    }
}

/// An object in the store with what is needed to act on it.
struct Found {
    resource: Arc<Resource>,
    namespace: Option<String>,
    name: String,
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
        skeleton,
    }))
}

/// Does for one object what its owners and finalizers ask for.
async fn visit(shared: &Arc<Shared>, index: &Index, key: &Bytes) -> Result<(), Status> {
    let catalog = shared.catalog.snapshot();
    let Some(found) = find(shared, &catalog, key)? else {
        return Ok(());
    };
    let metadata = &found.skeleton.metadata;
    if metadata.deletion_timestamp.is_some() {
        let has = |name: &str| metadata.finalizers.iter().any(|known| known == name);
        if has(ORPHAN) {
            return orphan(shared, &catalog, index, &found).await;
        }
        if has(FOREGROUND) {
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
        match state(shared, &catalog, &found, owner)? {
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

/// A finalizer that a user set before decides how the object's own dependents fare.
fn kept_propagation(metadata: &Metadata) -> Propagation {
    let has = |name: &str| metadata.finalizers.iter().any(|known| known == name);
    if has(ORPHAN) {
        Propagation::Orphan
    } else if has(FOREGROUND) {
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
    let waits = skeleton.metadata.deletion_timestamp.is_some()
        && skeleton
            .metadata
            .finalizers
            .iter()
            .any(|name| name == FOREGROUND);
    Ok(if waits {
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
    let mut blocked = false;
    for key in index.of(&uid) {
        let Some(dependent) = find(shared, catalog, &key)? else {
            continue;
        };
        let metadata = &dependent.skeleton.metadata;
        let blocks = metadata
            .owner_references
            .iter()
            .any(|reference| reference.uid == uid && reference.block_owner_deletion);
        let others_live = metadata.owner_references.iter().any(|reference| {
            reference.uid != uid
                && state(shared, catalog, &dependent, reference) == Ok(OwnerState::Lives)
        });
        if others_live {
            keep_owners(shared, &dependent, |known| known != uid).await?;
            continue;
        }
        blocked |= blocks;
        if metadata.deletion_timestamp.is_none() {
            let request = shared.request(
                &dependent.resource,
                dependent.namespace.as_deref(),
                &dependent.name,
            );
            let how = if index.of(&metadata.uid).is_empty() {
                kept_propagation(metadata)
            } else {
                Propagation::Foreground
            };
            rest::remove_one(&request, Some(metadata.uid.clone()), how).await?;
        }
        // It may be gone at once.
        if blocks && find(shared, catalog, &key)?.is_none() {
            blocked = false;
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
    if blocked || held {
        return Ok(());
    }
    release(shared, owner, FOREGROUND).await
}

/// An owner in foreground deletion may be waiting for a dependent that is gone now.
async fn release_owner(
    shared: &Arc<Shared>,
    index: &Index,
    uid: &str,
    dependent: &[u8],
) -> Result<(), Status> {
    let catalog = shared.catalog.snapshot();
    let gone: Value = serde_json::from_slice(dependent).map_err(Status::internal)?;
    let references = gone["metadata"]["ownerReferences"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    for reference in references
        .iter()
        .filter(|reference| reference["uid"] == uid)
    {
        let Ok(owner) = serde_json::from_value::<Owner>(reference.clone()) else {
            continue;
        };
        let Some(resource) = catalog.of_kind(&owner.api_version, &owner.kind) else {
            continue;
        };
        let namespace = gone["metadata"]["namespace"]
            .as_str()
            .filter(|_| resource.namespaced);
        let key = stored::key(resource, namespace, &owner.name);
        visit(shared, index, &key).await?;
    }
    Ok(())
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
