//! One created object of many built-in kinds: what its creator owns.

use quadrille_apiserver::kinds;
use quadrille_machinery::managed::{OneSchema, Resets, Write, blank_builtin, try_update};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Created {
    plural: String,
    object: Value,
    fields: Value,
}

/// What admission and storage add after ownership was looked at.
const ADDED_LATER: &[(&str, &[&str])] = &[
    (
        "Pod",
        &[
            "/spec/preemptionPolicy",
            "/spec/priority",
            "/spec/tolerations",
        ],
    ),
    ("Namespace", &["/spec/finalizers"]),
    ("PersistentVolumeClaim", &["/metadata/finalizers"]),
    ("PersistentVolume", &["/metadata/finalizers"]),
];

/// Compares the owned fields of every object.
pub(crate) fn compare_all(cases: &str) {
    let cases: Vec<Created> = serde_json::from_str(cases).unwrap();
    let mut wrong = Vec::new();
    for mut case in cases {
        let text = |name: &str| case.object[name].as_str().unwrap().to_owned();
        let (api_version, kind) = (text("apiVersion"), text("kind"));
        for (_, pointers) in ADDED_LATER.iter().filter(|(known, _)| *known == kind) {
            for pointer in *pointers {
                remove(&mut case.object, pointer);
            }
        }
        let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
        let schema = kinds::load().schema(group, version, &kind).unwrap();
        let has_status = schema.root().property("status").is_some();
        let write = Write {
            manager: "creator",
            api_version: &api_version,
            kind: &kind,
            subresource: "",
            now: "2020-01-01T00:00:00Z",
            versions: &OneSchema {
                api_version: &api_version,
                schema: schema.root(),
            },
            reset: &Resets::builtin(group, &case.plural, "", has_status),
            blank: &blank_builtin(schema.root(), &api_version, &kind),
        };
        let tracked = try_update(None, case.object, &write).unwrap();
        let fields = &tracked["metadata"]["managedFields"][0]["fieldsV1"];
        if *fields != case.fields {
            wrong.push(format!("{kind}\n  ours {fields}\n  real {}", case.fields));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn remove(object: &mut Value, pointer: &str) {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    if let Some(Value::Object(fields)) = object.pointer_mut(parent) {
        fields.remove(name);
    }
}
