//! Objects as tables: what `kubectl get` shows.

use jiff::Timestamp;
use quadrille_machinery::{
    crd,
    go_text::quote,
    status::Status,
    table::{builtin, custom::CustomTable},
};
use serde_json::{Value, json};

use super::{Request, object::partial_metadata};
use crate::{
    accept::MetaVersion,
    options::Query,
    resource::{Origin, Resource},
};

/// How much of each object a row carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Include {
    None,
    Metadata,
    Object,
}

impl Include {
    /// Reads `includeObject`.
    pub(crate) fn read(query: &Query) -> Result<Self, Status> {
        match query.get("includeObject") {
            None | Some("" | "Metadata") => Ok(Self::Metadata),
            Some("None") => Ok(Self::None),
            Some("Object") => Ok(Self::Object),
            Some(other) => Err(Status::bad_request(format!(
                "Unable to convert to Table as requested: includeObject: Invalid value: {}: must be \
                 'Metadata', 'Object', 'None', or empty",
                quote(other)
            ))),
        }
    }
}

/// A table of objects for a request.
pub(crate) fn of_objects(
    request: &Request,
    version: MetaVersion,
    objects: &[Value],
    metadata: &Value,
) -> Result<Value, Status> {
    let include = Include::read(&request.query)?;
    let now = request.shared.clock.now();
    Ok(build(
        &request.resource,
        version,
        objects,
        metadata,
        include,
        now,
    ))
}

/// A table of objects.
pub(crate) fn build(
    resource: &Resource,
    version: MetaVersion,
    objects: &[Value],
    metadata: &Value,
    include: Include,
    now: Timestamp,
) -> Value {
    let custom = custom_table(resource);
    let definitions: Vec<Value> = match &custom {
        Some(table) => table.definitions(),
        None => builtin::columns(&resource.kind)
            .iter()
            .map(builtin::Column::definition)
            .collect(),
    };
    let rows: Vec<Value> = objects
        .iter()
        .map(|object| {
            let mut row = match &custom {
                Some(table) => json!({ "cells": table.cells(object, now) }),
                None => json!({ "cells": builtin::row(&resource.kind, object, now) }),
            };
            if custom.is_none()
                && let Some(conditions) = builtin::row_conditions(&resource.kind, object)
            {
                row["conditions"] = conditions;
            }
            row["object"] = match include {
                Include::None => Value::Null,
                Include::Metadata => partial_metadata(object, version),
                Include::Object => object.clone(),
            };
            row
        })
        .collect();
    json!({
        "kind": "Table",
        "apiVersion": version.api_version(),
        "metadata": metadata,
        "columnDefinitions": definitions,
        "rows": rows,
    })
}

/// The columns that a definition asks for; `None` for built-in kinds.
fn custom_table(resource: &Resource) -> Option<CustomTable> {
    let Origin::Custom {
        definition,
        version_index,
        ..
    } = &resource.origin
    else {
        return None;
    };
    let columns = crd::columns(&definition["spec"]["versions"][*version_index]);
    Some(CustomTable::new(&columns))
}
