//! Custom resource definitions and objects of them.

use quadrille_machinery::{crd, decode, structural};
use serde_json::{Value, json};

pub(super) const SEEDS: &[&str] = &[
    r#"{"type":"object","properties":{"spec":{"type":"object","required":["a"],"properties":{"a":{"type":"integer","minimum":1,"default":3},"b":{"type":"string","pattern":"^a+$","maxLength":5,"enum":["a","b"]}}}}}"#,
    r#"{"type":"object","properties":{"list":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":{"type":"object","required":["k"],"properties":{"k":{"type":"string"}}}},"map":{"type":"object","additionalProperties":{"type":"number"}}}}"#,
    r#"{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"e":{"type":"object","x-kubernetes-embedded-resource":true},"i":{"x-kubernetes-int-or-string":true,"anyOf":[{"type":"integer"},{"type":"string"}]}}}"#,
    r#"{"type":"object","x-kubernetes-validations":[{"rule":"self.a.size() > 1","message":"m","reason":"FieldValueInvalid","fieldPath":".a"}],"properties":{"a":{"type":"array","maxItems":10,"items":{"type":"string","maxLength":10,"x-kubernetes-validations":[{"rule":"self != oldSelf","optionalOldSelf":false,"messageExpression":"'x' + self"}]}}}}"#,
    r#"{"type":"object","properties":{"n":{"type":"string","nullable":true,"format":"date-time"},"not":{"type":"integer","not":{"minimum":5},"oneOf":[{"multipleOf":2},{"maximum":3}]}}}"#,
];
pub(super) const WORDS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"type\":\"object\"",
    "\"type\":\"array\"",
    "\"properties\":{\"a\":",
    "\"items\":",
    "\"additionalProperties\":",
    "\"default\":",
    "\"pattern\":\"(a+)+$\"",
    "\"allOf\":[",
    "\"not\":",
    "\"x-kubernetes-validations\":[{\"rule\":\"self.all(x, x)\"}]",
    "\"$ref\":\"#\"",
    "{\"type\":\"object\",\"properties\":{\"a\":",
    "{\"type\":\"array\",\"items\":",
    "true",
    "null",
    "1",
    "\"enum\":[1]",
    "\"format\":\"ipv6\"",
    "\"required\":[\"a\"]",
    "\"maxLength\":99999999999",
];

pub(super) fn run(input: &[u8]) {
    let Ok(decoded) = decode::json(input) else {
        return;
    };
    let schema = decoded.value;
    let mut definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced",
            "names": {"plural": "things", "kind": "Thing", "singular": "thing", "listKind": "ThingList"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}]},
    });
    crd::default(&mut definition);
    let errors = crd::validate(&definition);
    let built = structural::schema(Some(&schema));
    for mut object in objects() {
        let _admitted = structural::admit(built.root(), &mut object);
        structural::default(built.root(), &mut object);
        // Only what is accepted is ever used to judge.
        if errors.is_empty() {
            let _errors = structural::validate(built.root(), &object, None);
            let rules = structural::Rules::new(built.clone());
            if rules.exist() {
                let _judgement = rules.judge(&object, None);
            }
        }
    }
}

fn objects() -> [Value; 2] {
    [
        json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "x"},
            "spec": {"a": 1, "b": "a", "c": [1, {"d": null}]}, "a": ["x", "y"], "n": null, "not": 4}),
        json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "x"},
            "list": [{"k": "a"}, {"k": "a"}], "map": {"m": 1.5}, "e": {"kind": "x"}, "i": "5"}),
    ]
}
