//! Patches of built-in kinds and of a custom resource, compared with what kube-apiserver 1.36.3 answered to
//! the same patches of the same objects (as dry runs).

#![allow(clippy::unwrap_used, clippy::panic)] // a test may; its helpers too

use std::{fs, path::PathBuf};

use quadrille_apiserver::kinds;
use quadrille_machinery::{
    decode,
    patch::{self, Patched},
    schema::Schema,
    status::Status,
};
use serde_json::{Map, Value, json};

/// Fields that a server fills in where a patch adds an object.
const DEFAULTED: [&str; 6] = [
    "imagePullPolicy",
    "resources",
    "terminationMessagePath",
    "terminationMessagePolicy",
    "protocol",
    "defaultMode",
];

fn recorded() -> Value {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cases/patches.json");
    serde_json::from_str(&fs::read_to_string(file).expect("a recorded case"))
        .expect("a recorded case")
}

/// The schema of a built-in kind; none for a custom resource.
fn schema(object: &Value) -> Option<Schema> {
    let version = object["apiVersion"].as_str().expect("a recorded case");
    let (group, version) = version.split_once('/').unwrap_or(("", version));
    kinds::load().schema(
        group,
        version,
        object["kind"].as_str().expect("a recorded case"),
    )
}

fn apply(case: &Value, object: &Value, schema: Option<&Schema>) -> Result<Patched, Status> {
    let bytes = case["patch"].as_str().expect("a recorded case").as_bytes();
    let checked = case["validation"] != "Ignore";
    match (case["type"].as_str().expect("a recorded case"), schema) {
        ("json", _) => patch::json(object, bytes, checked),
        ("merge", _) => patch::merge(object, bytes, checked),
        (_, Some(schema)) => patch::strategic(object, bytes, schema.root(), checked),
        (_, None) => Err(patch::strategic::unsupported()),
    }
}

/// The object that the server answered with: the one before, with these changes.
fn expected(before: &Value, changes: &Map<String, Value>) -> Value {
    let mut after = before.clone();
    for (path, value) in changes {
        let (parent, name) = path.rsplit_once('/').expect("a recorded case");
        let name = name.replace("~1", "/").replace("~0", "~");
        let parent = after
            .pointer_mut(parent)
            .expect("a recorded case")
            .as_object_mut()
            .expect("a recorded case");
        match value {
            Value::Null => parent.remove(&name),
            value => parent.insert(name, value.clone()),
        };
    }
    after
}

/// Whether two values are equal but for defaults that the server has filled in.
fn equal(ours: &Value, real: &Value) -> bool {
    match (ours, real) {
        (Value::Object(ours), Value::Object(real)) => {
            ours.iter()
                .all(|(name, value)| real.get(name).is_some_and(|real| equal(value, real)))
                && real
                    .keys()
                    .all(|name| ours.contains_key(name) || DEFAULTED.contains(&name.as_str()))
        }
        (Value::Array(ours), Value::Array(real)) => {
            ours.len() == real.len() && ours.iter().zip(real).all(|(ours, real)| equal(ours, real))
        }
        _ => ours == real,
    }
}

/// What is wrong with our outcome; nothing if it is the recorded one.
fn complaint(case: &Value, object: &Value) -> Option<String> {
    let schema = schema(object);
    let outcome = apply(case, object, schema.as_ref());
    if let Some(changes) = case["changes"].as_object() {
        let mut patched = match outcome {
            Ok(patched) => patched,
            Err(status) => return Some(format!("refused: {status}")),
        };
        let mut warnings = decode::warnings(&patched.strict);
        let mut real = expected(object, changes);
        if let Some(schema) = &schema {
            match decode::conform(schema.root(), &mut patched.value) {
                Ok(strict) => warnings.extend(decode::warnings(&strict)),
                Err(error) => return Some(format!("cannot be decoded: {error}")),
            }
            decode::conform(schema.root(), &mut real).expect("a recorded case");
        }
        let quoted: Vec<_> = warnings
            .iter()
            .map(|text| json!(text).to_string())
            .collect();
        let told = case.get("warnings").cloned().unwrap_or(json!([]));
        if json!(quoted) != told {
            return Some(format!("warns {quoted:?}, not {told}"));
        }
        return (!equal(&patched.value, &real)).then(|| format!("{}\nnot\n{real}", patched.value));
    }
    match (outcome, case["code"].as_u64().expect("a recorded case")) {
        (Ok(patched), _) if case["refused_later"] == true => {
            let root = schema.as_ref().map(Schema::root)?;
            let words = patch::strategic::mistyped(&patched.value, root);
            let told = case["mistyped"].as_str();
            (case["type"] == "strategic" && words.as_deref() != told)
                .then(|| format!("{words:?}, not {told:?}"))
        }
        (Err(status), 0) if status.code == 500 => None,
        (Ok(patched), _) => Some(format!("accepted: {}", patched.value)),
        (Err(status), code) => {
            let ours = status.to_value();
            let differs = ["message", "reason", "details"]
                .iter()
                .any(|field| ours.get(field) != case.get(field));
            (differs || u64::from(status.code) != code).then(|| ours.to_string())
        }
    }
}

#[test]
fn patches_do_what_a_real_server_does() {
    let recorded = recorded();
    let cases = recorded["cases"].as_array().expect("a recorded case");
    let complaints: Vec<_> = cases
        .iter()
        .filter_map(|case| {
            let object = &recorded["objects"][case["object"].as_str().expect("a recorded case")];
            let complaint = complaint(case, object)?;
            Some(format!("{} {}: {complaint}", case["type"], case["why"]))
        })
        .collect();
    assert!(cases.len() > 150);
    assert!(
        complaints.is_empty(),
        "{} of {}:\n{}",
        complaints.len(),
        cases.len(),
        complaints.join("\n")
    );
}
