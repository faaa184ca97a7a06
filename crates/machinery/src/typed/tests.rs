//! Tests of typed values.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::test_schema::{schema_of, thing};
use super::{
    Duplicates, Type, compare, extract_items, merge, named_fields, reconcile, remove_items,
    to_field_set, validate,
};
use crate::fieldset::Set;

fn merged(schema: &Value, live: &Value, config: &Value) -> Value {
    let schema = schema_of(schema);
    merge(live, config, Type::of_value(schema.root()))
        .unwrap()
        .unwrap()
}

fn spec() -> Value {
    json!({ "fields": {
        "keyed": { "keys": ["name"], "list": { "fields": { "name": "s", "note": "s", "other": "s" } } },
        "set": { "set": "s" },
        "plain": { "list": "s" },
        "unit": { "unit": true, "fields": { "a": "s", "b": "s" } },
    } })
}

#[test]
fn entries_merge_by_key_in_the_order_of_the_configuration() {
    let live = json!({ "keyed": [{ "name": "a", "note": "1" }, { "name": "b" }, { "name": "c" }] });
    let config = json!({ "keyed": [{ "name": "c", "note": "3" }, { "name": "a", "other": "x" }] });
    let expected = json!({ "keyed": [
        { "name": "b" },
        { "name": "c", "note": "3" },
        { "name": "a", "note": "1", "other": "x" },
    ] });
    assert_eq!(merged(&spec(), &live, &config), expected);
}

#[test]
fn sets_unite_and_units_are_replaced() {
    let live = json!({ "set": ["a", "b"], "plain": ["a"], "unit": { "a": "1" } });
    let config = json!({ "set": ["c", "a"], "plain": ["b"], "unit": { "b": "2" } });
    let expected = json!({ "set": ["c", "a", "b"], "plain": ["b"], "unit": { "b": "2" } });
    assert_eq!(merged(&spec(), &live, &config), expected);
}

#[test]
fn without_a_schema_maps_merge_and_lists_do_not() {
    let live = json!({ "a": { "x": 1 }, "l": [1] });
    let config = json!({ "a": { "y": { "z": 2 } }, "l": [2] });
    let out = merge(&live, &config, Type::deduced()).unwrap().unwrap();
    assert_eq!(out, json!({ "a": { "x": 1, "y": { "z": 2 } }, "l": [2] }));
    let fields = to_field_set(&out, Type::deduced());
    assert_eq!(
        fields.to_value(),
        json!({ "f:a": { ".": {}, "f:x": {}, "f:y": { ".": {}, "f:z": {} } }, "f:l": {} })
    );
}

#[test]
fn what_does_not_fit_is_said_as_a_real_server_says_it() {
    let schema = schema_of(&spec());
    let errors = |value: Value| {
        validate(&value, Type::of_value(schema.root()), Duplicates::Refused)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        errors(json!({ "keyed": [{ "name": "a" }, { "name": "a" }] })),
        r#".keyed: duplicate entries for key [name="a"]"#
    );
    assert_eq!(
        errors(json!({ "set": ["x", "x"] })),
        r#".set: duplicate entries for key [="x"]"#
    );
    assert_eq!(
        errors(json!({ "bogus": 1 })),
        ".bogus: field not declared in schema"
    );
    assert_eq!(
        errors(json!({ "keyed": [{ "name": "a", "note": 5 }] })),
        r#".keyed[name="a"].note: expected string, got &value.valueUnstructured{Value:5}"#
    );
    assert_eq!(
        errors(json!({ "plain": 1 })),
        ".plain: expected list, got &{1}"
    );
    assert_eq!(
        errors(json!({ "unit": ["x"] })),
        ".unit: expected map, got &{[x]}"
    );
    assert_eq!(
        errors(json!({ "keyed": [{ "note": "x" }] })),
        ".keyed: element 0: associative list with keys has an element that omits all key fields \
         [\"name\"] (and doesn't have default values for any key fields)"
    );
    assert_eq!(
        errors(json!({ "plain": [1], "unit": { "a": true } })),
        "errors:\n  .plain[0]: expected string, got &value.valueUnstructured{Value:1}\n  .unit.a: \
         expected string, got &value.valueUnstructured{Value:true}"
    );
}

#[test]
fn a_missing_key_field_has_its_default() {
    let thing = thing();
    let object = json!({ "spec": { "keyed": [{ "name": "a" }, { "name": "a", "port": 80 }] } });
    let error = validate(&object, Type::of_object(thing.root()), Duplicates::Refused).unwrap_err();
    assert_eq!(
        error.to_string(),
        r#".spec.keyed: duplicate entries for key [name="a",port=80]"#
    );
}

#[test]
fn comparing_tells_added_from_modified_from_removed() {
    let schema = schema_of(&spec());
    let old = json!({ "keyed": [{ "name": "a", "note": "1" }, { "name": "b" }], "plain": ["x"] });
    let new = json!({ "keyed": [{ "name": "a", "note": "2" }, { "name": "c" }], "plain": ["y"] });
    let found = compare(&old, &new, Type::of_value(schema.root())).unwrap();
    assert_eq!(
        found.added.to_json(),
        r#"{"f:keyed":{"k:{\"name\":\"c\"}":{".":{},"f:name":{}}}}"#
    );
    assert_eq!(
        found.modified.to_json(),
        r#"{"f:keyed":{"k:{\"name\":\"a\"}":{"f:note":{}}},"f:plain":{}}"#
    );
    assert_eq!(
        found.removed.to_json(),
        r#"{"f:keyed":{"k:{\"name\":\"b\"}":{".":{},"f:name":{}}}}"#
    );
}

