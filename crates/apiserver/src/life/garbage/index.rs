//! Who depends on whom, and as much of an object as it takes to tell.

use std::collections::{BTreeSet, HashMap};

use bytes::Bytes;
use quadrille_store::Revision;
use serde::Deserialize;

use crate::rest::{FOREGROUND, ORPHAN};

/// As much of an object as the collector looks at.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Skeleton {
    pub(super) metadata: Metadata,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Metadata {
    #[serde(default)]
    pub(super) uid: String,
    #[serde(default)]
    pub(super) namespace: Option<String>,
    #[serde(default)]
    pub(super) owner_references: Vec<Owner>,
    #[serde(default)]
    pub(super) finalizers: Vec<String>,
    #[serde(default)]
    pub(super) deletion_timestamp: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Owner {
    #[serde(default)]
    pub(super) api_version: String,
    #[serde(default)]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) name: String,
    #[serde(default)]
    pub(super) uid: String,
    #[serde(default)]
    pub(super) block_owner_deletion: bool,
}

impl Metadata {
    /// Whether a finalizer is there.
    pub(super) fn has_finalizer(&self, name: &str) -> bool {
        self.finalizers.iter().any(|known| known == name)
    }

    /// Whether the object is being deleted, after its dependents.
    pub(super) fn waits_for_dependents(&self) -> bool {
        self.deletion_timestamp.is_some() && self.has_finalizer(FOREGROUND)
    }
}

/// The dependents of every owner, by the owner's uid.
#[derive(Debug)]
pub(super) struct Index {
    /// How far it has read. What is newer in the store has an event to come, and dependents may have come before it that
    /// are not known here yet: nothing is decided about it until then.
    pub(super) revision: Revision,
    pub(super) dependents: HashMap<String, BTreeSet<Bytes>>,
    pub(super) owners: HashMap<Bytes, Vec<String>>,
}

impl Index {
    /// Nothing is known yet, at this revision.
    pub(super) fn new(revision: Revision) -> Self {
        Self {
            revision,
            dependents: HashMap::new(),
            owners: HashMap::new(),
        }
    }

    pub(super) fn set(&mut self, key: &Bytes, owners: &[Owner]) {
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

    pub(super) fn forget(&mut self, key: &Bytes) {
        for uid in self.owners.remove(key).unwrap_or_default() {
            if let Some(keys) = self.dependents.get_mut(&uid) {
                keys.remove(key);
                if keys.is_empty() {
                    self.dependents.remove(&uid);
                }
            }
        }
    }

    pub(super) fn of(&self, uid: &str) -> Vec<Bytes> {
        self.dependents
            .get(uid)
            .into_iter()
            .flatten()
            .cloned()
            .collect()
    }
}

/// Most objects have nothing to do with the collector, and need no parsing to tell.
pub(super) fn skeleton(value: &[u8]) -> Option<Skeleton> {
    let mentions = |what: &[u8]| value.windows(what.len()).any(|window| window == what);
    if !mentions(b"\"ownerReferences\"") && !mentions(b"\"finalizers\"") {
        return None;
    }
    serde_json::from_slice(value).ok()
}

/// Whether an object may need something done by itself, not only when its owner goes.
pub(super) fn is_interesting(skeleton: &Skeleton) -> bool {
    let metadata = &skeleton.metadata;
    !metadata.owner_references.is_empty()
        || metadata.waits_for_dependents()
        || (metadata.deletion_timestamp.is_some() && metadata.has_finalizer(ORPHAN))
}
