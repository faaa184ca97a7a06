//! The versions of a kind: managers own fields of the version that they wrote in.

use serde_json::Value;

use crate::schema::SchemaRef;

/// Why an object could not be had in another version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConvertError {
    /// There is no such version any more: who owned fields in it owns nothing.
    #[error("no such version: {0}")]
    UnknownVersion(String),
    /// The conversion failed.
    #[error("{0}")]
    Failed(String),
}

/// The versions of a kind, as ownership tracking needs them.
pub trait Versions {
    /// The schema of the whole object in a version such as `apps/v1`.
    fn schema(&self, api_version: &str) -> Option<SchemaRef<'_>>;

    /// The object in another version, its `apiVersion` included.
    fn convert(&self, object: &Value, api_version: &str) -> Result<Value, ConvertError>;
}

/// A kind with one version.
#[derive(Clone, Copy, Debug)]
pub struct OneSchema<'a> {
    /// The version.
    pub api_version: &'a str,
    /// The schema of the whole object.
    pub schema: SchemaRef<'a>,
}

impl Versions for OneSchema<'_> {
    fn schema(&self, api_version: &str) -> Option<SchemaRef<'_>> {
        (api_version == self.api_version).then_some(self.schema)
    }

    fn convert(&self, _: &Value, api_version: &str) -> Result<Value, ConvertError> {
        Err(ConvertError::UnknownVersion(api_version.to_owned()))
    }
}

/// A kind whose versions differ in their schemas only: a custom resource with conversion `None`.
#[derive(Clone, Debug)]
pub struct SameShape<'a> {
    /// Every version with its schema.
    pub versions: Vec<(&'a str, SchemaRef<'a>)>,
}

impl Versions for SameShape<'_> {
    fn schema(&self, api_version: &str) -> Option<SchemaRef<'_>> {
        let version = self
            .versions
            .iter()
            .find(|version| version.0 == api_version);
        version.map(|version| version.1)
    }

    fn convert(&self, object: &Value, api_version: &str) -> Result<Value, ConvertError> {
        if self.schema(api_version).is_none() {
            // A version that a definition has lost is a failure, not a version to forget.
            return Err(ConvertError::Failed(format!(
                "request to convert CR to an invalid group/version: {api_version}"
            )));
        }
        let mut object = object.clone();
        if let Value::Object(fields) = &mut object {
            fields.insert("apiVersion".to_owned(), Value::from(api_version));
        }
        Ok(object)
    }
}
