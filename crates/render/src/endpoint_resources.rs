//! What endpoints offer, read from their schemas: routes of an `OpenAPI` document, methods of a `.proto` file. A schema
//! that cannot be read offers nothing.

use std::collections::{BTreeMap, BTreeSet};

use quadrille_machinery::decode;
use quadrille_types::workload::EndpointPort;
use serde_json::{Map, Value, json};

const METHODS: [&str; 8] = [
    "get", "put", "post", "delete", "options", "head", "patch", "trace",
];

/// What each endpoint with a schema offers.
pub(crate) fn of(endpoints: &BTreeMap<String, EndpointPort>) -> Map<String, Value> {
    let offered = endpoints.iter().filter_map(|(name, endpoint)| {
        let (language, content) = endpoint.schema.as_ref()?;
        Some((name.clone(), Value::Array(read(language, content))))
    });
    offered.collect()
}

fn read(language: &str, content: &str) -> Vec<Value> {
    match language.to_ascii_lowercase().as_str() {
        "proto" | "protobuf" | "grpc" => methods(content),
        _ => routes(content),
    }
}

/// Paths with their methods, by path, then method.
fn routes(content: &str) -> Vec<Value> {
    let Ok(document) = decode::yaml(content.as_bytes()) else {
        return Vec::new();
    };
    let paths = document.value.get("paths").and_then(Value::as_object);
    let mut found = BTreeSet::new();
    for (path, offered) in paths.into_iter().flatten() {
        for method in METHODS {
            if offered.get(method).is_some() {
                found.insert((path.clone(), method.to_ascii_uppercase()));
            }
        }
    }
    let route = |(path, method)| json!({ "kind": "HTTP", "method": method, "path": path });
    found.into_iter().map(route).collect()
}

/// Services with their methods, by service, then method.
fn methods(content: &str) -> Vec<Value> {
    let mut words = words(content).into_iter().peekable();
    let mut package = String::new();
    let mut service: Option<(String, usize)> = None;
    let mut depth = 0_usize;
    let mut found = BTreeSet::new();
    while let Some(word) = words.next() {
        match (word.as_str(), &service) {
            ("{", _) => depth += 1,
            ("}", _) => {
                depth = depth.saturating_sub(1);
                if service
                    .as_ref()
                    .is_some_and(|(_, started)| depth <= *started)
                {
                    service = None;
                }
            }
            ("package", None) if depth == 0 => package = words.next().unwrap_or_default(),
            ("service", None) => {
                if let Some(name) = words.next() {
                    let full = if package.is_empty() {
                        name
                    } else {
                        format!("{package}.{name}")
                    };
                    service = Some((full, depth));
                }
            }
            ("rpc", Some((service, _))) => {
                if let Some(name) = words.next() {
                    found.insert((service.clone(), name));
                }
            }
            _ => {}
        }
    }
    let method =
        |(service, method)| json!({ "kind": "gRPC", "service": service, "method": method });
    found.into_iter().map(method).collect()
}

/// The words and braces of a `.proto` file, without comments and text in quotes.
fn words(content: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut letters = content.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter.is_alphanumeric() || letter == '_' || letter == '.' {
            word.push(letter);
            continue;
        }
        if !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        match (letter, letters.peek()) {
            ('/', Some('/')) => while letters.next().is_some_and(|letter| letter != '\n') {},
            ('/', Some('*')) => {
                let mut before = ' ';
                for letter in letters.by_ref().skip(1) {
                    if before == '*' && letter == '/' {
                        break;
                    }
                    before = letter;
                }
            }
            ('"' | '\'', _) => {
                let mut escaped = false;
                for next in letters.by_ref() {
                    if next == letter && !escaped {
                        break;
                    }
                    escaped = next == '\\' && !escaped;
                }
            }
            ('{' | '}', _) => words.push(letter.to_string()),
            _ => {}
        }
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_of_an_openapi_document_come_sorted() {
        let document =
            "openapi: 3.0.0\npaths:\n  /b: {post: {}, get: {}, summary: x}\n  /a: {delete: {}}\n";
        let route =
            |method: &str, path: &str| json!({ "kind": "HTTP", "method": method, "path": path });
        assert_eq!(
            read("openapi", document),
            [
                route("DELETE", "/a"),
                route("GET", "/b"),
                route("POST", "/b")
            ]
        );
        assert_eq!(read("openapi", "{{{"), Vec::<Value>::new());
        assert_eq!(read("openapi", "paths: 3"), Vec::<Value>::new());
    }

    #[test]
    fn methods_of_a_proto_file_come_with_their_full_service() {
        let proto = r#"
            syntax = "proto3"; // service Wrong { rpc No(A) returns (B); }
            package cellar.v1;
            /* service Also { rpc Wrong(A) returns (B); } */
            message A { string rpc = 1; }
            service Taste {
              rpc Sip(A) returns (stream A) { option (x) = "} rpc Not(A)"; }
              rpc Bite(A) returns (A);
            }
            service Other { rpc One(A) returns (A) {} }
        "#;
        let method = |service: &str, method: &str| json!({ "kind": "gRPC", "service": service, "method": method });
        assert_eq!(
            read("proto", proto),
            [
                method("cellar.v1.Other", "One"),
                method("cellar.v1.Taste", "Bite"),
                method("cellar.v1.Taste", "Sip"),
            ]
        );
    }
}
