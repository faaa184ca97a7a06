//! Schemas read, and objects defaulted, pruned and validated by them.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{decode, field_error::FieldError};

fn cases(text: &str) -> Vec<Value> {
    let value = decode::json(text.as_bytes()).unwrap().value;
    value.as_array().unwrap().clone()
}

fn sample() -> Schema {
    let text = include_str!("../../tests/cases/custom_resource_schema.json");
    let value: Value = serde_json::from_str(text).unwrap();
    assert_eq!(structural_errors(&value, "schema"), []);
    schema(Some(&value))
}

fn causes(errors: &[FieldError]) -> Value {
    let mut causes: Vec<[String; 3]> = errors
        .iter()
        .map(|error| {
            [
                error.field.clone(),
                error.kind.reason().to_owned(),
                error.message(),
            ]
        })
        .collect();
    causes.sort();
    json!(causes)
}

fn object(fields: &Value) -> Value {
    let mut object = fields.clone();
    object["apiVersion"] = json!("ex.io/v1");
    object["kind"] = json!("Gadget");
    object
}

#[test]
fn objects_are_defaulted_pruned_and_judged_as_by_a_real_server() {
    let schema = sample();
    for case in cases(include_str!(
        "../../tests/cases/custom_resource_objects.json"
    )) {
        let mut object = object(&case["object"]);
        let unknown = match admit(schema.root(), &mut object) {
            Ok(unknown) => unknown,
            Err(error) => {
                let refused = case["refused"].as_str().unwrap_or_default();
                assert!(refused.ends_with(&format!(": {error}")), "{case} {error}");
                continue;
            }
        };
        assert_eq!(
            json!(decode::warnings(&unknown)),
            case["warnings"],
            "{case}"
        );
        let errors = validate(schema.root(), &object, None);
        let expected = case.get("errors").cloned().unwrap_or(json!([]));
        assert_eq!(causes(&errors), expected, "{case}");
        if let Some(result) = case.get("result") {
            for part in ["spec", "status"] {
                assert_eq!(object.get(part), result.get(part), "{case}");
            }
        }
    }
}

#[test]
fn updates_forgive_what_was_wrong_before_as_a_real_server_does() {
    let schema = sample();
    for case in cases(include_str!(
        "../../tests/cases/custom_resource_updates.json"
    )) {
        let whole = |spec: &Value| object(&json!({"metadata": {"name": "ra"}, "spec": spec}));
        let (mut old, mut new) = (whole(&case["old"]), whole(&case["new"]));
        admit(schema.root(), &mut old).unwrap();
        admit(schema.root(), &mut new).unwrap();
        let errors = validate(schema.root(), &new, Some(&old));
        assert_eq!(causes(&errors), case["errors"], "{case}");
    }
}

#[test]
fn an_object_without_a_schema_keeps_everything_but_odd_metadata() {
    let schema = schema(None);
    let mut object = json!({"apiVersion": "a/v1", "kind": "K", "metadata": {"name": "x", "odd": 1}, "any": {"thing": null}});
    let unknown = admit(schema.root(), &mut object).unwrap();
    assert_eq!(
        decode::warnings(&unknown),
        ["unknown field \"metadata.odd\""]
    );
    assert_eq!(object["any"], json!({"thing": null}));
}

#[test]
fn replica_counts_must_be_whole_and_not_negative() {
    let check = |object: Value| {
        let errors = validate_scale(&object, &[".spec.replicas"], Some(".status.selector"));
        errors.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert!(check(json!({"spec": {"replicas": 3}})).is_empty());
    assert_eq!(
        check(json!({"spec": {"replicas": -1}})),
        [".spec.replicas: Invalid value: -1: should be a non-negative integer"]
    );
    assert_eq!(
        check(json!({"spec": {"replicas": "x"}})),
        [
            ".spec.replicas: Invalid value: 0: .spec.replicas accessor error: x is of the type string, expected int64"
        ]
    );
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3_i64..12).prop_map(Value::from),
        "[a-c]{0,6}".prop_map(Value::from),
    ];
    let name = prop::sample::select(vec![
        "spec",
        "str",
        "int",
        "list",
        "set",
        "map",
        "name",
        "port",
        "dict",
        "sub",
        "a",
        "b",
        "any",
        "part",
        "known",
        "x",
        "emb",
        "apiVersion",
        "kind",
        "metadata",
        "one",
        "anyof",
        "dflt",
        "dlist",
        "y",
        "dmap",
        "free",
        "zzz",
    ]);
    leaf.prop_recursive(5, 48, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(name.clone().prop_map(str::to_owned), inner, 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn pruning_twice_is_pruning_once(value in any_value()) {
        let schema = sample();
        let mut once = value;
        prune(schema.root(), &mut once, true);
        let mut twice = once.clone();
        prop_assert_eq!(prune(schema.root(), &mut twice, true), Vec::<String>::new());
        prop_assert_eq!(once, twice);
    }

    #[test]
    fn defaulting_twice_is_defaulting_once(value in any_value()) {
        let schema = sample();
        let mut once = value;
        default(schema.root(), &mut once);
        let mut twice = once.clone();
        default(schema.root(), &mut twice);
        prop_assert_eq!(once, twice);
    }

    #[test]
    fn an_update_forgives_and_never_complains_about_more(value in any_value(), old in any_value()) {
        let schema = sample();
        let (mut object, mut old) = (value, old);
        default(schema.root(), &mut object);
        default(schema.root(), &mut old);
        let strict = validate(schema.root(), &object, None);
        for before in [&object, &old] {
            let errors = validate(schema.root(), &object, Some(before));
            prop_assert!(errors.iter().all(|error| strict.contains(error)), "{:?}", errors);
        }
    }
}