#[test]
fn a_list_that_lost_its_last_entry_is_null() {
    let schema = schema_of(&spec());
    let mut value = json!({ "set": ["a"], "plain": ["x"] });
    let items = Set::from_json(r#"{"f:set":{"v:\"a\"":{}}}"#).unwrap();
    remove_items(&mut value, &items, Type::of_value(schema.root()));
    assert_eq!(value, json!({ "set": null, "plain": ["x"] }));
}

#[test]
fn extracted_entries_can_keep_their_keys() {
    let schema = schema_of(&spec());
    let ty = Type::of_value(schema.root());
    let value = json!({ "keyed": [{ "name": "a", "note": "1", "other": "2" }], "plain": ["x"] });
    let items = Set::from_json(r#"{"f:keyed":{"k:{\"name\":\"a\"}":{"f:note":{}}}}"#).unwrap();
    assert_eq!(
        extract_items(&value, &items, ty, false),
        json!({ "keyed": [{ "note": "1" }] })
    );
    assert_eq!(
        extract_items(&value, &items, ty, true),
        json!({ "keyed": [{ "name": "a", "note": "1" }] })
    );
}

#[test]
fn owners_of_a_part_own_the_whole_once_it_is_one_unit() {
    let schema = schema_of(&spec());
    let owned = Set::from_json(r#"{"f:unit":{"f:a":{}},"f:plain":{"v:\"x\"":{}}}"#).unwrap();
    let today = reconcile(&owned, Type::of_value(schema.root())).unwrap();
    assert_eq!(today.to_json(), r#"{"f:plain":{},"f:unit":{}}"#);
    assert_eq!(reconcile(&today, Type::of_value(schema.root())), None);
}

/// Values of the schema in [`thing`]'s `spec`. Lists and maps are never empty: taking the last entry away and
/// then writing none are two changes to a real server as well.
pub(crate) fn any_spec() -> impl Strategy<Value = Value> {
    let text = || prop_oneof![Just("x"), Just("y")].prop_map(Value::from);
    let entry = ("[ab]", 80..82, proptest::option::of(text())).prop_map(|(name, port, note)| {
        let mut entry = json!({ "name": name });
        if port != 80 {
            entry["port"] = json!(port);
        }
        if let Some(note) = note {
            entry["note"] = note;
        }
        entry
    });
    let keyed = prop::collection::vec(entry, 1..4).prop_map(|mut entries| {
        let key = |entry: &Value| {
            (
                entry["name"].to_string(),
                entry.get("port").map(Value::to_string),
            )
        };
        let mut seen = Vec::new();
        entries.retain(|entry| {
            !seen.contains(&key(entry)) && {
                seen.push(key(entry));
                true
            }
        });
        Value::Array(entries)
    });
    let tags = prop::collection::btree_set("[abc]", 1..3).prop_map(|tags| json!(tags));
    let labels = prop::collection::btree_map("[ab]", "[xy]", 1..3).prop_map(|map| json!(map));
    let unit = prop::collection::btree_map("[ab]", "[xy]", 1..3).prop_map(|map| json!(map));
    let any = prop_oneof![Just(json!({ "p": 1 })), Just(json!([1])), Just(json!("t"))];
    let parts = [
        ("size", (0..3).prop_map(Value::from).boxed()),
        ("keyed", keyed.boxed()),
        ("tags", tags.boxed()),
        ("labels", labels.boxed()),
        ("unit", unit.boxed()),
        ("any", any.boxed()),
        (
            "plain",
            prop::collection::vec("[xy]", 1..3)
                .prop_map(|list| json!(list))
                .boxed(),
        ),
    ];
    parts
        .into_iter()
        .fold(Just(json!({})).boxed(), |spec, (name, part)| {
            (spec, proptest::option::of(part))
                .prop_map(move |(mut spec, part)| {
                    if let Some(part) = part {
                        spec[name] = part;
                    }
                    spec
                })
                .boxed()
        })
}

proptest! {
    #[test]
    fn merging_twice_is_merging_once(live in any_spec(), config in any_spec()) {
        let thing = thing();
        let ty = Type::of_object(thing.root());
        let (live, config) = (json!({ "kind": "T", "spec": live }), json!({ "kind": "T", "spec": config }));
        let once = merge(&live, &config, ty).unwrap().unwrap();
        let twice = merge(&once, &config, ty).unwrap().unwrap();
        prop_assert_eq!(&once, &twice);
        prop_assert!(validate(&once, ty, Duplicates::Refused).is_ok());
        let have = named_fields(&to_field_set(&once, ty), ty);
        let applied = to_field_set(&config, ty);
        prop_assert_eq!(applied.difference(&have), Set::new());
    }

    #[test]
    fn a_comparison_is_empty_for_equal_values_only(left in any_spec(), right in any_spec()) {
        let thing = thing();
        let ty = Type::of_object(thing.root());
        let (left, right) = (json!({ "spec": left }), json!({ "spec": right }));
        prop_assert!(compare(&left, &left, ty).unwrap().is_same());
        let there = compare(&left, &right, ty).unwrap();
        let back = compare(&right, &left, ty).unwrap();
        prop_assert_eq!(&there.added, &back.removed);
        prop_assert_eq!(&there.removed, &back.added);
        prop_assert_eq!(&there.modified, &back.modified);
    }
}
