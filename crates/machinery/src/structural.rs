//! Schemas of custom resources: reading them, and defaulting, pruning and validating objects by them.
//!
//! ```text
//!   openAPIV3Schema ──► rules (is it structural?) ──► build ──► Schema
//!                                                               │
//!   object ──► coerce (metadata) ──► default ──► prune ──► validate ──► stored
//! ```
//!
//! Texts and paths of errors are those of a real server. Rules (`x-kubernetes-validations`) are [`Rules`].

mod build;
mod coerce;
mod correlate;
mod defaults;
mod expressions;
mod formats;
mod lists;
pub(crate) mod pattern;
mod prune;
mod rules;
mod scale;
mod validate;

use std::sync::Arc;

use serde_json::Value;

pub use build::object_meta;
pub use coerce::{coerce_embedded, coerce_metadata};
pub use defaults::{default, drop_nulls};
pub(crate) use expressions::{Compiled, compile, declare};
pub use expressions::{Judgement, Rules};
pub(crate) use formats::unrecognized as unrecognized_formats;
pub use prune::prune;
pub use rules::structural_errors;
pub use scale::validate_scale;
pub use validate::{blocks_rules, has_rules, validate, validate_default, validate_status};

use crate::{
    decode::{DecodeError, StrictError},
    schema::{Schema, SchemaRef, Schemas},
};

/// The schema of a custom resource from its `openAPIV3Schema`; without one, anything goes.
/// `apiVersion`, `kind` and `metadata` are typed as in every object.
pub fn schema(open_api_v3: Option<&Value>) -> Schema {
    let mut schemas = Schemas::default();
    let root = build::root(&mut schemas, open_api_v3);
    Schema::new(Arc::new(schemas), root)
}

/// The schema of a part of an object, or of any other value: nothing is added to it.
pub fn fragment(open_api_v3: &Value) -> Schema {
    let mut schemas = Schemas::default();
    let root = build::place(&mut schemas, open_api_v3);
    Schema::new(Arc::new(schemas), root)
}

/// Whether `pattern` of a schema can be used; if not, why.
pub fn check_pattern(expression: &str) -> Result<(), String> {
    pattern::compile(expression)
        .map(drop)
        .map_err(|error| error.to_string())
}

/// What happens to an object of a custom resource right after it is read: nulls without meaning and unknown
/// fields are dropped, defaults are filled in, metadata is typed. Gives the unknown fields in the order in which servers report
/// them (after duplicates, which the reader finds).
pub fn admit(schema: SchemaRef<'_>, object: &mut Value) -> Result<Vec<StrictError>, DecodeError> {
    drop_nulls(schema, object);
    default(schema, object);
    let mut unknown = coerce_metadata(schema, object)?;
    unknown.extend(
        prune(schema, object, true)
            .into_iter()
            .map(StrictError::Unknown),
    );
    unknown.extend(coerce_embedded(schema, object)?);
    Ok(unknown)
}

#[cfg(test)]
mod tests;
