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
        Origin::BuiltIn => {
            object["apiVersion"] = json!(resource.storage_version);
            builtin::convert::convert(resource.schema.root(), &resource.api_version(), &mut object);
            builtin::encoding::encode(resource.schema.root(), &mut object);
        }
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
        Origin::BuiltIn => {
            let (group, version) = resource
                .storage_version
                .split_once('/')
                .unwrap_or(("", &resource.storage_version));
            if let Some(schema) = kinds::load().schema(group, version, &resource.kind) {
                builtin::convert::convert(schema.root(), &resource.storage_version, &mut object);
            }
        }
        Origin::Custom { stored_schema, .. } => {
            structural::drop_nulls(stored_schema.root(), &mut object);
            body::shape_custom(stored_schema, &mut object).map_err(Status::internal)?;
            structural::default(stored_schema.root(), &mut object);
        }
    }
    Ok(object)
}
