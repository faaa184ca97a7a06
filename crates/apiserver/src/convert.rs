//! Between the version in which objects are stored and the one that a client speaks.
//!
//! Custom resources know only the conversion `None`: the same object under another `apiVersion`, with the
//! fields that the other version knows. Two built-in families differ in shape: horizontal pod autoscalers
//! and events.

use quadrille_machinery::{builtin, status::Status, structural};
use quadrille_store::Revision;
use serde_json::{Value, json};

use crate::{
    body, kinds,
    resource::{Origin, Resource},
};

fn speaks_another_version(resource: &Resource) -> bool {
    resource.api_version() != resource.storage_version
}

/// Whether an object that was written at `revision` shows in another shape than it is stored.
pub(crate) fn is_needed(resource: &Resource, revision: Revision) -> bool {
    speaks_another_version(resource)
        || matches!(resource.origin, Origin::Custom { settled, .. } if revision <= settled)
}

/// What becomes of an object of a built-in kind on its way to the store and back: whatever another version
/// fills in belongs to the writer, too.
pub(crate) fn there_and_back(resource: &Resource, object: &mut Value) {
    if !resource.is_built_in() || !speaks_another_version(resource) {
        return;
    }
    store_built_in(resource, object);
    show_built_in(resource, object);
}

fn show_built_in(resource: &Resource, object: &mut Value) {
    object["apiVersion"] = json!(resource.storage_version);
    builtin::convert::convert(resource.schema.root(), &resource.api_version(), object);
    builtin::encoding::encode(resource.schema.root(), object);
}

fn store_built_in(resource: &Resource, object: &mut Value) {
    let (group, version) = resource
        .storage_version
        .split_once('/')
        .unwrap_or(("", &resource.storage_version));
    if let Some(schema) = kinds::load().schema(group, version, &resource.kind) {
        builtin::convert::convert(schema.root(), &resource.storage_version, object);
    }
}

/// From the stored shape to the shown one.
pub(crate) fn from_storage(
    resource: &Resource,
    object: Value,
    revision: Revision,
) -> Result<Value, Status> {
    if !is_needed(resource, revision) {
        return Ok(object);
    }
    let mut object = object;
    match &resource.origin {
        Origin::BuiltIn => show_built_in(resource, &mut object),
        Origin::Custom { stored_schema, .. } => {
            // Fields that got a default after the object was written have it from now on.
            structural::default(stored_schema.root(), &mut object);
            structural::drop_nulls(resource.schema.root(), &mut object);
            body::shape_custom(&resource.schema, &mut object).map_err(Status::internal)?;
        }
    }
    Ok(object)
}

/// From the shown shape to the stored one.
pub(crate) fn to_storage(resource: &Resource, object: Value) -> Result<Value, Status> {
    if !speaks_another_version(resource) {
        return Ok(object);
    }
    let mut object = object;
    match &resource.origin {
        Origin::BuiltIn => store_built_in(resource, &mut object),
        Origin::Custom { stored_schema, .. } => {
            structural::drop_nulls(stored_schema.root(), &mut object);
            body::shape_custom(stored_schema, &mut object).map_err(Status::internal)?;
            structural::default(stored_schema.root(), &mut object);
        }
    }
    Ok(object)
}
