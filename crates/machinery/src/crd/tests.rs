//! Definitions defaulted, judged and served.

use serde_json::json;

use super::*;
use crate::field_error::FieldError;

fn causes(errors: &[FieldError]) -> Value {
    let cause = |error: &FieldError| json!([error.field, error.kind.reason(), error.message()]);
    errors.iter().map(cause).collect()
}

fn sorted(causes: &Value) -> Vec<String> {
    let mut texts: Vec<_> = causes
        .as_array()
        .into_iter()
        .flatten()
        .map(Value::to_string)
        .collect();
    texts.sort();
    texts
}

/// What decoding drops: fields that are null.
fn without_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(without_nulls);
        }
        Value::Array(entries) => entries.iter_mut().for_each(without_nulls),
        _ => {}
    }
}

#[test]
fn definitions_are_judged_as_by_a_real_server() {
    let cases: Vec<Value> =
        serde_json::from_str(include_str!("../../tests/cases/definitions.json")).unwrap();
    assert!(cases.len() > 70);
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let mut definition = case["definition"].clone();
        without_nulls(&mut definition);
        default(&mut definition);
        prepare_create(&mut definition);
        let errors = validate(&definition);
        let wanted = case.get("errors").cloned().unwrap_or(json!([]));
        assert_eq!(sorted(&causes(&errors)), sorted(&wanted), "{name}");
        if case.get("errors").is_none() {
            assert_eq!(definition["spec"], case["spec"], "{name}");
            assert_eq!(definition["status"], case["status"], "{name}");
            let found = json!(warnings(&definition, None));
            assert_eq!(
                found,
                case.get("warnings").cloned().unwrap_or(json!([])),
                "{name}"
            );
        }
    }
}

fn sample(plural: &str, kind: &str, short: &[&str]) -> Value {
    let mut definition = json!({
        "metadata": {"name": format!("{plural}.ex.io"), "resourceVersion": "1"},
        "spec": {
            "group": "ex.io", "scope": "Namespaced",
            "names": {"plural": plural, "kind": kind, "shortNames": short, "categories": ["all"]},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}],
        },
    });
    default(&mut definition);
    prepare_create(&mut definition);
    definition
}

const NOW: &str = "2026-11-15T10:03:22Z";

#[test]
fn free_names_are_accepted_and_the_definition_is_established() {
    let definition = sample("widgets", "Widget", &["w"]);
    let status = status_for(&definition, &UsedNames::default(), NOW);
    assert_eq!(
        status,
        json!({
            "conditions": [
                {"type": "NamesAccepted", "status": "True", "lastTransitionTime": NOW, "reason": "NoConflicts", "message": "no conflicts found"},
                {"type": "Established", "status": "True", "lastTransitionTime": NOW, "reason": "InitialNamesAccepted", "message": "the initial names have been accepted"},
            ],
            "acceptedNames": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList", "shortNames": ["w"], "categories": ["all"]},
            "storedVersions": ["v1"],
        })
    );
}

#[test]
fn taken_names_are_refused_and_the_last_conflict_is_told() {
    let mut first = sample("widgets", "Widget", &[]);
    first["status"] = status_for(&first, &UsedNames::default(), NOW);
    let mut used = UsedNames::default();
    used.add(&first, "ex.io");
    let mut second = sample("wodgets", "Widget", &["widgets", "wo"]);
    second["spec"]["names"]["singular"] = json!("widget");
    let status = status_for(&second, &used, NOW);
    assert_eq!(
        status,
        json!({
            "conditions": [
                {"type": "NamesAccepted", "status": "False", "lastTransitionTime": NOW, "reason": "ListKindConflict", "message": "\"WidgetList\" is already in use"},
                {"type": "Established", "status": "False", "lastTransitionTime": NOW, "reason": "NotAccepted", "message": "not all names are accepted"},
            ],
            "acceptedNames": {"plural": "wodgets", "kind": "", "categories": ["all"]},
            "storedVersions": ["v1"],
        })
    );
}

#[test]
fn a_definition_in_a_protected_group_says_whether_it_is_approved() {
    let mut definition = sample("widgets", "Widget", &[]);
    definition["spec"]["group"] = json!("gateway.networking.k8s.io");
    definition["metadata"]["annotations"] =
        json!({"api-approved.kubernetes.io": "https://example.com/pull/1"});
    let status = status_for(&definition, &UsedNames::default(), NOW);
    let last = status["conditions"].as_array().unwrap().last().unwrap();
    assert_eq!(last["message"], "approved in https://example.com/pull/1");
}

#[test]
fn names_and_scope_of_an_established_definition_are_immutable() {
    let mut old = sample("widgets", "Widget", &[]);
    old["status"] = status_for(&old, &UsedNames::default(), NOW);
    let mut new = old.clone();
    new["spec"]["scope"] = json!("Cluster");
    new["spec"]["names"]["kind"] = json!("Gadget");
    new["spec"]["versions"][0]["name"] = json!("v2");
    prepare_update(&mut new, &old);
    let fields: Vec<_> = validate_update(&new, &old)
        .into_iter()
        .map(|error| error.field)
        .collect();
    assert_eq!(
        fields,
        ["spec.scope", "spec.names.kind", "status.storedVersions[0]"]
    );
}

#[test]
fn a_version_knows_its_schema_columns_and_subresources() {
    let mut definition = sample("widgets", "Widget", &[]);
    definition["spec"]["versions"][0] = json!({
        "name": "v1", "served": true, "storage": true, "deprecated": true,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object"}}}},
        "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"}},
        "additionalPrinterColumns": [{"name": "A", "type": "string", "jsonPath": ".spec.a"}],
        "selectableFields": [{"jsonPath": ".spec.a"}],
    });
    let versions = versions(&definition, |index| {
        let version = &definition["spec"]["versions"][index];
        crate::structural::schema(version.pointer("/schema/openAPIV3Schema"))
    });
    let [version] = &versions[..] else {
        panic!("one version");
    };
    assert!(version.served && version.storage && version.status);
    assert_eq!(
        version.deprecation.as_deref(),
        Some("ex.io/v1 Widget is deprecated")
    );
    assert_eq!(version.columns[0].json_path, ".spec.a");
    assert_eq!(version.selectable_fields, [".spec.a"]);
    let metadata = version.schema.root().property("metadata").unwrap();
    let owners = metadata.property("ownerReferences").unwrap();
    assert_eq!(
        owners.node().list_type,
        crate::schema::ListType::Map(vec!["uid".into()])
    );
}
