//! `metadata.managedFields`, read and written.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::owners::{Managed, ManagerId, Operation, Owner};
use crate::fieldset::{FieldsError, Set};
use crate::go_text::quote;

/// Why `managedFields` could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EntriesError {
    /// The operation is none that exists.
    #[error("operation must be `Apply` or `Update`")]
    Operation,
    /// An entry has no version.
    #[error("apiVersion must not be empty")]
    NoVersion,
    /// An entry does not say how it is written.
    #[error("missing fieldsType in managed fields entry {0}")]
    NoFieldsType(usize),
    /// An entry is written in an unknown way.
    #[error("invalid fieldsType {} in managed fields entry {at}", quote(.found))]
    FieldsType {
        /// The way.
        found: String,
        /// The entry.
        at: usize,
    },
    /// An entry's fields are malformed.
    #[error("error decoding versioned set: error decoding set: {0}")]
    Fields(#[from] FieldsError),
}

fn text<'e>(entry: &'e Value, name: &str) -> &'e str {
    entry.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Reads `managedFields`.
pub fn decode(entries: &[Value]) -> Result<Managed, EntriesError> {
    let mut managed = Managed::default();
    for (at, entry) in entries.iter().enumerate() {
        let operation = match text(entry, "operation") {
            "Apply" => Operation::Apply,
            "Update" => Operation::Update,
            _ => return Err(EntriesError::Operation),
        };
        let api_version = text(entry, "apiVersion");
        if api_version.is_empty() {
            return Err(EntriesError::NoVersion);
        }
        match text(entry, "fieldsType") {
            "FieldsV1" => {}
            "" => return Err(EntriesError::NoFieldsType(at)),
            other => {
                let found = other.to_owned();
                return Err(EntriesError::FieldsType { found, at });
            }
        }
        let set = match entry.get("fieldsV1") {
            None | Some(Value::Null) => Set::new(),
            Some(fields) => Set::from_value(fields)?,
        };
        let name = text(entry, "manager");
        let id = ManagerId::new(name, operation, api_version, text(entry, "subresource"));
        match entry.get("time").and_then(Value::as_str) {
            Some(time) => managed.times.insert(id.clone(), whole_seconds(time)),
            None => managed.times.remove(&id),
        };
        let owner = Owner {
            set,
            api_version: api_version.to_owned(),
            applied: operation == Operation::Apply,
        };
        managed.owners.insert(id, owner);
    }
    Ok(managed)
}

/// A time as it is stored: UTC, whole seconds. What cannot be read stays.
fn whole_seconds(time: &str) -> String {
    if time.len() == 20 && time.ends_with('Z') {
        return time.to_owned();
    }
    match time.parse::<Timestamp>() {
        Ok(stamp) => Timestamp::from_second(stamp.as_second())
            .map_or_else(|_| time.to_owned(), |stamp| stamp.to_string()),
        Err(_) => time.to_owned(),
    }
}

/// Seconds since 1970 of a time; 0 for none.
pub(super) fn seconds(time: Option<&String>) -> i64 {
    time.and_then(|time| time.parse::<Timestamp>().ok())
        .map_or(0, Timestamp::as_second)
}

/// Writes `managedFields`: appliers first, each kind by time, then by name.
pub fn encode(managed: &Managed) -> Vec<Value> {
    let mut sorted: Vec<_> = managed
        .owners
        .iter()
        .map(|(id, owner)| (id, owner, managed.times.get(id)))
        .collect();
    sorted.sort_by_cached_key(|(id, owner, time)| {
        (
            operation_of(id, owner),
            seconds(*time),
            id.manager.clone(),
            owner.api_version.clone(),
            id.subresource.clone(),
        )
    });
    sorted
        .into_iter()
        .map(|(id, owner, time)| entry(id, owner, time))
        .collect()
}

fn operation_of(id: &ManagerId, owner: &Owner) -> Operation {
    if owner.applied {
        Operation::Apply
    } else {
        id.operation
    }
}

fn entry(id: &ManagerId, owner: &Owner, time: Option<&String>) -> Value {
    let mut entry = Map::new();
    let texts = [
        ("apiVersion", owner.api_version.as_str()),
        ("fieldsType", "FieldsV1"),
        ("manager", &id.manager),
        ("operation", operation_of(id, owner).word()),
        ("subresource", &id.subresource),
        ("time", time.map_or("", String::as_str)),
    ];
    for (name, text) in texts {
        if !text.is_empty() {
            entry.insert(name.to_owned(), Value::from(text));
        }
    }
    entry.insert("fieldsV1".to_owned(), owner.set.to_value());
    Value::Object(entry)
}
