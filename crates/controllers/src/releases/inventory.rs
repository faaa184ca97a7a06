//! The inventory in a Release's status: every object that is, or may be, in the plane because of it.

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use quadrille_objects::{Desired, Identity, Record};
use quadrille_types::{
    RawObject, ReleaseStatus,
    names::{ResourceId, Uid},
    release::{Health, ObjectError, ObjectStatus},
};

use super::said::Said;

/// What the inventory says of an object beyond its record.
#[derive(Clone, Debug)]
pub(crate) struct Note {
    health: Option<Health>,
    /// Most objects are well, and nothing is to be said of them.
    more: Option<Box<More>>,
    last_observed: Option<Time>,
}

#[derive(Clone, Debug)]
struct More {
    message: Option<String>,
    error: Option<ObjectError>,
    status: Option<RawObject>,
}

/// Takes a status apart into what is kept: everything but the inventory, its records, and what else it says. Words
/// that a desired object has too are shared with it.
pub(super) fn split(
    mut status: ReleaseStatus,
    desired: &[Desired],
) -> (Said, Vec<Record>, Box<[Note]>) {
    let entries = std::mem::take(&mut status.resources);
    let records = entries.iter().map(|entry| record(entry, desired)).collect();
    // A vector would keep the room that the entries had, which is many times that of the notes.
    let notes = entries.into_iter().map(note).collect();
    (Said::read(status), records, notes)
}

fn note(entry: ObjectStatus) -> Note {
    let more = More {
        message: entry.health_message,
        error: entry.error,
        status: entry.status,
    };
    let is_empty = more.message.is_none() && more.error.is_none() && more.status.is_none();
    Note {
        health: entry.health_status,
        more: (!is_empty).then(|| Box::new(more)),
        last_observed: entry.last_observed_time,
    }
}

/// Puts a status together again.
pub(super) fn joined(said: &Said, records: &[Record], notes: &[Note]) -> ReleaseStatus {
    let mut status = said.status();
    let entries = records.iter().zip(notes).map(|(record, note)| {
        let mut entry = blank(record);
        write(&mut entry, record);
        entry.health_status = note.health;
        entry.last_observed_time.clone_from(&note.last_observed);
        if let Some(more) = &note.more {
            entry.health_message.clone_from(&more.message);
            entry.error.clone_from(&more.error);
            entry.status.clone_from(&more.status);
        }
        entry
    });
    status.resources = entries.collect();
    status
}

fn record(object: &ObjectStatus, desired: &[Desired]) -> Record {
    let known = desired.iter().find(|desired| {
        *desired.identity.name == *object.name
            && *desired.identity.namespace == *object.namespace
            && desired.identity.kind.is(&object.group, &object.kind)
    });
    let share = |text: &str, of: Option<&Arc<str>>| match of {
        Some(shared) if **shared == *text => Arc::clone(shared),
        _ => text.into(),
    };
    Record {
        id: share(object.id.as_str(), known.map(|known| &known.id)),
        identity: known.map_or_else(
            || Identity::new(&object.group, &object.kind, &object.namespace, &object.name),
            |known| known.identity.clone(),
        ),
        version: share(&object.version, known.map(|known| &known.version)),
        uid: object.uid.as_ref().map(|uid| uid.as_str().into()),
        digest: object.digest.as_ref().and_then(|text| text.parse().ok()),
        owned: object
            .owned_fields_digest
            .as_ref()
            .and_then(|text| text.parse().ok()),
    }
}

/// An entry for an object that nothing was said about yet.
pub(super) fn blank(record: &Record) -> ObjectStatus {
    let identity = &record.identity;
    ObjectStatus {
        id: ResourceId::new(&*record.id),
        group: identity.kind.group.to_string(),
        version: record.version.to_string(),
        kind: identity.kind.kind.to_string(),
        name: identity.name.to_string(),
        namespace: identity.namespace.to_string(),
        uid: None,
        digest: None,
        owned_fields_digest: None,
        health_status: None,
        health_message: None,
        error: None,
        status: None,
        last_observed_time: None,
    }
}

/// Writes a record into its entry.
pub(super) fn write(entry: &mut ObjectStatus, record: &Record) {
    entry.id = ResourceId::new(&*record.id);
    entry.version = record.version.to_string();
    entry.uid = record.uid.as_deref().map(Uid::new);
    entry.digest = record.digest.map(|digest| digest.to_string());
    entry.owned_fields_digest = record.owned.map(|digest| digest.to_string());
}

/// Whether an entry is of this identity.
pub(super) fn is(entry: &ObjectStatus, identity: &Identity) -> bool {
    *entry.name == *identity.name
        && *entry.namespace == *identity.namespace
        && identity.kind.is(&entry.group, &entry.kind)
}
