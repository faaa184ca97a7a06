//! A sequence of writes once more, with our code.

use std::collections::BTreeMap;

use quadrille_machinery::{
    managed::{self, Resets, SameShape, Write},
    patch,
    schema::Schema,
    structural,
};
use serde_json::{Value, json};

use super::sequence::KIND;

/// Replays a sequence with our code and compares step by step.
pub(super) fn difference(sequence: &Value, answer: &Value) -> Option<String> {
    let Some(expected) = answer.as_array() else {
        return Some(format!("the oracle answers {answer}"));
    };
    let replay = Replay::new(sequence);
    let mut live: Option<Value> = None;
    let writes = sequence["writes"].as_array().map_or(&[][..], Vec::as_slice);
    for (at, write) in writes.iter().enumerate() {
        let ours = replay.write(write, live.as_ref());
        if let Some(difference) = ours.difference(&expected[at]) {
            return Some(format!("write {at}: {difference}"));
        }
        if let Some(mut object) = ours.object {
            if object["metadata"].get("uid").is_none() {
                object["metadata"]["uid"] = json!("u");
            }
            live = Some(object);
        }
    }
    None
}

struct Replay {
    phases: Vec<Vec<(String, Schema)>>,
    reset: Resets,
}

impl Replay {
    fn new(sequence: &Value) -> Self {
        let phases = sequence["versions"].as_array().into_iter().flatten();
        let schemas = phases.map(|versions| {
            let versions: BTreeMap<_, _> = versions.as_object().into_iter().flatten().collect();
            versions
                .into_iter()
                .map(|(name, schema)| (name.clone(), structural::schema(Some(schema))))
                .collect()
        });
        let mut reset = Resets::none();
        for (version, paths) in sequence["reset"].as_object().into_iter().flatten() {
            let paths: Vec<Vec<&str>> = paths
                .as_array()
                .into_iter()
                .flatten()
                .map(|path| {
                    let parts = path.as_array().into_iter().flatten();
                    parts.filter_map(Value::as_str).collect()
                })
                .collect();
            let paths: Vec<&[&str]> = paths.iter().map(Vec::as_slice).collect();
            reset = reset.with(version, &paths);
        }
        Self {
            phases: schemas.collect(),
            reset,
        }
    }

    fn write(&self, asked: &Value, live: Option<&Value>) -> Done {
        let text = |field: &str| asked[field].as_str().unwrap_or_default();
        let phase = asked["phase"].as_u64().unwrap_or_default();
        let versions = &self.phases[usize::try_from(phase).unwrap_or_default()];
        let versions = SameShape {
            versions: versions
                .iter()
                .map(|(name, schema)| (name.as_str(), schema.root()))
                .collect(),
        };
        let api_version = text("apiVersion");
        let blank = managed::blank_custom(api_version, KIND);
        let write = Write {
            manager: text("manager"),
            api_version,
            kind: KIND,
            subresource: text("subresource"),
            now: "2026-01-01T00:00:00Z",
            versions: &versions,
            reset: &self.reset,
            blank: &blank,
        };
        let live = live.map(|live| {
            let mut live = live.clone();
            live["apiVersion"] = json!(api_version);
            live
        });
        let body = &asked["body"];
        let current = live.as_ref().unwrap_or(&blank);
        let new = match text("verb") {
            "apply" => {
                let force = asked["force"] == true;
                return match managed::apply(live.as_ref(), body, &write, force) {
                    Ok(applied) => Done::of(applied.object),
                    Err(error) => Done {
                        object: None,
                        error: Some(error.to_string()),
                        status: Some(error.status().to_value()),
                    },
                };
            }
            "merge" => patch::merge(current, body.to_string().as_bytes(), false),
            "json" => patch::json(current, body.to_string().as_bytes(), false),
            _ => Ok(patch::Patched {
                value: body.clone(),
                strict: Vec::new(),
            }),
        };
        let new = match new {
            Ok(patched) => patched.value,
            Err(status) => {
                return Done {
                    object: None,
                    error: Some(status.message),
                    status: None,
                };
            }
        };
        let error = managed::try_update(live.as_ref(), new.clone(), &write).err();
        Done {
            object: Some(managed::update(live.as_ref(), new, &write)),
            error: error.map(|error| error.to_string()),
            status: None,
        }
    }
}

/// What a write did.
struct Done {
    object: Option<Value>,
    error: Option<String>,
    status: Option<Value>,
}

impl Done {
    fn of(object: Value) -> Self {
        Self {
            object: Some(object),
            error: None,
            status: None,
        }
    }

    fn difference(&self, expected: &Value) -> Option<String> {
        let refused = expected.get("error").and_then(Value::as_str);
        if refused.is_some() != self.error.is_some() {
            return Some(format!("error {refused:?}, ours {:?}", self.error));
        }
        let wanted = expected.get("object").map(normal);
        let got = self.object.as_ref().map(normal);
        if wanted != got {
            let shown = |object: Option<Value>| object.unwrap_or_default();
            return Some(format!("object {}\n    ours {}", shown(wanted), shown(got)));
        }
        let (Some(wanted), Some(got)) = (expected.get("status"), &self.status) else {
            return None;
        };
        let judged = |status: &Value| {
            let mut causes = status["details"]["causes"]
                .as_array()
                .cloned()
                .unwrap_or_default();
            causes.sort_by_key(Value::to_string);
            (status["code"].clone(), status["reason"].clone(), causes)
        };
        (judged(wanted) != judged(got)).then(|| format!("status {wanted}\n    ours {got}"))
    }
}

/// An object without what is nobody's contract: times, the order of managers, how a whole number is written.
fn normal(object: &Value) -> Value {
    let mut object = object.clone();
    whole_numbers(&mut object);
    object["apiVersion"] = json!("-");
    if let Some(Value::Array(entries)) = object.pointer_mut("/metadata/managedFields") {
        for entry in entries
            .iter_mut()
            .filter(|entry| entry.get("time").is_some())
        {
            entry["time"] = json!("-");
        }
        entries.sort_by_key(Value::to_string);
    }
    object
}

/// Writes `1.0` as `1`.
pub(super) fn whole_numbers(value: &mut Value) {
    match value {
        Value::Number(number) => {
            let whole = number.as_f64().filter(|number| number.fract() == 0.0);
            if let Some(whole) = whole {
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "small numbers, chosen above"
                )]
                let whole = whole as i64;
                *value = json!(whole);
            }
        }
        Value::Array(entries) => entries.iter_mut().for_each(whole_numbers),
        Value::Object(fields) => fields.values_mut().for_each(whole_numbers),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}
