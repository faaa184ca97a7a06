//! Objects are refused as by a real server: `builtin/invalid.jsonl` holds new objects and merge patches, and the
//! causes that kube-apiserver 1.36.3 gave. Values that a server shows in its internal form are left out, and
//! so are differences that it prints line by line.

#![allow(clippy::unwrap_used, clippy::panic)] // a test may; its helpers too

use quadrille_apiserver::kinds;
use quadrille_machinery::{
    builtin::{self, validation},
    decode,
    field_error::FieldError,
};
use serde_json::{Value, json};

const RECORDED: &str = include_str!("builtin/invalid.jsonl");

fn schema_of(object: &Value) -> (String, String, quadrille_machinery::schema::Schema) {
    let api_version = object["apiVersion"]
        .as_str()
        .expect("the recorded case is whole");
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let kind = object["kind"].as_str().expect("the recorded case is whole");
    let schema = kinds::load()
        .schema(group, version, kind)
        .expect("the recorded case is whole");
    (group.to_owned(), kind.to_owned(), schema)
}

fn created(input: &Value) -> Vec<FieldError> {
    let (group, kind, schema) = schema_of(input);
    let mut object = input.clone();
    decode::conform(schema.root(), &mut object).expect("the recorded case is whole");
    let resources = &kinds::load().resources;
    let namespaced = resources
        .iter()
        .any(|resource| resource.kind == kind && resource.namespaced);
    if namespaced {
        object["metadata"]["namespace"] = json!("fix");
    }
    object["metadata"]["uid"] = json!("UID");
    builtin::complete_new(schema.root(), &group, &kind, &mut object, "now");
    validation::validate_create(&kind, namespaced, &object)
}

fn updated(old: &Value, patch: &Value) -> Vec<FieldError> {
    let (group, kind, schema) = schema_of(old);
    let mut new = old.clone();
    merge(&mut new, patch);
    decode::conform(schema.root(), &mut new).expect("the recorded case is whole");
    builtin::admission::admit_update(&group, &kind, &mut new, old);
    builtin::complete_update(schema.root(), &kind, &mut new, old);
    validation::validate_update(&kind, &new, old)
}

fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(fields) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = json!({});
    }
    for (name, value) in fields {
        if value.is_null() {
            target
                .as_object_mut()
                .expect("the recorded case is whole")
                .remove(name);
        } else {
            merge(&mut target[name], value);
        }
    }
}

/// A whole template that may not change was left out of the recordings.
fn briefly(message: &str) -> String {
    let is_template = message.starts_with("Invalid value: {\"metadata\":{\"labels\"");
    match message.strip_suffix("}: field is immutable") {
        Some(_) if is_template => "Invalid value: field is immutable".to_owned(),
        _ => message.to_owned(),
    }
}

#[test]
fn objects_are_refused_for_the_causes_that_a_real_server_gives() {
    let mut different = Vec::new();
    let mut checked = 0;
    for line in RECORDED.lines() {
        let recorded: Value = serde_json::from_str(line).expect("the recorded case is whole");
        let errors = match recorded.get("in") {
            Some(input) => created(input),
            None => updated(&recorded["old"], &recorded["patch"]),
        };
        let causes: Vec<Value> = errors
            .iter()
            .map(|error| json!([error.kind.reason(), briefly(&error.message()), error.field]))
            .collect();
        checked += 1;
        if json!(causes) != recorded["causes"] {
            let what = recorded.get("in").unwrap_or(&recorded["patch"]);
            let lines = |causes: &[Value]| {
                let lines: Vec<String> = causes.iter().map(ToString::to_string).collect();
                format!("\n      {}", lines.join("\n      "))
            };
            different.push(format!(
                "{what}\n  real:{}\n  ours:{}",
                lines(
                    recorded["causes"]
                        .as_array()
                        .expect("the recorded case is whole")
                ),
                lines(&causes)
            ));
        }
    }
    assert!(checked > 400, "only {checked} recordings");
    assert!(
        different.is_empty(),
        "{}\n{}",
        different.len(),
        different.join("\n")
    );
}
