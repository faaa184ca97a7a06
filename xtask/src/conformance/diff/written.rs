//! Answers as values that can be compared.

use http::HeaderMap;
use serde_json::{Map, Value, json};

/// Headers that are part of the contract.
const HEADERS: &[&str] = &[
    "allow",
    "cache-control",
    "content-type",
    "retry-after",
    "vary",
    "warning",
];

/// An answer as a value: status, the headers that matter, and the body (text where it is not JSON).
pub(super) fn written(status: u16, headers: &HeaderMap, body: &[u8]) -> Value {
    let mut kept = Map::new();
    for name in HEADERS {
        let values: Vec<_> = headers
            .get_all(*name)
            .iter()
            .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
            .collect();
        match values.as_slice() {
            [] => {}
            [one] => {
                kept.insert((*name).to_owned(), json!(one));
            }
            several => {
                kept.insert((*name).to_owned(), json!(several));
            }
        }
    }
    if headers.contains_key("etag") {
        kept.insert("etag".to_owned(), json!("<present>"));
    }
    let body = serde_json::from_slice(body)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(body).into_owned()));
    json!({"status": status, "headers": kept, "body": body})
}
