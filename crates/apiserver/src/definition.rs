//! A custom resource definition as the server keeps it: small, its schemas read when somebody needs them.
//!
//! Schemas are most of a definition, and most definitions of a cluster are never used. So they stay what they are in
//! the store, bytes, until a request comes for one of their objects.

use std::ops::Deref;

use bytes::Bytes;
use quadrille_machinery::status::Status;
use quadrille_store::{Record, Revision};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, value::RawValue};
use sha2::{Digest, Sha256};

/// A definition without its schemas; those are at hand.
#[derive(Clone, Debug)]
pub struct Definition {
    head: Value,
    raw: Bytes,
    digest: [u8; 32],
    revision: Revision,
}

/// What is read of a stored definition: everything but the schemas, which are passed over.
#[derive(Deserialize)]
struct Stored<'a> {
    metadata: Value,
    #[serde(borrow)]
    spec: &'a RawValue,
    #[serde(default)]
    status: Value,
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
        let stored: Stored<'_> = serde_json::from_slice(&raw)?;
        let digest = Sha256::digest(stored.spec.get()).into();
        let spec: Spec = serde_json::from_str(stored.spec.get())?;
        let mut head = Map::from_iter([
            ("metadata".to_owned(), stored.metadata),
            ("status".to_owned(), stored.status),
        ]);
        let mut fields = spec.rest;
        fields.insert("versions".to_owned(), serde_json::to_value(spec.versions)?);
        head.insert("spec".to_owned(), Value::Object(fields));
        Ok(Self {
            head: Value::Object(head),
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
