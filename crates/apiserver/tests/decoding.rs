//! Decoding of built-in kinds, compared with what a real server said to the same bodies.

#![allow(clippy::unwrap_used, clippy::panic)] // a test may; its helpers too

use quadrille_apiserver::kinds;
use quadrille_machinery::decode::Document;
use serde_json::Value;

#[test]
fn wrong_types_are_refused_with_the_words_of_a_real_server() {
    let cases: Vec<Value> = serde_json::from_str(include_str!(
        "../../machinery/tests/cases/typed_errors.json"
    ))
    .expect("a list of cases");
    for case in cases {
        let kind = case["kind"].as_str().expect("a kind");
        let group = if kind == "Deployment" { "apps" } else { "" };
        let schema = kinds::load()
            .schema(group, "v1", kind)
            .expect("a built-in kind");
        let body = case["fields"].as_str().expect("a body");
        let document = Document::json(body.as_bytes()).expect("well-formed");
        let error = document.typed(schema.root()).err().map(|error| error.0);
        assert_eq!(error.as_deref(), case["error"].as_str(), "{kind} {body}");
    }
}
