//! Merge patches on their own; what real servers answer is compared in the API server's tests.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn merged(current: &Value, patch: &Value) -> Value {
    apply(current, patch.to_string().as_bytes(), true)
        .unwrap()
        .value
}

/// The patch that turns one object into another: nulls for what is gone, whole values for what differs.
fn difference(from: &Map<String, Value>, to: &Map<String, Value>) -> Map<String, Value> {
    let mut patch = Map::new();
    for name in from.keys().filter(|name| !to.contains_key(*name)) {
        patch.insert(name.clone(), Value::Null);
    }
    for (name, wanted) in to {
        match (from.get(name), wanted) {
            (Some(known), wanted) if known == wanted => {}
            (Some(Value::Object(known)), Value::Object(wanted)) => {
                patch.insert(name.clone(), Value::Object(difference(known, wanted)));
            }
            _ => {
                patch.insert(name.clone(), wanted.clone());
            }
        }
    }
    patch
}

/// JSON objects without nulls, which no merge patch can write.
fn objects() -> impl Strategy<Value = Map<String, Value>> {
    let scalar = prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-c]{0,3}".prop_map(Value::from),
    ];
    let value = scalar.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[a-d]", inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    });
    prop::collection::btree_map("[a-d]", value, 0..4)
        .prop_map(|fields| fields.into_iter().collect())
}

proptest! {
    #[test]
    fn the_patch_between_two_objects_leads_from_one_to_the_other(from in objects(), to in objects()) {
        let patch = Value::Object(difference(&from, &to));
        prop_assert_eq!(merged(&Value::Object(from), &patch), Value::Object(to));
    }

    #[test]
    fn an_empty_patch_changes_nothing(object in objects()) {
        let object = Value::Object(object);
        prop_assert_eq!(merged(&object, &json!({})), object);
    }

    #[test]
    fn no_bytes_make_it_panic(patch in prop::collection::vec(any::<u8>(), 0..64), checked: bool) {
        let _ = apply(&json!({"a": {"b": 1}}), &patch, checked);
    }
}

#[test]
fn nulls_remove_fields_and_stay_only_where_a_list_replaces_an_object() {
    let current = json!({"gone": 1, "inner": {"gone": 1, "kept": 2}, "list": [1], "object": {}});
    let patch = json!({
        "gone": null,
        "inner": {"gone": null},
        "list": [{"null": null, "one": 1}, null],
        "object": [{"null": null}],
        "new": {"null": null, "deep": {"null": null}},
    });
    let expected = json!({
        "inner": {"kept": 2},
        "list": [{"one": 1}, null],
        "object": [{"null": null}],
        "new": {"deep": {}},
    });
    assert_eq!(merged(&current, &patch), expected);
}

#[test]
fn a_patch_between_two_names_only_what_differs_and_nulls_what_is_gone() {
    let old = json!({ "a": 1, "b": { "c": 1, "d": 2 }, "e": [1] });
    let new = json!({ "a": 1, "b": { "c": 3 }, "e": [1, 2] });
    let patch = between(&old, &new).unwrap();
    assert_eq!(patch, json!({ "b": { "c": 3, "d": null }, "e": [1, 2] }));
    assert_eq!(between(&new, &new), None);
}
