//! One recorded case and its replay.

use std::collections::BTreeMap;

use quadrille_apiserver::kinds;
use quadrille_machinery::managed::{
    Resets, SameShape, Write, apply, blank_builtin, blank_custom, update,
};
use quadrille_machinery::schema::{Schema, Schemas};
use serde::Deserialize;
use serde_json::{Value, json};

use super::schema::node_of;

/// A recorded life of one object.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Case {
    api_version: String,
    kind: String,
    /// The schemas of a custom resource by version; built-in kinds have theirs.
    #[serde(default)]
    schemas: BTreeMap<String, Value>,
    steps: Vec<Step>,
}

/// One write.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Step {
    #[serde(rename = "do")]
    verb: String,
    manager: String,
    #[serde(default)]
    subresource: String,
    #[serde(default)]
    force: bool,
    /// The writer sends an empty list of managers.
    #[serde(default)]
    forget: bool,
    /// The configuration of an apply.
    body: Option<Value>,
    /// The object of any other write when ownership was looked at, if that is not what was stored.
    written: Option<Value>,
    /// What was stored, without `managedFields`.
    stored: Option<Value>,
    /// `managedFields`, with numbers for times.
    owners: Option<Value>,
    /// The refusal of an apply.
    refused: Option<Value>,
}

impl Case {
    /// Replays every step and compares who owns what.
    pub(crate) fn replay(&self) {
        let mut schemas = Schemas::default();
        let custom: Vec<_> = self
            .schemas
            .iter()
            .map(|(version, schema)| (version.as_str(), node_of(schema, &mut schemas)))
            .collect();
        let builtin = self.builtin_schema();
        let blank = match &builtin {
            Some(schema) => blank_builtin(schema.root(), &self.api_version, &self.kind),
            None => blank_custom(&self.api_version, &self.kind),
        };
        let versions = match &builtin {
            Some(schema) => vec![(self.api_version.as_str(), schema.root())],
            None => custom
                .iter()
                .map(|(version, id)| (*version, schemas.at(*id)))
                .collect(),
        };
        let shapes = SameShape { versions };
        let mut live: Option<Value> = None;
        for (at, step) in self.steps.iter().enumerate() {
            let resets = self.resets(&step.subresource, builtin.is_some());
            let now = format!("2020-01-01T00:00:{at:02}Z");
            let write = Write {
                manager: &step.manager,
                api_version: &self.api_version,
                kind: &self.kind,
                subresource: &step.subresource,
                now: &now,
                versions: &shapes,
                reset: &resets,
                blank: &blank,
            };
            live = Some(step.replay(at, live.as_ref(), &write));
        }
    }

    fn builtin_schema(&self) -> Option<Schema> {
        if !self.schemas.is_empty() {
            return None;
        }
        let (group, version) = self
            .api_version
            .split_once('/')
            .unwrap_or(("", &self.api_version));
        let schema = kinds::load().schema(group, version, &self.kind);
        Some(schema.expect("a built-in kind"))
    }

    fn resets(&self, subresource: &str, builtin: bool) -> Resets {
        let group = self
            .api_version
            .split_once('/')
            .map_or("", |(group, _)| group);
        let plural = format!("{}s", self.kind.to_lowercase());
        match (builtin, subresource) {
            (true, _) => Resets::builtin(group, &plural, subresource, self.kind != "ConfigMap"),
            (false, "") => Resets::custom(&self.api_version, true),
            (false, _) => Resets::custom_status(self.schemas.keys().map(String::as_str)),
        }
    }
}

