//! Who owns which field.

use quadrille_machinery::{
    decode,
    fieldset::Set,
    managed::{self, OneSchema, Resets, Write},
};
use serde_json::{Value, json};

use super::LISTS;

pub(super) const SEEDS: &[&str] = &[
    r#"{"f:metadata":{"f:labels":{".":{},"f:a":{}}},"f:spec":{"f:items":{"k:{\"name\":\"a\"}":{".":{},"f:value":{}}},"f:set":{"v:\"x\"":{}}}}"#,
    r#"{"f:spec":{"f:list":{"i:0":{},"i:5":{}},"f:map":{".":{}},".":{}}}"#,
    r#"[{"manager":"a","operation":"Apply","apiVersion":"example.com/v1","time":"2024-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:map":{"f:k":{}}}}}]"#,
    r#"[{"manager":"a","operation":"Update","apiVersion":"example.com/v2","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}},"subresource":"status"},{"manager":"a"}]"#,
];
pub(super) const WORDS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"f:spec\"",
    "\"f:a\"",
    "\".\"",
    "\"k:{\\\"name\\\":\\\"a\\\"}\"",
    "\"v:\\\"x\\\"\"",
    "\"v:1\"",
    "\"i:0\"",
    "\"k:{}\"",
    "\"k:\"",
    "{}",
    "{\"f:a\":",
    "\"fieldsV1\":",
    "\"manager\":",
    "\"Apply\"",
    "null",
    "1",
];

pub(super) fn run(input: &[u8]) {
    let Ok(decoded) = decode::json(input) else {
        return;
    };
    let value = decoded.value;
    if let Ok(set) = Set::from_value(&value) {
        let written = set.to_json();
        let again = Set::from_json(&written).expect("what is written can be read");
        assert_eq!(again.to_json(), written, "writing it again changes nothing");
        assert!(
            set.difference(&set).is_empty(),
            "nothing is left of a set without itself"
        );
    }
    let entries = match value {
        Value::Array(entries) => json!(entries),
        fields => json!([{"manager": "a", "operation": "Apply", "apiVersion": "example.com/v1",
            "fieldsType": "FieldsV1", "fieldsV1": fields}]),
    };
    let live = json!({"apiVersion": "example.com/v1", "kind": "Thing",
        "metadata": {"name": "x", "managedFields": entries},
        "spec": {"items": [{"name": "a", "value": 1}], "set": ["x"], "map": {"k": "v"}}});
    let config = json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "x"},
        "spec": {"items": [{"name": "b", "value": 2}], "set": ["y"]}});
    let blank = managed::blank_custom("example.com/v1", "Thing");
    let write = Write {
        manager: "b",
        api_version: "example.com/v1",
        kind: "Thing",
        subresource: "",
        now: "2024-01-01T00:00:01Z",
        versions: &OneSchema {
            api_version: "example.com/v1",
            schema: LISTS.root(),
        },
        reset: &Resets::none(),
        blank: &blank,
    };
    let _applied = managed::apply(Some(&live), &config, &write, true);
    let _updated = managed::try_update(Some(&live), config.clone(), &write);
}
