//! The largest requests that a server accepts, made to take for ever or to fill memory: each stays within its
//! budget. Deep nesting is refused by the decoder, so width is what remains.

use std::{fmt::Write as _, sync::mpsc, thread, time::Duration};

use peak_alloc::PeakAlloc;
use quadrille_machinery::{
    crd, decode,
    managed::{self, OneSchema, Resets, Write},
    patch,
    rbac::{self, Rule},
    schema::Schema,
    selector::LabelSelector,
    structural,
};
use serde_json::{Value, json};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// The largest body of a request.
const LARGEST: usize = 3 << 20;
/// What one request may take at most. Real servers take more for the same.
const BUDGET_MIB: f32 = 768.0;
/// Something that takes longer has no bound.
const DEADLINE: Duration = Duration::from_mins(1);
/// The stack that an async runtime gives its workers.
const STACK: usize = 2 << 20;

/// Repeats a piece of text, numbered, until the request is as large as it may be.
fn many(start: &str, end: &str, piece: impl Fn(usize) -> String) -> Vec<u8> {
    let mut text = start.to_owned();
    for number in 0.. {
        let piece = piece(number);
        if text.len() + piece.len() + end.len() + 1 > LARGEST {
            break;
        }
        if number > 0 {
            text.push(',');
        }
        text.push_str(&piece);
    }
    (text + end).into_bytes()
}

fn schema() -> Schema {
    structural::schema(Some(
        &json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
            "items": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                "items": {"type": "object", "properties": {"name": {"type": "string"}, "value": {"type": "integer"}}}},
            "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
            "text": {"type": "string", "pattern": "^(a+)+$"},
        }}}}),
    ))
}

fn definition(schema: &Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced",
            "names": {"plural": "things", "kind": "Thing", "singular": "thing", "listKind": "ThingList"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}]},
    })
}

fn apply(live: &Value, config: &Value) {
    let schema = schema();
    let blank = managed::blank_custom("example.com/v1", "Thing");
    let write = Write {
        manager: "b",
        api_version: "example.com/v1",
        kind: "Thing",
        subresource: "",
        now: "2024-01-01T00:00:01Z",
        versions: &OneSchema {
            api_version: "example.com/v1",
            schema: schema.root(),
        },
        reset: &Resets::none(),
        blank: &blank,
    };
    let _applied = managed::apply(Some(live), config, &write, true);
    let _updated = managed::try_update(Some(live), config.clone(), &write);
}

fn thing(spec: &Value) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "x"}, "spec": spec})
}

