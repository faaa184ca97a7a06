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

use axum::{body::Body, extract::Request, middleware::Next, response::Response};
use http::{HeaderValue, header};
use http_body_util::BodyExt;
use quadrille_machinery::status::Status;
use serde_json::{Value, json};

pub(crate) use self::table::{Count, Field, Form, Message, Table, Type};
use self::{
    decode::{DecodeError, Decoder},
    wire::{Raw, Reader},
};
use crate::reply;

pub(crate) use self::writer::Writer;

const MEDIA_TYPE: &str = "application/vnd.kubernetes.protobuf";
/// What every body starts with.
const MAGIC: &[u8] = b"k8s\0";

/// The layer: rewrites protobuf bodies of built-in kinds; others go on as they are.
pub(crate) async fn layer(request: Request, next: Next) -> Response {
    if !is_protobuf(&request) {
        return next.run(request).await;
    }
    let (mut parts, body) = request.into_parts();
    let Ok(body) = body.collect().await else {
        return reply::status(&Status::bad_request("the body ended early"));
    };
    let body = body.to_bytes();
    let body = match to_json(&body) {
        Ok(Some(object)) => {
            let json = HeaderValue::from_static("application/json");
            parts.headers.insert(header::CONTENT_TYPE, json);
            parts.headers.remove(header::CONTENT_LENGTH);
            Body::from(object.to_string())
        }
        // A kind that is not ours to read: the API behind says so.
        Ok(None) => Body::from(body),
        Err(error) => {
            let words = format!("the object provided is unrecognized: {error}");
            return reply::status(&Status::bad_request(words));
        }
    };
    next.run(Request::from_parts(parts, body)).await
}

fn is_protobuf(request: &Request) -> bool {
    let value = request.headers().get(header::CONTENT_TYPE);
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
