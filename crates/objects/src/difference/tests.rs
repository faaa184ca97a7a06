//! Differences between small objects.

use proptest::prelude::*;
use serde_json::json;

use super::*;

/// Every change as a line.
fn lines(before: &Value, after: &Value) -> Vec<String> {
    let said = |said: Option<Said>| match said {
        None => "-".to_owned(),
        Some(Said::Hidden) => "*".to_owned(),
        Some(Said::Value(value)) => value.to_string(),
    };
    changes(before, after)
        .into_iter()
        .map(|change| {
            format!(
                "{} {} {}",
                change.path,
                said(change.before),
                said(change.after)
            )
        })
        .collect()
}

fn deployment(replicas: i64, level: &str, image: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": { "name": "cart", "generation": replicas, "labels": { "app.kubernetes.io/name": level } },
        "spec": { "replicas": replicas, "template": { "spec": { "containers": [
            { "name": "main", "image": image, "env": [{ "name": "LOG_LEVEL", "value": level }] },
        ]}}},
        "status": { "replicas": replicas },
    })
}

#[test]
fn fields_are_named_as_people_name_them() {
    let before = deployment(2, "info", "cart:1");
    let mut after = deployment(3, "debug", "cart:1");
    assert_eq!(
        lines(&before, &after),
        [
            r#"metadata.labels[app.kubernetes.io/name] "info" "debug""#,
            "spec.replicas 2 3",
            r#"spec.template.spec.containers[main].env[LOG_LEVEL] "info" "debug""#,
        ]
    );
    // The order of what has a name says nothing; what is new is told by its fields.
    after = deployment(2, "info", "cart:1");
    let containers = after["spec"]["template"]["spec"]["containers"].as_array_mut();
    containers.unwrap().insert(
        0,
        json!({ "name": "proxy", "image": "envoy:1", "args": ["-v"] }),
    );
    assert_eq!(
        lines(&before, &after),
        [
            r#"spec.template.spec.containers[proxy].args - ["-v"]"#,
            r#"spec.template.spec.containers[proxy].image - "envoy:1""#,
        ]
    );
}

#[test]
fn what_a_secret_holds_is_hidden_and_what_changed_is_not() {
    let secret = |token: &str| {
        json!({
            "apiVersion": "v1", "kind": "Secret",
            "metadata": { "name": "a", "annotations": { "copy": token } },
            "data": { "token": token, "user": "same" },
            "type": "Opaque",
        })
    };
    let told = lines(&secret("b25l"), &secret("dHdv"));
    assert_eq!(told, ["data.token * *", "metadata.annotations.copy * *"]);
    let mut without = secret("b25l");
    without.as_object_mut().unwrap().remove("data");
    assert_eq!(
        lines(&without, &secret("b25l")),
        ["data.token - *", "data.user - *"]
    );
}

#[test]
fn lists_without_names_are_compared_by_place_and_plain_ones_whole() {
    let before = json!({ "a": ["x", "y"], "b": [{ "from": 1 }, { "from": 2 }], "c": {} });
    let after = json!({ "a": ["x"], "b": [{ "from": 1 }], "c": { "d": [] } });
    assert_eq!(
        lines(&before, &after),
        [r#"a ["x","y"] ["x"]"#, "b[1].from 2 -", r#"c {} {"d":[]}"#]
    );
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0..3_i64).prop_map(Value::from),
        "[ab]{0,2}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("(name|value|a|b\\.c)", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_equal_has_no_changes_and_a_change_is_none_of_equals(
        before in any_value(), after in any_value(),
    ) {
        prop_assert!(changes(&before, &before).is_empty());
        for change in changes(&before, &after) {
            prop_assert_ne!(change.before, change.after);
        }
    }
}
