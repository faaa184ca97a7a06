//! Selectors parsed, refused and matched.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn cases(text: &str) -> Vec<(String, Option<String>)> {
    let rows: Vec<Value> = serde_json::from_str(text).unwrap();
    let row = |row: &Value| {
        let selector = row["selector"].as_str().unwrap().to_owned();
        (selector, row["error"].as_str().map(str::to_owned))
    };
    rows.iter().map(row).collect()
}

#[test]
fn label_selectors_fail_with_the_words_of_a_real_server() {
    for (selector, error) in cases(include_str!("../../tests/cases/label_selectors.json")) {
        let found = LabelSelector::parse(&selector).err().map(|error| error.0);
        assert_eq!(found, error, "{selector}");
    }
}

#[test]
fn field_selectors_fail_with_the_words_of_a_real_server() {
    for (selector, error) in cases(include_str!("../../tests/cases/field_selectors.json")) {
        let found = FieldSelector::parse(&selector).err().map(|error| error.0);
        assert_eq!(found, error, "{selector}");
    }
}

#[test]
fn labels_are_matched_by_every_operator() {
    let labels = json!({"app": "web", "tier": "3", "in": "x"});
    let labels = labels.as_object();
    for (selector, expected) in [
        ("", true),
        ("app=web", true),
        ("app==web,tier!=4", true),
        ("app in (db,web)", true),
        ("app notin (db,web)", false),
        ("other notin (x)", true),
        ("other!=x", true),
        ("app", true),
        ("!app", false),
        ("!other", true),
        ("tier>2,tier<4", true),
        ("app>2", false),
        ("in", true),
        ("in in (x,y)", true),
        ("app in (in, notin ,web)", true),
        ("app=", false),
    ] {
        let parsed = LabelSelector::parse(selector).unwrap();
        assert_eq!(parsed.matches(labels), expected, "{selector}");
    }
}

#[test]
fn selector_objects_and_strings_mean_the_same() {
    let object = json!({
        "matchLabels": {"a": "b"},
        "matchExpressions": [
            {"key": "c", "operator": "NotIn", "values": ["y", "x"]},
            {"key": "d", "operator": "DoesNotExist"},
        ],
    });
    let selector = LabelSelector::from_value(&object).unwrap();
    assert_eq!(selector.to_string(), "a=b,c notin (x,y),!d");
    assert!(
        !LabelSelector::from_value(&Value::Null)
            .unwrap()
            .matches(None)
    );
    assert!(LabelSelector::from_value(&json!({})).unwrap().matches(None));
    let wrong = json!({"matchExpressions": [{"key": "a", "operator": "Near"}]});
    assert_eq!(
        LabelSelector::from_value(&wrong).unwrap_err().0,
        "\"Near\" is not a valid label selector operator"
    );
}

#[test]
fn fields_are_matched_and_escaped() {
    let selector = FieldSelector::parse(r"status.phase!=Running,metadata.name=a\,b").unwrap();
    assert_eq!(selector.exact("metadata.name"), Some("a,b"));
    assert_eq!(
        selector.to_string(),
        r"metadata.name=a\,b,status.phase!=Running"
    );
    assert!(selector.matches(|field| if field == "metadata.name" { "a,b" } else { "" }.into()));
    assert!(!selector.matches(|_| "a,b".into()) || selector.exact("x").is_none());
}

proptest! {
    #[test]
    fn any_text_parses_or_fails_and_what_parses_prints_back(text in "[a-c!=<>(), inot\\\\]{0,24}") {
        if let Ok(selector) = LabelSelector::parse(&text) {
            let printed = selector.to_string();
            let again = LabelSelector::parse(&printed).unwrap();
            prop_assert_eq!(again.to_string(), printed);
        }
        if let Ok(selector) = FieldSelector::parse(&text) {
            let again = FieldSelector::parse(&selector.to_string());
            prop_assert_eq!(again.map(|again| again.to_string()), Ok(selector.to_string()));
        }
    }
}
