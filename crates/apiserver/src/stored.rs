//! How objects lie in the store, and how they leave it.
//!
//! A record holds the object's JSON without `apiVersion`, `kind` and `resourceVersion`, `metadata` first:
//! `{"metadata":{…},"spec":…}`. The revision that the store gives *is* the resource version, and the type is
//! known from the key; both are spliced in front when the object goes out. So a list or a watch of ten
//! thousand objects copies bytes and parses nothing.

use std::io;

use bytes::Bytes;
use quadrille_machinery::{go_text, status::Status};
use quadrille_store::{Record, Revision, Store};
use serde::Serialize;
use serde_json::{Map, Value, ser::Formatter, value::RawValue};

use crate::resource::Resource;

/// Where the spliced part ends in every record.
const METADATA: &[u8] = br#"{"metadata":{"#;

/// The store key of an object.
pub(crate) fn key(resource: &Resource, namespace: Option<&str>, name: &str) -> Bytes {
    Bytes::from(match namespace {
        Some(namespace) if resource.namespaced => {
            format!("{}/{namespace}/{name}", resource.storage)
        }
        _ => format!("{}/{name}", resource.storage),
    })
}

/// The prefix of all keys of a resource, or of its part in one namespace.
pub(crate) fn prefix(resource: &Resource, namespace: Option<&str>) -> Bytes {
    Bytes::from(match namespace {
        Some(namespace) if resource.namespaced => format!("{}/{namespace}/", resource.storage),
        _ => format!("{}/", resource.storage),
    })
}

/// How many records a [`scan`] reads at a time.
const CHUNK: usize = 500;

/// All records under a prefix, read piece by piece.
pub(crate) fn scan(
    store: &Store,
    prefix: impl Into<Bytes>,
) -> impl Iterator<Item = Result<Record, Status>> {
    let prefix = prefix.into();
    let mut after = None;
    let mut more = true;
    let next_page = move || {
        if !more {
            return None;
        }
        let page = match store.list(&prefix, after.as_deref(), CHUNK, None) {
            Ok(page) => page,
            Err(error) => {
                more = false;
                return Some(vec![Err(Status::internal(error))]);
            }
        };
        more = page.more && !page.records.is_empty();
        after = page.records.last().map(|record| record.key.clone());
        Some(page.records.into_iter().map(Ok).collect())
    };
    std::iter::from_fn(next_page).flatten()
}

/// An object as a record's value.
pub(crate) fn encode(object: &Value) -> Result<Bytes, Status> {
    let fields = object
        .as_object()
        .ok_or_else(|| Status::internal("object is no JSON object"))?;
    let mut out = Vec::with_capacity(1024);
    let empty = Map::new();
    let metadata = fields
        .get("metadata")
        .and_then(Value::as_object)
        .unwrap_or(&empty);
    begin(&mut out, metadata)?;
    let mut first = false;
    for (name, value) in fields {
        if !matches!(name.as_str(), "apiVersion" | "kind" | "metadata") {
            write_field(&mut out, &mut first, name, value)?;
        }
    }
    out.push(b'}');
    Ok(Bytes::from(out))
}

/// The same for an object whose spec is text, written as [`encode`] writes it.
pub(crate) fn encode_around(
    spec: &RawValue,
    metadata: &Map<String, Value>,
    status: &Value,
) -> Result<Bytes, Status> {
    let mut out = Vec::with_capacity(spec.get().len() + 1024);
    begin(&mut out, metadata)?;
    out.extend_from_slice(br#","spec":"#);
    out.extend_from_slice(spec.get().as_bytes());
    write_field(&mut out, &mut false, "status", status)?;
    out.push(b'}');
    Ok(Bytes::from(out))
}

/// A record up to the end of its metadata.
fn begin(out: &mut Vec<u8>, metadata: &Map<String, Value>) -> Result<(), Status> {
    out.extend_from_slice(METADATA);
    let mut first = true;
    for (name, value) in metadata {
        if name != "resourceVersion" {
            write_field(out, &mut first, name, value)?;
        }
    }
    out.push(b'}');
    Ok(())
}

fn write_field(
    out: &mut Vec<u8>,
    first: &mut bool,
    name: &str,
    value: &Value,
) -> Result<(), Status> {
    if !std::mem::take(first) {
        out.push(b',');
    }
    serde_json::to_writer(&mut *out, name).map_err(Status::internal)?;
    out.push(b':');
    write_json(out, value).map_err(Status::internal)
}

/// Writes JSON as real servers do.
pub(crate) fn write_json(out: &mut Vec<u8>, value: &Value) -> serde_json::Result<()> {
    let mut writer = serde_json::Serializer::with_formatter(out, GoFloats);
    value.serialize(&mut writer)
}

/// Floats as real servers write them: large ones in full, not as powers of ten.
struct GoFloats;

impl Formatter for GoFloats {
    fn write_f64<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        writer.write_all(go_text::float(value).as_bytes())
    }
}

