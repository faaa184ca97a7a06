//! JSON patches on their own; what real servers answer is compared in the API server's tests.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn patched(current: &Value, patch: &Value) -> Result<Value, u16> {
    apply(current, patch.to_string().as_bytes(), true)
        .map(|patched| patched.value)
        .map_err(|status| status.code)
}

#[test]
fn a_missing_field_equals_null_as_finalizer_code_relies_on() {
    let patch = json!([
        {"op": "test", "path": "/metadata/finalizers", "value": null},
        {"op": "add", "path": "/metadata/finalizers", "value": ["a"]},
    ]);
    let outcome = patched(&json!({"metadata": {}}), &patch);
    assert_eq!(outcome, Ok(json!({"metadata": {"finalizers": ["a"]}})));
    assert_eq!(
        patched(&json!({"metadata": {"finalizers": []}}), &patch),
        Err(422)
    );
}

#[test]
fn names_are_unescaped_from_left_to_right() {
    let patch = json!([{"op": "replace", "path": "/~01~1~", "value": 1}]);
    assert_eq!(patched(&json!({}), &patch), Ok(json!({"~1/~": 1})));
}

#[test]
fn more_operations_than_allowed_are_too_large() {
    let operation = json!({"op": "test", "path": "/a", "value": 1});
    let most = Value::Array(vec![operation.clone(); MAX_OPERATIONS]);
    assert!(patched(&json!({"a": 1}), &most).is_ok());
    let too_many = Value::Array(vec![operation; MAX_OPERATIONS + 1]).to_string();
    let refusal = apply(&json!({"a": 1}), too_many.as_bytes(), true).unwrap_err();
    assert_eq!(
        (refusal.code, refusal.reason),
        (413, "RequestEntityTooLarge")
    );
    assert_eq!(
        refusal.message,
        "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001"
    );
}

#[test]
fn copies_cannot_grow_a_document_without_end() {
    let copy = |from: &str, to: String| json!({"op": "copy", "from": from, "path": to});
    let doubling: Vec<_> = (0..64).map(|at| copy("/a", format!("/a/x{at}"))).collect();
    assert_eq!(
        patched(&json!({"a": {"x": "y"}}), &doubling.into()),
        Err(422)
    );
    let deeper: Vec<_> = (0..200).map(|_| copy("/a", "/a/x".to_owned())).collect();
    assert_eq!(patched(&json!({"a": {"x": "y"}}), &deeper.into()), Err(422));
    let few: Vec<_> = (0..64).map(|at| copy("/a", format!("/b{at}"))).collect();
    assert!(patched(&json!({"a": {"x": "y"}}), &few.into()).is_ok());
}

fn operations() -> impl Strategy<Value = Value> {
    let path = prop_oneof![
        "(/[a-c]|/[0-2]|/-|/-1|/~0|){0,3}".prop_map(Value::from),
        Just(json!(5))
    ];
    let kind = prop_oneof![
        Just("add"),
        Just("remove"),
        Just("replace"),
        Just("move"),
        Just("copy"),
        Just("test"),
        Just("frob"),
    ];
    let value = prop_oneof![
        Just(json!(1)),
        Just(json!({"a": [1, {"b": null}]})),
        Just(Value::Null)
    ];
    let operation = (kind, path.clone(), path, value).prop_map(
        |(op, path, from, value)| json!({"op": op, "path": path, "from": from, "value": value}),
    );
    prop::collection::vec(operation, 0..6).prop_map(Value::from)
}

proptest! {
    #[test]
    fn no_operation_makes_it_panic(patch in operations(), checked: bool) {
        let current = json!({"a": [1, {"b": {"c": null}}], "b": {"a": 1}, "c": null});
        let _ = apply(&current, patch.to_string().as_bytes(), checked);
    }

    #[test]
    fn no_bytes_make_it_panic(patch in prop::collection::vec(any::<u8>(), 0..64), checked: bool) {
        let _ = apply(&json!({"a": 1}), &patch, checked);
    }
}
