//! Protobuf in: Go clients send built-in kinds in this form unless told otherwise.
//!
//! A body is turned into the JSON that the same client would have sent, before anybody else looks at it; so
//! there is one way to read objects, and protobuf is only a spelling. Answers are JSON, which every client
//! that sends protobuf also accepts.
//!
//! ```text
//!   "k8s\0" + envelope { apiVersion, kind, bytes } ─► table (field numbers) ─► JSON
//! ```

mod decode;
mod table;
mod wire;
mod writer;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, header};
use quadrille_machinery::status::Status;
use serde_json::{Value, json};

pub(crate) use self::table::{Count, Field, Form, Message, Table, Type};
use self::{
    decode::{DecodeError, Decoder},
    wire::{Raw, Reader},
};

pub(crate) use self::writer::Writer;

const MEDIA_TYPE: &str = "application/vnd.kubernetes.protobuf";
/// What every body starts with.
const MAGIC: &[u8] = b"k8s\0";

/// A body as JSON, if it is a built-in kind in protobuf; the headers then say so. Others stay as they are.
pub(crate) fn rewritten(headers: &mut HeaderMap, body: Bytes) -> Result<Bytes, Status> {
    if !is_protobuf(headers) {
        return Ok(body);
    }
    match to_json(&body) {
        Ok(Some(object)) => {
            let json = HeaderValue::from_static("application/json");
            headers.insert(header::CONTENT_TYPE, json);
            Ok(object.to_string().into())
        }
        // A kind that is not ours to read: whoever reads it says so.
        Ok(None) => Ok(body),
        Err(error) => Err(Status::bad_request(format!(
            "the object provided is unrecognized: {error}"
        ))),
    }
}

fn is_protobuf(headers: &HeaderMap) -> bool {
    let value = headers.get(header::CONTENT_TYPE);
    value
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .is_some_and(|media| media.trim().eq_ignore_ascii_case(MEDIA_TYPE))
}

/// The object as JSON; `None` when its kind is not built in. An empty body is an empty body.
fn to_json(body: &[u8]) -> Result<Option<Value>, DecodeError> {
    if body.is_empty() {
        return Ok(None);
    }
    let body = body.strip_prefix(MAGIC).ok_or(DecodeError::Prefix)?;
    let (mut api_version, mut kind, mut raw) = (String::new(), String::new(), &[][..]);
    let mut envelope = Reader(body);
    while let Some((number, value)) = envelope.next()? {
        match (number, value) {
            (1, Raw::Bytes(type_meta)) => {
                let mut type_meta = Reader(type_meta);
                while let Some((number, value)) = type_meta.next()? {
                    match (number, value) {
                        (1, Raw::Bytes(bytes)) => api_version = decode::text(bytes)?,
                        (2, Raw::Bytes(bytes)) => kind = decode::text(bytes)?,
                        _ => {}
                    }
                }
            }
            (2, Raw::Bytes(bytes)) => raw = bytes,
            _ => {}
        }
    }
    let table = Table::load();
    let Some(message) = table.kind(&api_version, &kind) else {
        return Ok(None);
    };
    let mut object = Decoder::new(table).message(message, raw)?;
    object["apiVersion"] = json!(api_version);
    object["kind"] = json!(kind);
    Ok(Some(object))
}

#[cfg(test)]
mod tests;