fn a_patch_that_doubles_the_object_again_and_again() {
    let steps = many("[", "]", |number| {
        format!(r#"{{"op":"copy","from":"","path":"/c{number}"}}"#)
    });
    let outcome = patch::json(&json!({"a": "b"}), &steps, true);
    assert!(outcome.is_err(), "nobody can hold that");
}

fn a_patch_that_copies_a_large_value() {
    let mut steps = vec![json!({"op": "add", "path": "/a", "value": "x".repeat(1 << 20)})];
    for number in 0..9_000 {
        steps.push(json!({"op": "copy", "from": "/a", "path": format!("/b{number}")}));
    }
    let steps = serde_json::to_vec(&steps).expect("JSON");
    assert!(patch::json(&json!({}), &steps, true).is_err());
}

fn aliases_of_aliases() {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for level in 1..30 {
        let before = level - 1;
        let _ = writeln!(
            text,
            "a{level}: &a{level} [{}]",
            vec![format!("*a{before}"); 9].join(", ")
        );
    }
    assert!(decode::yaml(text.as_bytes()).is_err());
}

fn aliases_of_a_long_text() {
    let start = format!("a: &a \"{}\"\nb: [", "x".repeat(LARGEST / 2));
    let text = many(&start, "]", |_| "*a".to_owned());
    assert!(decode::yaml(&text).is_err());
}

fn anchors_within_anchors() {
    let mut start = String::new();
    for level in 0..100 {
        let _ = write!(start, "[&a{level} ");
    }
    start.push('[');
    let text = many(&start, &"]".repeat(101), |_| "x".to_owned());
    assert!(decode::yaml(&text).is_err());
}

fn a_map_of_very_many_keys() {
    let map = many("{", "}", |number| format!("k{number}: 1"));
    assert!(decode::yaml(&map).is_ok());
    let mut merged = many("a: &a {", "}", |number| format!("k{}: 1", number % 90_000));
    merged.truncate(LARGEST / 4);
    let whole = merged
        .iter()
        .rposition(|byte| *byte == b',')
        .expect("a map");
    merged.truncate(whole);
    merged.extend_from_slice(b"}\nb: {k1: 2, <<: *a, c: 1}\n");
    assert!(decode::yaml(&merged).is_ok());
}

fn brackets_without_end() {
    for open in ["[", "{\"a\":", "[{\"a\":"] {
        let text = open.repeat(LARGEST / open.len());
        assert!(decode::json(text.as_bytes()).is_err());
        assert!(decode::yaml(text.as_bytes()).is_err());
    }
}

fn a_strategic_patch_of_a_very_long_list() {
    let list = |value: usize| {
        many(r#"{"spec":{"items":["#, "]}}", |number| {
            format!(r#"{{"name":"n{number}","value":{value}}}"#)
        })
    };
    let current: Value = serde_json::from_slice(&list(1)).expect("JSON");
    patch::strategic(&current, &list(2), schema().root(), true).expect("a sound patch");
}

fn an_apply_over_a_very_long_list() {
    let bytes = many("[", "]", |number| {
        format!(r#"{{"name":"n{number}","value":1}}"#)
    });
    let items: Value = serde_json::from_slice(&bytes).expect("JSON");
    let live = thing(&json!({ "items": items }));
    let mut config = live.clone();
    config["spec"]["items"]
        .as_array_mut()
        .expect("a list")
        .reverse();
    apply(&live, &config);
}

fn a_set_of_very_many_values() {
    let bytes = many("[", "]", |number| format!("\"v{number}\""));
    let values: Value = serde_json::from_slice(&bytes).expect("JSON");
    let object = thing(&json!({ "set": values }));
    apply(&object, &object);
    assert!(structural::validate(schema().root(), &object, None).is_empty());
}

fn owners_of_very_many_fields() {
    let fields = many(r#"{"f:spec":{"f:items":{"#, "}}}", |number| {
        format!(r#""k:{{\"name\":\"n{number}\"}}":{{".":{{}},"f:value":{{}}}}"#)
    });
    let fields: Value = serde_json::from_slice(&fields).expect("JSON");
    let mut live = thing(&json!({"items": [{"name": "n1", "value": 1}]}));
    live["metadata"]["managedFields"] = json!([{"manager": "a", "operation": "Apply",
        "apiVersion": "example.com/v1", "fieldsType": "FieldsV1", "fieldsV1": fields}]);
    apply(
        &live,
        &thing(&json!({"items": [{"name": "n2", "value": 2}]})),
    );
}

fn very_many_owners() {
    let owners = many("[", "]", |number| {
        format!(
            r#"{{"manager":"m{number}","operation":"Apply","apiVersion":"example.com/v1","fieldsType":"FieldsV1","fieldsV1":{{"f:spec":{{"f:items":{{"k:{{\"name\":\"a\"}}":{{"f:value":{{}}}}}}}}}}}}"#
        )
    });
    let owners: Value = serde_json::from_slice(&owners).expect("JSON");
    let mut live = thing(&json!({"items": [{"name": "a", "value": 1}]}));
    live["metadata"]["managedFields"] = owners;
    apply(
        &live,
        &thing(&json!({"items": [{"name": "a", "value": 2}]})),
    );
}

fn a_pattern_that_backtracks() {
    let object = thing(&json!({"text": "a".repeat(LARGEST - 1000) + "b"}));
    assert_eq!(
        structural::validate(schema().root(), &object, None).len(),
        1
    );
}

fn a_pattern_that_grows_when_it_is_compiled() {
    let schema = json!({"type": "object", "properties": {"spec": {"type": "string",
        "pattern": "((((a{100}){100}){100}){100}){100}"}}});
    let _errors = crd::validate(&definition(&schema));
    let built = structural::schema(Some(&schema));
    let _errors = structural::validate(built.root(), &json!({"spec": "a"}), None);
}

fn a_schema_with_very_many_fields() {
    let bytes = many(r#"{"type":"object","properties":{"#, "}}", |number| {
        format!(
            r#""f{number}":{{"type":"object","properties":{{"a":{{"type":"string","default":"x"}}}},"default":{{}}}}"#
        )
    });
    let schema: Value = serde_json::from_slice(&bytes).expect("JSON");
    let mut definition = definition(&schema);
    crd::default(&mut definition);
    let _errors = crd::validate(&definition);
    let built = structural::schema(Some(&schema));
    let mut object = json!({});
    structural::default(built.root(), &mut object);
    let _errors = structural::validate(built.root(), &object, None);
}

fn a_schema_with_very_many_rules() {
    let bytes = many(
        r#"{"type":"object","properties":{"a":{"type":"string","maxLength":5}},"x-kubernetes-validations":["#,
        "]}",
        |number| format!(r#"{{"rule":"self.a != '{number}' && self.a.startsWith('a')"}}"#),
    );
    let schema: Value = serde_json::from_slice(&bytes).expect("JSON");
    let errors = crd::validate(&definition(&schema));
    assert!(!errors.is_empty(), "so many rules cost too much together");
}

fn a_selector_of_very_many_demands() {
    let text = many("", "", |number| format!("k{number} in (a,b)"));
    let selector = LabelSelector::parse(std::str::from_utf8(&text).expect("text")).expect("JSON");
    assert!(!selector.matches(None));
}

fn rules_that_give_nothing_away_to_somebody_who_has_very_many() {
    let one = Rule {
        verbs: vec!["get".to_owned()],
        groups: vec![String::new()],
        resources: vec!["pods".to_owned()],
        ..Rule::default()
    };
    let held = vec![one.clone(); 400_000];
    assert_eq!(rbac::missing(&held, &vec![Rule::default(); 1_000_000]), []);
    let wanted: Vec<Rule> = vec![one; 100_000];
    assert_eq!(rbac::missing(&held, &wanted), []);
}

/// One after the other, since they share the measure of memory.
#[test]
fn nothing_takes_more_than_its_budget() {
    let cases: [(&str, fn()); 19] = [
        (
            "doubling patch",
            a_patch_that_doubles_the_object_again_and_again,
        ),
        ("copying patch", a_patch_that_copies_a_large_value),
        ("aliases", aliases_of_aliases),
        ("long aliases", aliases_of_a_long_text),
        ("nested anchors", anchors_within_anchors),
        ("many keys", a_map_of_very_many_keys),
        ("brackets", brackets_without_end),
        ("strategic patch", a_strategic_patch_of_a_very_long_list),
        ("long list", an_apply_over_a_very_long_list),
        ("large set", a_set_of_very_many_values),
        ("owned fields", owners_of_very_many_fields),
        ("owners", very_many_owners),
        ("backtracking pattern", a_pattern_that_backtracks),
        ("growing pattern", a_pattern_that_grows_when_it_is_compiled),
        ("wide schema", a_schema_with_very_many_fields),
        ("many rules", a_schema_with_very_many_rules),
        ("selector", a_selector_of_very_many_demands),
        (
            "empty rules",
            rules_that_give_nothing_away_to_somebody_who_has_very_many,
        ),
        ("nothing", || {}),
    ];
    for (name, case) in cases {
        let (done, finished) = mpsc::channel();
        MEMORY.reset_peak_usage();
        let before = MEMORY.current_usage_as_mb();
        let worker = thread::Builder::new().stack_size(STACK).spawn(move || {
            case();
            done.send(()).ok();
        });
        let outcome = finished.recv_timeout(DEADLINE);
        assert!(
            outcome != Err(mpsc::RecvTimeoutError::Timeout),
            "{name} has no end"
        );
        worker
            .unwrap()
            .join()
            .unwrap_or_else(|_| panic!("{name} failed"));
        let taken = MEMORY.peak_usage_as_mb() - before;
        assert!(taken <= BUDGET_MIB, "{name} takes {taken:.0} MiB");
    }
}
