//! What runs, among objects: where its pods are in it, and what they are selected by.

use serde_json::Value;

/// Kinds that run pods, each with the way to the template of these.
const WORKLOADS: [(&str, &str); 2] = [
    ("Deployment", "/spec/template"),
    ("CronJob", "/spec/jobTemplate/spec/template"),
];

/// The way to the template of pods, in an object that runs them.
pub(super) fn way(object: &Value) -> Option<&'static str> {
    let mut known = WORKLOADS.iter();
    let found = known.find(|(kind, _)| object["kind"] == *kind);
    found.map(|(_, way)| *way)
}

/// The template of the pods that an object runs.
pub(super) fn of(object: &Value) -> Option<&Value> {
    object.pointer(way(object)?)
}
