//! Names, label keys and values, accepted and refused.

use serde_json::json;

use super::*;

fn texts(errors: &[crate::field_error::FieldError]) -> Vec<String> {
    errors.iter().map(ToString::to_string).collect()
}

#[test]
fn names_are_judged_by_the_rule_of_their_kind() {
    assert!(name_is_subdomain("a.b-c.d", false).is_empty());
    assert!(name_is_label("a.b", false)[0].contains("must not contain dots"));
    assert!(!name_is_dns_1035_label("1a", false).is_empty());
    assert!(name_is_subdomain("web-", true).is_empty());
    assert!(!name_is_subdomain("web-", false).is_empty());
    assert_eq!(name_is_path_segment("..", false), ["may not be '..'"]);
    assert_eq!(
        name_is_path_segment("a/b%c", false),
        ["may not contain '/'", "may not contain '%'"]
    );
    assert!(dns_1123_label(&"a".repeat(64))[0].contains("no more than 63"));
}

#[test]
fn a_prefix_of_odd_letters_does_not_break_the_rule() {
    for text in ["ü-", "-", "", "é", "日本-"] {
        let _ = name_is_subdomain(text, true);
        let _ = generate(text, "abcde");
    }
}

#[test]
fn the_complaint_names_the_expression_and_examples() {
    assert_eq!(
        dns_1123_subdomain("A"),
        [
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
        ]
    );
}

#[test]
fn generated_names_are_cut_to_sixty_three_letters() {
    assert_eq!(generate(&"x".repeat(80), "abcde").len(), 63);
    assert_eq!(generate("web-", "abcde"), "web-abcde");
}

#[test]
fn metadata_errors_come_in_the_servers_order() {
    let meta = json!({
        "name": "UP", "namespace": "a.b", "generation": -1,
        "labels": {"a b": "c d"}, "annotations": {"x/y/z": ""},
        "ownerReferences": [{"apiVersion": "", "kind": "", "name": "", "uid": ""}],
        "finalizers": ["orphan", "foregroundDeletion"],
        "managedFields": [{"operation": "Eat", "fieldsType": "V2"}],
    });
    let errors = validate_object_meta(&meta, true, name_is_subdomain, "metadata");
    let fields: Vec<_> = errors.iter().map(|error| error.field.as_str()).collect();
    assert_eq!(
        fields,
        [
            "metadata.name",
            "metadata.namespace",
            "metadata.generation",
            "metadata.labels",
            "metadata.labels",
            "metadata.annotations",
            "metadata.ownerReferences.apiVersion",
            "metadata.ownerReferences.kind",
            "metadata.ownerReferences.name",
            "metadata.ownerReferences.uid",
            "metadata.finalizers",
            "metadata.managedFields[0].operation",
            "metadata.managedFields[0].fieldsType",
        ]
    );
}

#[test]
fn a_nameless_object_and_a_needless_namespace_are_refused() {
    let errors = validate_object_meta(&json!({}), false, name_is_subdomain, "metadata");
    assert_eq!(
        texts(&errors),
        ["metadata.name: Required value: name or generateName is required"]
    );
    let errors = validate_object_meta(
        &json!({"name": "a", "namespace": "b"}),
        false,
        name_is_subdomain,
        "metadata",
    );
    assert_eq!(
        texts(&errors),
        ["metadata.namespace: Forbidden: not allowed on this type"]
    );
}

#[test]
fn too_many_annotations_are_too_long() {
    let meta = json!({"name": "a", "annotations": {"k": "v".repeat(256 * 1024)}});
    let errors = validate_object_meta(&meta, false, name_is_subdomain, "metadata");
    assert_eq!(
        texts(&errors),
        ["metadata.annotations: Too long: may not be more than 262144 bytes"]
    );
}

#[test]
fn identity_may_not_change_on_update() {
    let old = json!({"name": "a", "uid": "1", "resourceVersion": "5", "deletionTimestamp": "2020-01-01T00:00:00Z", "finalizers": ["x/y"]});
    let new = json!({"name": "b", "uid": "1", "deletionTimestamp": "2020-01-01T00:00:00Z", "finalizers": ["x/y", "x/z"]});
    let errors = validate_object_meta_update(&new, &old, "metadata");
    assert_eq!(
        texts(&errors),
        [
            "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{\"x/z\"}",
            "metadata.resourceVersion: Invalid value: \"\": must be specified for an update",
            "metadata.name: Invalid value: \"b\": field is immutable",
        ]
    );
}

#[test]
fn two_controllers_are_one_too_many() {
    let reference = |name: &str| json!({"apiVersion": "v1", "kind": "Pod", "name": name, "uid": "u", "controller": true});
    let meta = json!({"name": "a", "ownerReferences": [reference("x"), reference("y")]});
    let errors = validate_object_meta(&meta, false, name_is_subdomain, "metadata");
    assert_eq!(errors.len(), 1);
    assert!(errors[0].detail.ends_with("references for Pod/x and Pod/y"));
}

#[test]
fn metadata_is_judged_as_by_a_real_server() {
    let cases: Vec<serde_json::Value> =
        serde_json::from_str(include_str!("../../tests/cases/object_meta.json")).unwrap();
    let found = |errors: &[crate::field_error::FieldError]| {
        let pairs = errors
            .iter()
            .map(|error| json!([error.field, error.message()]));
        pairs.collect::<serde_json::Value>()
    };
    for case in cases {
        let mut meta = case["meta"].clone();
        meta["namespace"] = json!("default");
        if let Some(prefix) = meta["generateName"].as_str() {
            meta["name"] = json!(generate(prefix, "abcde"));
        }
        let mut errors = validate_object_meta(&meta, true, name_is_subdomain, "metadata");
        assert_eq!(found(&errors), case["Widget"], "{meta}");
        errors.extend(validate_kube_finalizers(&meta, "metadata"));
        assert_eq!(found(&errors), case["ConfigMap"], "{meta}");
        if case["Widget"] != json!([]) {
            continue;
        }
        let warnings = finalizer_warnings(&meta, None);
        let wanted = case["WidgetWarnings"].as_array().map_or(0, Vec::len);
        assert_eq!(warnings.len(), wanted, "{meta}");
    }
}
