//! Bodies read and refused as a real server does.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::schema::{Additional, Constraints, ListType, Node, Schemas, Type};

#[test]
fn malformed_bodies_are_refused_with_the_words_of_a_real_server() {
    let cases: Vec<Value> =
        serde_json::from_str(include_str!("../../tests/cases/malformed_bodies.json")).unwrap();
    for case in cases {
        let body: Vec<u8> = match &case["body"] {
            Value::String(text) => text.clone().into_bytes(),
            bytes => serde_json::from_value(bytes.clone()).unwrap(),
        };
        let error = Document::json(&body)
            .and_then(|document| envelope(&document))
            .expect_err("malformed");
        assert_eq!(unrecognized("ConfigMap", &error, &body), case["message"]);
    }
}

#[test]
fn numbers_are_integers_where_they_can_be() {
    let body = b"[1, -0, 1.0, 1.5, 1e3, 9223372036854775807, 9223372036854775808, 1e400]";
    let error = json(body).unwrap_err();
    assert_eq!(
        error.0,
        "json: cannot unmarshal number 1e400 into Go value of type float64"
    );
    let decoded = json(&body[..body.len() - 8]).err();
    assert!(decoded.is_some(), "cut inside the list");
    let decoded =
        json(b"[1, -0, 1.0, 1.5, 1e3, 9223372036854775807, 9223372036854775808]").unwrap();
    assert_eq!(
        decoded.value,
        json!([
            1,
            0,
            1,
            1.5,
            1000,
            9_223_372_036_854_775_807_i64,
            9_223_372_036_854_775_808.0
        ])
    );
}

#[test]
fn duplicates_are_reported_once_each_and_the_last_one_counts() {
    let decoded = json(br#"{"a":1,"b":{"c":1,"c":2},"a":2,"a":3,"l":[{"x":1,"x":2}]}"#).unwrap();
    assert_eq!(
        decoded.value,
        json!({"a": 3, "b": {"c": 2}, "l": [{"x": 2}]})
    );
    assert_eq!(
        strict_message(&decoded.duplicates),
        "strict decoding error: duplicate field \"b.c\", duplicate field \"a\", duplicate field \"l[0].x\""
    );
}

#[test]
fn odd_strings_are_read_as_go_reads_them() {
    let decoded =
        json(b"[\"\\ud83d\\ude00\", \"\\ud83d\", \"\\ud83dx\", \"a\xffb\", \"\\/\"]").unwrap();
    assert_eq!(
        decoded.value,
        json!(["😀", "\u{fffd}", "\u{fffd}x", "a\u{fffd}b", "/"])
    );
}

#[test]
fn deep_nesting_is_refused_without_using_the_stack() {
    let body = "[".repeat(1_000_000);
    assert_eq!(
        json(body.as_bytes()).unwrap_err().0,
        "invalid character '[' exceeded max depth"
    );
    let body = format!("{}{}", "[".repeat(MAX_DEPTH), "]".repeat(MAX_DEPTH));
    let decoded = json(body.as_bytes()).unwrap();
    let text = serde_json::to_vec(&decoded.value).unwrap();
    assert!(serde_json::from_slice::<Value>(&text).is_ok());
}

#[test]
fn yaml_has_the_meaning_of_version_1_1() {
    let text = "
a: yes
b: 0777
c: 0x1F
d: 1_000
e: ~
f: 2020-01-01
g: '5'
h: 1e3
5: five
on: true
m: {<<: {x: 1}, z: 2}
n: 08
o: !!str 5
p: 0b11
";
    let decoded = yaml(text.as_bytes()).unwrap();
    assert_eq!(
        decoded.value,
        json!({
            "a": true, "b": 511, "c": 31, "d": 1000, "e": null, "f": "2020-01-01", "g": "5",
            "h": 1000, "5": "five", "true": true, "m": {"x": 1, "z": 2}, "false": 8, "o": "5", "p": 3,
        })
    );
}

/// Equal, but for the way in which large numbers are kept.
fn alike(ours: &Value, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| alike(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.keys().eq(b.keys()) && a.values().zip(b.values()).all(|(a, b)| alike(a, b))
        }
        _ => ours == theirs,
    }
}

#[test]
fn yaml_is_read_as_by_a_real_server() {
    let cases: Vec<Value> =
        serde_json::from_str(include_str!("../../tests/cases/yaml_values.json")).unwrap();
    for case in cases {
        let decoded = yaml(case["yaml"].as_str().unwrap().as_bytes()).unwrap();
        let spec = &decoded.value["spec"];
        assert!(alike(spec, &case["spec"]), "{spec} {case}");
        assert_eq!(json!(warnings(&decoded.duplicates)), case["warnings"]);
    }
}

#[test]
fn malformed_yaml_is_refused_with_the_words_of_a_real_server() {
    let cases: Vec<Value> =
        serde_json::from_str(include_str!("../../tests/cases/malformed_yaml.json")).unwrap();
    for case in cases {
        let error = yaml(case["yaml"].as_str().unwrap().as_bytes()).unwrap_err();
        assert_eq!(error.0, case["error"], "{case}");
    }
}

