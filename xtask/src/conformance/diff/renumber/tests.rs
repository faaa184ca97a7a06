//! Renumbering hides what a server may choose and nothing else.

use serde_json::json;

use super::*;

fn renumbered(results: &[Value], script: &str) -> Vec<Value> {
    let mut records: Vec<Record> = results
        .iter()
        .map(|result| Record {
            title: String::new(),
            result: result.clone(),
        })
        .collect();
    renumber(&mut records, script, false);
    records.into_iter().map(|record| record.result).collect()
}

fn object(uid: &str, revision: &str) -> Value {
    json!({"metadata": {"uid": uid, "resourceVersion": revision}})
}

const ONE: &str = "11111111-1111-4111-8111-111111111111";
const TWO: &str = "22222222-2222-4222-8222-222222222222";

#[test]
fn runs_that_differ_only_in_chosen_values_become_equal() {
    let first = renumbered(&[object(ONE, "7"), object(TWO, "9")], "");
    let second = renumbered(&[object(TWO, "100"), object(ONE, "1000")], "");
    assert_eq!(first, second);
}

#[test]
fn a_needless_bump_and_a_wrong_order_show() {
    let kept = renumbered(&[object(ONE, "7"), object(ONE, "7")], "");
    let bumped = renumbered(&[object(ONE, "7"), object(ONE, "8")], "");
    let backwards = renumbered(&[object(ONE, "8"), object(ONE, "7")], "");
    assert_ne!(kept, bumped);
    assert_ne!(bumped, backwards);
}

#[test]
fn a_list_revision_says_which_objects_it_includes() {
    let list = |revision: &str| json!({"items": [], "metadata": {"resourceVersion": revision}});
    let quiet = renumbered(&[object(ONE, "7"), list("7"), object(ONE, "9")], "");
    let busy = renumbered(&[object(ONE, "7"), list("8"), object(ONE, "9")], "");
    let wrong = renumbered(&[object(ONE, "7"), list("9"), object(ONE, "9")], "");
    assert_eq!(quiet, busy);
    assert_ne!(quiet, wrong);
}

#[test]
fn values_of_the_script_itself_stay() {
    let value = json!({"time": "2020-01-01T00:00:00Z", "uid": ONE});
    let script = format!("time: 2020-01-01T00:00:00Z, uid: {ONE}");
    assert_eq!(renumbered(std::slice::from_ref(&value), &script), [value]);
}

#[test]
fn generated_names_are_numbered_wherever_they_occur() {
    let value = json!({
        "metadata": {"generateName": "a-", "name": "a-bcdfg"},
        "message": "configmaps \"a-bcdfg\" not found",
    });
    assert_eq!(
        renumbered(&[value], "metadata: {generateName: a-}"),
        [json!({
            "metadata": {"generateName": "a-", "name": "a-<name-1>"},
            "message": "configmaps \"a-<name-1>\" not found",
        })]
    );
}
