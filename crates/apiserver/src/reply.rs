//! Answers: JSON bodies, Status objects, warnings.

use axum::{body::Body, response::Response};
use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use http_body_util::BodyExt as _;
use quadrille_machinery::status::Status;
use serde_json::Value;

use crate::stored;

/// A JSON answer.
pub(crate) fn json(code: u16, body: impl Into<Bytes>) -> Response {
    let mut response = Response::new(Body::from(body.into()));
    *response.status_mut() =
        StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    headers.insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static("no-cache, private"),
    );
    response
}

/// A JSON answer from a value; `kind` and `apiVersion` come first, as typed encoders put them.
pub(crate) fn value(code: u16, value: &Value) -> Response {
    json(code, typed_first(value))
}

/// A refusal.
pub(crate) fn status(status: &Status) -> Response {
    let mut response = value(status.code, &status.to_value());
    if let Some(seconds) = status
        .details
        .get("retryAfterSeconds")
        .and_then(Value::as_u64)
        && let Ok(text) = HeaderValue::from_str(&seconds.to_string())
    {
        response.headers_mut().insert(header::RETRY_AFTER, text);
    }
    response
}

/// The same answer in YAML. A body that is no JSON stays as it is.
pub(crate) async fn in_yaml(response: Response) -> Response {
    let (mut head, body) = response.into_parts();
    let Ok(body) = body.collect().await else {
        return status(&Status::internal("a list broke off"));
    };
    let json = body.to_bytes();
    let Some(yaml) = serde_json::from_slice(&json)
        .ok()
        .and_then(|value| yaml(&value))
    else {
        return Response::from_parts(head, Body::from(json));
    };
    let media = HeaderValue::from_static("application/yaml");
    head.headers.insert(header::CONTENT_TYPE, media);
    head.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(head, Body::from(yaml))
}

fn yaml(value: &Value) -> Option<String> {
    let options =
        serde_saphyr::ser_options! { compact_list_indent: true, prefer_block_scalars: false };
    serde_saphyr::to_string_with_options(value, options).ok()
}

/// Plain text, as health endpoints speak.
pub(crate) fn text(code: u16, text: impl Into<Bytes>) -> Response {
    let mut response = json(code, text);
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/plain; charset=utf-8"),
    );
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    response
}

/// How many characters all warnings may have together before each is cut.
const ALL_WARNINGS: usize = 4 * 1024;
/// To how many each is cut then.
const CUT_WARNING: usize = 256;

/// Adds `Warning` headers, each once. When they get too long for a header, all are cut, and later ones left out.
pub(crate) fn warn(response: &mut Response, warnings: &[String]) {
    let mut unique: Vec<&str> = Vec::new();
    for warning in warnings {
        if !warning.is_empty() && !unique.contains(&warning.as_str()) {
            unique.push(warning);
        }
    }
    let length = |text: &str| text.chars().count();
    let cutting = unique.iter().map(|text| length(text)).sum::<usize>() > ALL_WARNINGS;
    let mut written = 0;
    for warning in unique {
        if cutting && written >= ALL_WARNINGS {
            return;
        }
        let most = if cutting { CUT_WARNING } else { usize::MAX };
        let warning: String = warning.chars().take(most).collect();
        written += length(&warning);
        let quoted = warning.replace('\\', "\\\\").replace('"', "\\\"");
        if let Ok(text) = HeaderValue::from_str(&format!("299 - \"{quoted}\"")) {
            response.headers_mut().append(header::WARNING, text);
        }
    }
}

/// JSON of an object with `kind` and `apiVersion` in front.
pub(crate) fn typed_first(value: &Value) -> Vec<u8> {
    let mut out = Vec::with_capacity(512);
    let write = |out: &mut Vec<u8>, value: &Value| {
        stored::write_json(out, value).expect("a value can be written to memory");
    };
    let Some(fields) = value.as_object() else {
        write(&mut out, value);
        return out;
    };
    out.push(b'{');
    let first = ["kind", "apiVersion", "metadata"];
    let lead = first.iter().filter_map(|name| fields.get_key_value(*name));
    let rest = fields
        .iter()
        .filter(|(name, _)| !first.contains(&name.as_str()));
    for (at, (name, field)) in lead.chain(rest).enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write(&mut out, &Value::from(name.as_str()));
        out.push(b':');
        write(&mut out, field);
    }
    out.push(b'}');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kind_comes_first() {
        let object = serde_json::json!({"apiVersion": "v1", "data": {}, "kind": "ConfigMap", "metadata": {}});
        assert_eq!(
            String::from_utf8(typed_first(&object)).unwrap(),
            r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{},"data":{}}"#
        );
    }

    #[test]
    fn warnings_are_quoted_and_said_once() {
        let mut response = json(200, "{}");
        let warnings = [
            r#"unknown field "spec.x""#.to_owned(),
            r#"unknown field "spec.x""#.to_owned(),
        ];
        warn(&mut response, &warnings);
        let all: Vec<_> = response.headers().get_all(header::WARNING).iter().collect();
        assert_eq!(all, [r#"299 - "unknown field \"spec.x\"""#]);
    }
}
