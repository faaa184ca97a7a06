//! Strategic patches over a small schema of our own; what real servers answer to built-in kinds is compared in
//! the API server's tests.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::schema::{Additional, Node, NodeId, PatchStrategy, Schemas, Type};

/// `names` merges scalars, `parts` merges by `name` and nests, `plain` is replaced, `tags` is a map.
fn schema() -> (Schemas, NodeId) {
    let mut schemas = Schemas::default();
    let of = |ty| Node {
        ty: Some(ty),
        ..Node::default()
    };
    let string = schemas.push(of(Type::String));
    let list = |items, patch: Option<PatchStrategy>| Node {
        items: Some(items),
        patch: patch.map(Box::new),
        ..of(Type::Array)
    };
    let merged = |key: Option<&str>| PatchStrategy {
        merge: true,
        merge_key: key.map(Into::into),
        ..PatchStrategy::default()
    };
    let names = schemas.push(list(string, Some(merged(None))));
    let plain = schemas.push(list(string, None));
    let tags = schemas.push(Node {
        additional: Additional::Of(string),
        ..of(Type::Object)
    });
    let root = schemas.push(Node::default());
    let parts = schemas.push(list(root, Some(merged(Some("name")))));
    let properties = [
        ("inner", root),
        ("name", string),
        ("names", names),
        ("parts", parts),
        ("plain", plain),
        ("tags", tags),
    ];
    schemas.set(
        root,
        Node {
            type_name: Some("v1.Thing".into()),
            properties: properties.map(|(name, id)| (name.into(), id)).into(),
            ..of(Type::Object)
        },
    );
    (schemas, root)
}

fn patched(current: &Value, patch: &Value) -> std::result::Result<Value, (u16, String)> {
    let (schemas, root) = schema();
    apply(
        current,
        patch.to_string().as_bytes(),
        schemas.at(root),
        true,
    )
    .map(|patched| patched.value)
    .map_err(|status| (status.code, status.message))
}

#[test]
fn entries_merge_by_key_and_the_patch_gives_the_order() {
    let current = json!({"parts": [{"name": "a"}, {"name": "b", "plain": ["x"]}, {"name": "c"}]});
    let patch = json!({"parts": [{"name": "n"}, {"name": "b", "plain": ["y"]}, {"name": "a", "$patch": "delete"}]});
    let expected = json!({"parts": [{"name": "n"}, {"name": "b", "plain": ["y"]}, {"name": "c"}]});
    assert_eq!(patched(&current, &patch), Ok(expected));
}

#[test]
fn scalars_merge_as_a_set_and_can_be_taken_out_and_ordered() {
    let current = json!({"names": ["a", "b", "c"]});
    let patch = json!({
        "$deleteFromPrimitiveList/names": ["b"],
        "$setElementOrder/names": ["c", "n", "a"],
        "names": ["n"],
    });
    assert_eq!(
        patched(&current, &patch),
        Ok(json!({"names": ["c", "n", "a"]}))
    );
}

#[test]
fn an_order_keeps_what_it_does_not_name_where_it_was() {
    let current = json!({"names": ["a", "b", "c", "d"]});
    let patch = json!({"$setElementOrder/names": ["d", "b"]});
    assert_eq!(
        patched(&current, &patch),
        Ok(json!({"names": ["a", "c", "d", "b"]}))
    );
}

#[test]
fn a_map_without_a_struct_has_no_fields_to_look_up() {
    let current = json!({"tags": {"x": {"deep": 1}}});
    let patch = json!({"tags": {"x": {"deep": 2}}});
    let words = "merging an object in json but data type is not struct, instead is: map";
    assert_eq!(patched(&current, &patch), Err((500, words.to_owned())));
}

#[test]
fn lists_of_lists_are_refused_without_words() {
    let outcome = patched(&json!({"names": [["a"]]}), &json!({"names": [["b"]]}));
    assert_eq!(outcome.unwrap_err().0, 422);
}

#[test]
fn long_lists_are_merged_in_reasonable_time() {
    let entries: Vec<_> = (0..20_000)
        .map(|at| json!({"name": format!("n{at}")}))
        .collect();
    let reversed: Vec<_> = entries.iter().rev().cloned().collect();
    let outcome = patched(
        &json!({"parts": entries}),
        &json!({"parts": reversed.clone()}),
    );
    assert_eq!(outcome, Ok(json!({"parts": reversed})));
}

/// Patches of this little language, right and wrong.
fn patches() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        "[a-c]".prop_map(Value::from),
        Just(Value::Null),
        Just(json!(1)),
        Just(json!("delete")),
        Just(json!("replace")),
    ];
    let field = prop_oneof![
        Just("inner"),
        Just("name"),
        Just("names"),
        Just("parts"),
        Just("plain"),
        Just("tags"),
        Just("unknown"),
        Just("$patch"),
        Just("$retainKeys"),
        Just("$setElementOrder/parts"),
        Just("$setElementOrder/names"),
        Just("$deleteFromPrimitiveList/names"),
    ];
    scalar.prop_recursive(4, 32, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(field.clone().prop_map(str::to_owned), inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn no_patch_makes_it_panic(current in patches(), patch in patches()) {
        let _ = patched(&current, &patch);
    }

    #[test]
    fn a_patch_applied_twice_changes_nothing_more(
        names in prop::collection::btree_set("[a-e]", 0..5),
        added in prop::collection::btree_set("[a-e]", 0..5),
    ) {
        let parts = |names: &std::collections::BTreeSet<String>| -> Vec<Value> {
            names.iter().map(|name| json!({"name": name})).collect()
        };
        let current = json!({"names": names, "parts": parts(&names)});
        let patch = json!({"names": added, "parts": parts(&added)});
        let once = patched(&current, &patch).unwrap();
        prop_assert_eq!(patched(&once, &patch).unwrap(), once);
    }
}
