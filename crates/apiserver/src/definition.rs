//! A custom resource definition as the server keeps it: small, its schemas read when somebody needs them.
//!
//! Schemas are most of a definition, and most definitions of a cluster are never used. So they stay what they are in
//! the store, bytes, until a request comes for one of their objects.

use std::ops::Deref;

use bytes::Bytes;
use quadrille_machinery::status::Status;
use quadrille_store::{Record, Revision};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json, value::RawValue};
use sha2::{Digest, Sha256};

/// A definition without its schemas; those are at hand.
#[derive(Clone, Debug)]
pub struct Definition {
    head: Value,
    raw: Bytes,
    digest: [u8; 32],
    revision: Revision,
}

/// A definition's text, taken apart only so far that its schemas can be passed over.
#[derive(Deserialize)]
pub(crate) struct Parts<'a> {
    pub(crate) metadata: Map<String, Value>,
    #[serde(borrow)]
    pub(crate) spec: &'a RawValue,
    #[serde(default)]
    pub(crate) status: Value,
}

impl Parts<'_> {
    pub(crate) fn name(&self) -> Option<&str> {
        self.metadata.get("name").and_then(Value::as_str)
    }

    /// Everything but the schemas.
    pub(crate) fn head(&self) -> serde_json::Result<Value> {
        let spec: Spec = serde_json::from_str(self.spec.get())?;
        let mut fields = spec.rest;
        fields.insert("versions".to_owned(), serde_json::to_value(spec.versions)?);
        Ok(json!({ "metadata": self.metadata, "spec": fields, "status": self.status }))
    }
}

#[derive(Deserialize)]
struct Spec {
    #[serde(default)]
    versions: Vec<Version>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// A version: each field but `schema`. A field that is missing here would be missing for everybody.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Version {
    #[serde(default)]
    name: Value,
    #[serde(default)]
    served: Value,
    #[serde(default)]
    storage: Value,
    #[serde(default)]
    deprecated: Value,
    #[serde(default)]
    deprecation_warning: Value,
    #[serde(default)]
    subresources: Value,
    #[serde(default)]
    additional_printer_columns: Value,
    #[serde(default)]
    selectable_fields: Value,
}

/// The schemas of a definition, and nothing else.
#[derive(Deserialize)]
struct Schemas {
    spec: SchemasOfVersions,
}

#[derive(Deserialize)]
struct SchemasOfVersions {
    #[serde(default)]
    versions: Vec<SchemaOfVersion>,
}

#[derive(Deserialize)]
struct SchemaOfVersion {
    schema: Option<OpenApi>,
}

#[derive(Deserialize)]
struct OpenApi {
    #[serde(rename = "openAPIV3Schema")]
    written: Option<Value>,
}

impl Definition {
    /// Reads a stored definition.
    pub(crate) fn read(record: &Record) -> Result<Self, Status> {
        Self::of(record.value.clone(), record.modified)
            .map_err(|error| Status::internal(format!("stored definition is unreadable: {error}")))
    }

    /// One that is in no store.
    #[cfg(test)]
    pub(crate) fn made_of(object: &Value) -> Self {
        let mut object = object.clone();
        for part in ["metadata", "spec"] {
            if object[part].is_null() {
                object[part] = serde_json::json!({});
            }
        }
        Self::of(object.to_string().into(), Revision(0)).unwrap()
    }

    fn of(raw: Bytes, revision: Revision) -> serde_json::Result<Self> {
        let parts: Parts<'_> = serde_json::from_slice(&raw)?;
        let (head, digest) = (parts.head()?, Sha256::digest(parts.spec.get()).into());
        Ok(Self {
            head,
            raw,
            digest,
            revision,
        })
    }

    /// The `openAPIV3Schema` of a version.
    pub(crate) fn open_api(&self, version_index: usize) -> Option<Value> {
        let schemas: Schemas = serde_json::from_slice(&self.raw).ok()?;
        let version = schemas.spec.versions.into_iter().nth(version_index)?;
        version.schema?.written.filter(Value::is_object)
    }

    /// Tells specifications apart.
    pub(crate) fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// When it was written.
    pub(crate) fn revision(&self) -> Revision {
        self.revision
    }
}

/// Everything but the schemas.
impl Deref for Definition {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.head
    }
}