impl Step {
    /// Replays the step; gives the object as it is stored then.
    fn replay(&self, at: usize, live: Option<&Value>, write: &Write<'_>) -> Value {
        let outcome = match &self.body {
            Some(body) => apply(live, body, write, self.force).map(|applied| applied.object),
            None => {
                let written = self
                    .written
                    .as_ref()
                    .or(self.stored.as_ref())
                    .expect("an object");
                let mut written = written.clone();
                // Clients send back what they have read.
                let entries = live.and_then(|live| live.pointer("/metadata/managedFields"));
                let entries = entries.filter(|_| !self.forget).cloned();
                let none = if self.forget { json!([]) } else { Value::Null };
                written["metadata"]["managedFields"] = entries.unwrap_or(none);
                Ok(update(live, written, write))
            }
        };
        if let Some(refused) = &self.refused {
            if refused["code"] == 422 {
                // Validation refused what ownership allowed.
                outcome.expect("an allowed write");
                return live.cloned().expect("an object to refuse a write to");
            }
            let status = outcome.expect_err("a refusal").status().to_value();
            for (field, value) in refused.as_object().expect("a Status") {
                let (ours, theirs) = (sorted(&status[field]), sorted(value));
                assert_eq!(ours, theirs, "step {at}: {field}");
            }
            return live.cloned().expect("an object to refuse a write to");
        }
        let object = outcome.unwrap_or_else(|error| panic!("step {at} {}: {error}", self.verb));
        let owners = object
            .pointer("/metadata/managedFields")
            .cloned()
            .unwrap_or(json!([]));
        let expected = self.owners.as_ref().expect("owners");
        assert_eq!(
            without_times(&owners),
            without_times(expected),
            "step {at}: owners"
        );
        assert_eq!(ranks(&owners), ranks(expected), "step {at}: times");
        let mut stored = self.stored.clone().expect("an object");
        if self.body.is_some() {
            assert_within(&object, &stored, &format!("step {at}"));
        }
        stored["metadata"]["managedFields"] = owners;
        stored
    }
}

/// A real server gives conflicts in any order of managers.
fn sorted(value: &Value) -> Value {
    let mut value = value.clone();
    if let Some(Value::Array(causes)) = value.get_mut("causes") {
        causes.sort_by_key(Value::to_string);
    }
    value
}

fn without_times(entries: &Value) -> Value {
    let mut entries = entries.clone();
    for entry in entries.as_array_mut().into_iter().flatten() {
        entry.as_object_mut().expect("an entry").remove("time");
    }
    entries
}

/// The order of the times of all entries; none for an entry without time.
fn ranks(entries: &Value) -> Vec<Option<usize>> {
    let times: Vec<_> = entries
        .as_array()
        .into_iter()
        .flatten()
        .map(|entry| {
            entry.get("time").map(|time| {
                time.as_u64()
                    .map_or_else(|| time.to_string(), |number| format!("{number:04}"))
            })
        })
        .collect();
    let mut sorted: Vec<_> = times.iter().flatten().collect();
    sorted.sort();
    sorted.dedup();
    let rank = |time: &String| sorted.iter().position(|known| *known == time);
    times
        .iter()
        .map(|time| time.as_ref().and_then(rank))
        .collect()
}

/// Everything that an apply made is in what was stored, which has defaults besides.
fn assert_within(part: &Value, whole: &Value, at: &str) {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => {
            for (name, value) in part {
                if ["managedFields", "generation"].contains(&name.as_str()) || value.is_null() {
                    continue;
                }
                let other = whole.get(name).unwrap_or(&Value::Null);
                let empty = value.as_object().is_some_and(serde_json::Map::is_empty)
                    || value.as_array().is_some_and(Vec::is_empty);
                if !(empty && other.is_null()) {
                    assert_within(value, other, &format!("{at}.{name}"));
                }
            }
        }
        (Value::Array(part), Value::Array(whole)) => {
            assert_eq!(part.len(), whole.len(), "{at}");
            for (at_entry, (part, whole)) in part.iter().zip(whole).enumerate() {
                assert_within(part, whole, &format!("{at}[{at_entry}]"));
            }
        }
        _ => assert_eq!(part, whole, "{at}"),
    }
}