/// A record as the object that it is, with type and resource version.
pub(crate) fn decode(
    resource: &Resource,
    value: &[u8],
    revision: Revision,
) -> Result<Value, Status> {
    let mut object: Value = serde_json::from_slice(value)
        .map_err(|error| Status::internal(format!("stored object is unreadable: {error}")))?;
    object["apiVersion"] = Value::String(resource.api_version());
    object["kind"] = Value::String(resource.kind.clone());
    if revision.0 > 0 {
        object["metadata"]["resourceVersion"] = Value::String(revision.to_string());
    }
    Ok(object)
}

/// Which of its type an object shows: a typed list's items show none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Head<'a> {
    /// `kind` and `apiVersion` first.
    Typed {
        /// The kind.
        kind: &'a str,
        /// The `apiVersion`.
        api_version: &'a str,
    },
    /// Neither.
    Bare,
}

/// Appends a record to `out` as the JSON that a client reads.
pub(crate) fn write(out: &mut Vec<u8>, head: Head<'_>, value: &[u8], revision: Revision) {
    match head {
        Head::Typed { kind, api_version } => {
            out.extend_from_slice(br#"{"kind":""#);
            out.extend_from_slice(kind.as_bytes());
            out.extend_from_slice(br#"","apiVersion":""#);
            out.extend_from_slice(api_version.as_bytes());
            out.extend_from_slice(br#"","metadata":{"#);
        }
        Head::Bare => out.extend_from_slice(METADATA),
    }
    let rest = value.get(METADATA.len()..).unwrap_or_default();
    // What a dry run did not write has no revision.
    if revision.0 > 0 {
        out.extend_from_slice(br#""resourceVersion":""#);
        out.extend_from_slice(revision.to_string().as_bytes());
        out.push(b'"');
        if rest.first() != Some(&b'}') {
            out.push(b',');
        }
    }
    out.extend_from_slice(rest);
}

/// Appends only the metadata of a record, as an object of its own.
pub(crate) fn write_metadata(
    out: &mut Vec<u8>,
    api_version: &str,
    value: &[u8],
    revision: Revision,
) {
    let head = Head::Typed {
        kind: "PartialObjectMetadata",
        api_version,
    };
    let rest = value.get(METADATA.len()..).unwrap_or_default();
    let end = METADATA.len() + object_end(rest);
    write(out, head, value.get(..end).unwrap_or_default(), revision);
    out.push(b'}');
}

/// The length of an object whose opening brace was read already, its closing one included.
fn object_end(rest: &[u8]) -> usize {
    let (mut depth, mut in_text, mut is_escaped) = (1, false, false);
    for (at, byte) in rest.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = in_text,
            b'"' => in_text = !in_text,
            _ if in_text => {}
            b'{' => depth += 1,
            b'}' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    rest.len()
}

/// The namespace and name in a record's key.
pub(crate) fn name_of<'a>(resource: &Resource, key: &'a [u8]) -> (Option<&'a str>, &'a str) {
    let text = std::str::from_utf8(key).unwrap_or_default();
    let rest = text.get(resource.storage.len() + 1..).unwrap_or_default();
    match rest.split_once('/') {
        Some((namespace, name)) if resource.namespaced => (Some(namespace), name),
        _ => (None, rest),
    }
}

/// A record's labels and whatever fields a selector asks for, read without building the object.
pub(crate) fn decode_record(resource: &Resource, record: &Record) -> Result<Value, Status> {
    decode(resource, &record.value, record.modified)
}
