//! What real servers do to objects of built-in kinds beyond storing them.
//!
//! ```text
//!   decoded ──► defaults::apply ──► strategy::prepare_for_create ──► validation ──► encoding::encode
//! ```
//!
//! Everything is driven by the schema's type names, so a container is treated alike in a Pod, a Deployment or
//! a `CronJob`. Values must have passed `decode` (canonical quantities and times, no unknown fields).

pub mod admission;
pub mod convert;
pub mod defaults;
pub mod encoding;
mod fields;
pub mod quality;
pub mod strategy;
pub mod termination;
pub mod validation;
pub mod warnings;

use serde_json::Value;

use crate::schema::SchemaRef;

/// Everything that happens to a new object before it is validated and stored: defaults, admission, and what
/// its strategy sets. The object has its name, namespace and uid; `now` is the time in the form of
/// `metadata.creationTimestamp`.
pub fn complete_new(schema: SchemaRef<'_>, group: &str, kind: &str, object: &mut Value, now: &str) {
    let labels = object
        .pointer("/metadata/labels")
        .and_then(Value::as_object);
    let unlabelled = labels.is_none_or(serde_json::Map::is_empty);
    defaults::apply(schema, object);
    admission::admit_create(group, kind, object);
    strategy::prepare_for_create(kind, object, now);
    // A job without labels shares those of its pods, those made for it included.
    if kind == "Job" && unlabelled {
        object["metadata"]["labels"] = object["spec"]["template"]["metadata"]["labels"].clone();
    }
    // What is read back from storage gets its defaults once more.
    defaults::apply(schema, object);
    encoding::encode(schema, object);
}

/// Everything that happens to the new state of an object before it is validated and stored.
pub fn complete_update(schema: SchemaRef<'_>, kind: &str, new: &mut Value, old: &Value) {
    defaults::apply(schema, new);
    strategy::prepare_for_update(kind, new, old);
    defaults::apply(schema, new);
    encoding::encode(schema, new);
}

/// The same for an update through the `status` subresource.
pub fn complete_status_update(
    schema: SchemaRef<'_>,
    kind: &str,
    new: &mut Value,
    old: &Value,
    now: &str,
) {
    defaults::apply(schema, new);
    strategy::prepare_for_status_update(kind, new, old, now);
    defaults::apply(schema, new);
    encoding::encode(schema, new);
}