#[test]
fn yaml_reports_keys_given_twice_by_line() {
    let decoded = yaml(b"a: 1\nb:\n  c: 1\n  c: 2\n---\nsecond: 1\n").unwrap();
    assert_eq!(decoded.value, json!({"a": 1, "b": {"c": 2}}));
    assert_eq!(
        warnings(&decoded.duplicates),
        ["line 4: key \"c\" already set in map"]
    );
    assert!(yaml(b"a: b: c").unwrap_err().0.starts_with("yaml: "));
    assert_eq!(yaml(b"").unwrap().value, Value::Null);
}

#[test]
fn yaml_aliases_cannot_explode() {
    let mut text = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
    for level in 1..10 {
        let one = level - 1;
        let list = vec![format!("*a{one}"); 10].join(",");
        text = format!("{text}a{level}: &a{level} [{list}]\n");
    }
    assert!(
        yaml(text.as_bytes())
            .unwrap_err()
            .0
            .contains("excessive aliasing")
    );
}

/// `{name: string, count: int32, when: time, tags: map of string, list: [{port: int}], any: anything}`
fn sample() -> (Schemas, crate::schema::NodeId) {
    let mut schemas = Schemas::default();
    let mut leaf = |ty, format: Option<&str>| {
        schemas.push(Node {
            ty: Some(ty),
            constraints: format.map(|format| {
                Box::new(Constraints {
                    format: Some(format.into()),
                    ..Constraints::default()
                })
            }),
            ..Node::default()
        })
    };
    let name = leaf(Type::String, None);
    let count = leaf(Type::Integer, Some("int32"));
    let when = leaf(Type::String, Some("date-time"));
    let tags = schemas.push(Node {
        ty: Some(Type::Object),
        additional: Additional::Of(name),
        ..Node::default()
    });
    let port = schemas.push(Node {
        ty: Some(Type::Object),
        type_name: Some("Port".into()),
        properties: vec![("port".into(), count)],
        ..Node::default()
    });
    let list = schemas.push(Node {
        ty: Some(Type::Array),
        items: Some(port),
        list_type: ListType::Atomic,
        ..Node::default()
    });
    let any = schemas.push(Node {
        preserve_unknown: true,
        ..Node::default()
    });
    let root = schemas.push(Node {
        ty: Some(Type::Object),
        type_name: Some("Sample".into()),
        properties: vec![
            ("any".into(), any),
            ("count".into(), count),
            ("list".into(), list),
            ("name".into(), name),
            ("tags".into(), tags),
            ("when".into(), when),
        ],
        ..Node::default()
    });
    (schemas, root)
}

#[test]
fn typed_values_lose_nulls_and_unknown_fields_and_gain_canonical_scalars() {
    let (schemas, root) = sample();
    let body = br#"{"zeta":1,"name":"a","name":"b","count":null,"tags":{"x":null},"list":[{"port":1,"q":2}],"when":"2020-01-01T02:00:00.5+02:00","any":{"k":1,"k":2},"foo":{"x":1}}"#;
    let typed = Document::json(body)
        .unwrap()
        .typed(schemas.at(root))
        .unwrap();
    assert_eq!(
        typed.value,
        json!({"name": "b", "tags": {"x": ""}, "list": [{"port": 1}], "when": "2020-01-01T00:00:00Z", "any": {"k": 2}})
    );
    assert_eq!(
        warnings(&typed.strict),
        [
            "unknown field \"zeta\"",
            "duplicate field \"name\"",
            "unknown field \"list[0].q\"",
            "unknown field \"foo\"",
        ]
    );
}

#[test]
fn the_first_type_error_is_reported_unless_a_reader_of_its_own_fails() {
    let (schemas, root) = sample();
    let fail = |mut value: Value| conform(schemas.at(root), &mut value).unwrap_err().0;
    assert_eq!(
        fail(json!({"count": "1", "name": 2})),
        "json: cannot unmarshal string into Go struct field Sample.count of type int32"
    );
    assert_eq!(
        fail(json!({"list": [{"port": 1.5}]})),
        "json: cannot unmarshal number 1.5 into Go struct field Port.list.port of type int32"
    );
    assert_eq!(
        fail(json!({"count": "1", "when": "z"})),
        "parsing time \"z\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"z\" as \"2006\""
    );
    assert_eq!(
        fail(json!([])),
        "json: cannot unmarshal array into Go value of type v1.Sample"
    );
}

proptest! {
    #[test]
    fn no_bytes_make_the_readers_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        let _ = json(&bytes);
        let _ = yaml(&bytes);
    }

    #[test]
    fn no_punctuation_makes_the_readers_panic(text in "[\\[\\]{}:,\"'\\\\eE0-9.+ \n&*!|>-]{0,48}") {
        let _ = json(text.as_bytes());
        let _ = yaml(text.as_bytes());
        let (schemas, root) = sample();
        if let Ok(document) = Document::json(text.as_bytes()) {
            let _ = document.typed(schemas.at(root));
        }
    }

    #[test]
    fn what_the_json_reader_accepts_serde_reads_alike(text in "[\\[\\]{}:,\"a0-9.e ]{0,24}") {
        let ours = json(text.as_bytes());
        let theirs = serde_json::from_str::<Value>(&text);
        prop_assert_eq!(ours.is_ok(), theirs.is_ok() || text.contains('e') && ours.is_ok());
    }
}
