//! Between the version in which objects are stored and the one that a client speaks.
//!
//! Custom resources know only the conversion `None`: the same object under another `apiVersion`. Two
//! built-in families differ in shape: horizontal pod autoscalers and events.

use quadrille_machinery::builtin;
use serde_json::{Value, json};

use crate::{kinds, resource::Resource};

/// Whether a resource's objects are stored in another shape than it shows.
pub(crate) fn is_needed(resource: &Resource) -> bool {
    resource.is_built_in() && resource.api_version() != resource.storage_version
}

/// From the stored shape to the shown one.
pub(crate) fn from_storage(resource: &Resource, object: Value) -> Value {
    if !is_needed(resource) {
        return object;
    }
    let mut object = object;
    object["apiVersion"] = json!(resource.storage_version);
    builtin::convert::convert(resource.schema.root(), &resource.api_version(), &mut object);
    builtin::encoding::encode(resource.schema.root(), &mut object);
    object
}

/// From the shown shape to the stored one.
pub(crate) fn to_storage(resource: &Resource, object: Value) -> Value {
    if !is_needed(resource) {
        return object;
    }
    let mut object = object;
    let (group, version) = resource
        .storage_version
        .split_once('/')
        .unwrap_or(("", &resource.storage_version));
    if let Some(schema) = kinds::load().schema(group, version, &resource.kind) {
        builtin::convert::convert(schema.root(), &resource.storage_version, &mut object);
    }
    object
}
