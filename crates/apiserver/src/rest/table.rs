//! Objects as tables: what `kubectl get` shows.

use jiff::Timestamp;
use quadrille_machinery::status::Status;
use serde_json::{Value, json};

use super::{Request, object::partial_metadata};
use crate::{
    accept::MetaVersion,
    gap::table,
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
                "unrecognized includeObject value: {other:?}"
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
    let columns = match &resource.origin {
        Origin::BuiltIn => table::builtin::columns(&resource.api_version(), &resource.kind),
        Origin::Custom {
            definition,
            version_index,
        } => table::custom::columns(&definition["spec"]["versions"][*version_index]),
    };
    let rows: Vec<Value> = objects
        .iter()
        .map(|object| {
            let mut row = match &resource.origin {
                Origin::BuiltIn => {
                    table::builtin::row(&resource.api_version(), &resource.kind, object, now)
                }
                Origin::Custom { .. } => table::custom::row(&columns, object, now),
            };
            row["object"] = match include {
                Include::None => Value::Null,
                Include::Metadata => partial_metadata(object),
                Include::Object => object.clone(),
            };
            row
        })
        .collect();
    let definitions: Vec<Value> = columns.iter().map(|column| column.to_value()).collect();
    json!({
        "kind": "Table",
        "apiVersion": version.api_version(),
        "metadata": metadata,
        "columnDefinitions": definitions,
        "rows": rows,
    })
}
