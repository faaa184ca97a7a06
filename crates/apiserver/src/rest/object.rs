//! Objects on their way out, in the form that the client asked for.

use axum::response::Response;
use bytes::Bytes;
use quadrille_machinery::status::Status;
use quadrille_store::{Record, Revision};
use serde_json::{Value, json};

use super::{Request, table};
use crate::{
    accept::{Form, MetaVersion},
    convert, reply,
    resource::Resource,
    stored::{self, Head},
};

/// An object as it lies in the store.
#[derive(Clone, Debug)]
pub(crate) struct Saved {
    /// The record's value.
    pub(crate) value: Bytes,
    /// Its revision; 0 for what a dry run did not write.
    pub(crate) revision: Revision,
}

impl From<Record> for Saved {
    fn from(record: Record) -> Self {
        Self {
            value: record.value,
            revision: record.modified,
        }
    }
}

impl Saved {
    /// The object in the version of `resource`.
    pub(crate) fn object(&self, resource: &Resource) -> Result<Value, Status> {
        let object = stored::decode(resource, &self.value, self.revision)?;
        convert::from_storage(resource, object, self.revision)
    }

    /// Appends only the object's metadata, which is the same in every version.
    pub(crate) fn write_metadata(&self, version: MetaVersion, out: &mut Vec<u8>) {
        stored::write_metadata(out, version.api_version(), &self.value, self.revision);
    }

    /// Appends the object's JSON in the version of `resource`.
    pub(crate) fn write(
        &self,
        resource: &Resource,
        typed: bool,
        out: &mut Vec<u8>,
    ) -> Result<(), Status> {
        if convert::is_needed(resource, self.revision) {
            let mut object = self.object(resource)?;
            if !typed && let Some(fields) = object.as_object_mut() {
                fields.remove("kind");
                fields.remove("apiVersion");
            }
            out.extend_from_slice(&reply::typed_first(&object));
            return Ok(());
        }
        let api_version = resource.api_version();
        let head = if typed {
            Head::Typed {
                kind: &resource.kind,
                api_version: &api_version,
            }
        } else {
            Head::Bare
        };
        stored::write(out, head, &self.value, self.revision);
        Ok(())
    }
}

/// Answers with one object in the form that the client asked for.
pub(crate) fn respond(request: &Request, code: u16, saved: &Saved) -> Result<Response, Status> {
    let resource = &request.resource;
    match request.form {
        Form::Object => {
            let mut body = Vec::with_capacity(saved.value.len() + 128);
            saved.write(resource, true, &mut body)?;
            Ok(reply::json(code, body))
        }
        Form::Metadata { version, .. } => {
            let mut body = Vec::with_capacity(saved.value.len());
            saved.write_metadata(version, &mut body);
            Ok(reply::json(code, body))
        }
        Form::Table(version) => {
            let object = saved.object(resource)?;
            let metadata = json!({ "resourceVersion": saved.revision.to_string() });
            Ok(reply::value(
                code,
                &table::of_objects(request, version, &[object], &metadata)?,
            ))
        }
    }
}

/// An object reduced to its metadata.
pub(crate) fn partial_metadata(object: &Value, version: MetaVersion) -> Value {
    json!({
        "kind": "PartialObjectMetadata",
        "apiVersion": version.api_version(),
        "metadata": object["metadata"],
    })
}
