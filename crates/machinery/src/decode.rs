//! Reading request bodies: JSON and YAML bytes to values, as strictly as Kubernetes reads them.
//!
//! ```text
//!   bytes ──► Document (order, duplicates and number texts kept)
//!                ├── untyped() ──► value + duplicate fields            (custom resources, patches)
//!                └── typed(schema) ──► value + unknown and duplicate fields   (built-in kinds)
//! ```
//!
//! Error texts are those of a real server, since clients show them to people and tests compare them.

mod document;
mod go_types;
mod scalars;
mod scan;
mod text;
mod typed;
mod yaml;

use serde_json::Value;

pub use document::Document;
pub use text::{Envelope, envelope, not_handled, strict_message, summary, unrecognized, warnings};

use crate::schema::SchemaRef;

/// Deepest nesting that is read; real servers stop at 10,000, with the same words. Everything that walks a value recurses, and stored objects are read back
/// by a reader that stops at 128; this bound leaves room for the lists and events that wrap an object.
pub const MAX_DEPTH: usize = 120;
/// Strict errors beyond this many are not reported.
const STRICT_ERRORS_MAX: usize = 100;

/// Bytes that are no object of the wanted shape; the text is the one that real servers give.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct DecodeError(pub String);

/// A value of the wrong type, in the words of Go's JSON reader.
pub type TypeError = DecodeError;

/// A field that strict decoding complains about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum StrictError {
    /// The schema knows no such field.
    Unknown(String),
    /// The field is given twice.
    Duplicate(String),
    /// Something about a JSON patch itself.
    JsonPatch(Box<StrictError>),
    /// Keys given twice in YAML, one line each.
    Yaml(Vec<String>),
}

/// What [`json`] and [`yaml`] give: a value whose type nobody has looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoded {
    /// The value; of a field that is given twice the last one counts.
    pub value: Value,
    /// Paths of fields given twice, such as `spec.foo`.
    pub duplicates: Vec<StrictError>,
}

/// What [`Document::typed`] gives: a value that fits the schema.
#[derive(Clone, Debug, PartialEq)]
pub struct Typed {
    /// The value without unknown fields and nulls.
    pub value: Value,
    /// What strict decoding complains about, in the order of the document.
    pub strict: Vec<StrictError>,
}

/// Reads JSON into an untyped value.
pub fn json(bytes: &[u8]) -> Result<Decoded, DecodeError> {
    Document::json(bytes)?.untyped()
}

/// Reads YAML (its first document) into an untyped value.
pub fn yaml(bytes: &[u8]) -> Result<Decoded, DecodeError> {
    Document::yaml(bytes)?.untyped()
}

/// Makes a value fit a built-in schema: drops nulls and unknown fields, brings times, quantities and bytes
/// into their canonical form. Gives the paths of unknown fields.
pub fn conform(schema: SchemaRef<'_>, value: &mut Value) -> Result<Vec<StrictError>, TypeError> {
    let typed = Document::of(value).typed(schema)?;
    *value = typed.value;
    Ok(typed.strict)
}

#[cfg(test)]
mod tests;
