//! Tests of field sets.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Filter, Path, PathElement, Pattern, Set};

fn set(paths: &[&[&str]]) -> Set {
    Set::of_fields(paths)
}

/// What a real server wrote for a Deployment.
const DEPLOYMENT: &str = r#"{"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{".":{},"f:image":{},"f:ports":{".":{},"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{}},"k:{\"containerPort\":9090,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{}}}}}}}}}"#;

#[test]
fn fields_are_written_as_they_were_read() {
    let fields = Set::from_json(DEPLOYMENT).unwrap();
    assert_eq!(fields.to_json(), DEPLOYMENT);
    let value: Value = serde_json::from_str(DEPLOYMENT).unwrap();
    assert_eq!(fields.to_value(), value);
}

#[test]
fn steps_come_by_kind_and_numbers_by_size() {
    let text =
        r#"{"i:1":{},"v:10":{},"v:9":{},"v:\"a\"":{},"k:{\"p\":80}":{},"k:{\"p\":9}":{},"f:z":{}}"#;
    let ordered =
        r#"{"f:z":{},"k:{\"p\":9}":{},"k:{\"p\":80}":{},"v:9":{},"v:10":{},"v:\"a\"":{},"i:1":{}}"#;
    assert_eq!(Set::from_json(text).unwrap().to_json(), ordered);
}

#[test]
fn steps_of_unknown_kinds_are_passed_over() {
    let fields = Set::from_json(r#"{"q:new":{},"f:a":{}}"#).unwrap();
    assert_eq!(fields, set(&[&["a"]]));
}

#[test]
fn malformed_fields_are_refused() {
    for text in [
        r#"{"f":{}}"#,
        r#"{"fx":{}}"#,
        r#"{"f:a":1}"#,
        r#"{"v:":{}}"#,
        r#"{"i:x":{}}"#,
    ] {
        assert!(Set::from_json(text).is_err(), "{text}");
    }
}

#[test]
fn characters_that_html_minds_are_escaped_in_values_only() {
    let step = PathElement::value(json!("a<b"));
    assert_eq!(step.to_key(), r#"v:"a\u003cb""#);
    assert_eq!(PathElement::field("a<b").to_key(), "f:a<b");
}

#[test]
fn paths_read_well() {
    let key = PathElement::key(vec![
        ("port".into(), json!(80)),
        ("name".into(), json!("x")),
    ]);
    let path = Path(vec![
        PathElement::field("ports"),
        key,
        PathElement::value(json!(1.5)),
    ]);
    assert_eq!(path.to_string(), r#".ports[name="x",port=80][=1.5]"#);
}

#[test]
fn whole_numbers_and_floats_are_the_same_step() {
    assert_eq!(PathElement::value(json!(1)), PathElement::value(json!(1.0)));
}

#[test]
fn a_parent_does_not_stand_for_its_children_but_recursively() {
    let deep = set(&[&["a", "b", "c"], &["a"]]);
    let parent = set(&[&["a", "b"]]);
    assert_eq!(deep.difference(&parent), deep);
    assert_eq!(deep.recursive_difference(&parent), set(&[&["a"]]));
}

#[test]
fn leaves_have_nothing_below_them() {
    let fields = set(&[&["a"], &["a", "b"], &["c"]]);
    assert_eq!(fields.leaves().paths(), set(&[&["a", "b"], &["c"]]).paths());
}

#[test]
fn a_filter_keeps_the_way_to_what_it_names() {
    let filter = Filter::Only(Pattern::new(&[&["spec", "*", "resources"]]));
    let fields = set(&[
        &["metadata", "labels"],
        &["spec"],
        &["spec", "a", "image"],
        &["spec", "a", "resources", "cpu"],
    ]);
    let kept = set(&[&["spec"], &["spec", "a", "resources", "cpu"]]);
    assert_eq!(filter.of(&fields), kept);
}

fn any_step() -> impl Strategy<Value = PathElement> {
    prop_oneof![
        "[ab.:\"<é]{0,2}".prop_map(|name| PathElement::field(&name)),
        (0..3_i64, "[xy]").prop_map(|(port, name)| {
            PathElement::key(vec![
                ("port".into(), json!(port)),
                ("name".into(), json!(name)),
            ])
        }),
        prop_oneof![
            Just(json!(1)),
            Just(json!(2.5)),
            Just(json!("t")),
            Just(json!(true))
        ]
        .prop_map(PathElement::value),
        (0..3_i64).prop_map(PathElement::Index),
    ]
}

fn any_paths() -> impl Strategy<Value = BTreeSet<Path>> {
    let path = prop::collection::vec(any_step(), 1..4).prop_map(Path);
    prop::collection::btree_set(path, 0..12)
}

fn tree(paths: &BTreeSet<Path>) -> Set {
    paths.iter().cloned().collect()
}

fn is_below(path: &Path, above: &BTreeSet<Path>) -> bool {
    (1..=path.0.len()).any(|length| above.contains(&Path(path.0[..length].to_vec())))
}

proptest! {
    #[test]
    fn sets_survive_being_written_and_read(paths in any_paths()) {
        let fields = tree(&paths);
        prop_assert_eq!(&Set::from_json(&fields.to_json()).unwrap(), &fields);
        prop_assert_eq!(&Set::from_value(&fields.to_value()).unwrap(), &fields);
    }

    #[test]
    fn sets_are_sets_of_paths(left in any_paths(), right in any_paths()) {
        let (a, b) = (tree(&left), tree(&right));
        prop_assert_eq!(a.len(), left.len());
        prop_assert_eq!(a.union(&b), tree(&left.union(&right).cloned().collect()));
        prop_assert_eq!(a.intersection(&b), tree(&left.intersection(&right).cloned().collect()));
        prop_assert_eq!(a.difference(&b), tree(&left.difference(&right).cloned().collect()));
        let rest = left.iter().filter(|path| !is_below(path, &right)).cloned().collect();
        prop_assert_eq!(a.recursive_difference(&b), tree(&rest));
        for path in &left {
            prop_assert!(a.has(path));
            prop_assert_eq!(b.has(path), right.contains(path));
        }
    }
}
