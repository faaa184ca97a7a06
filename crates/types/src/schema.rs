//! Schema fragments that the derive macros cannot express.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

/// The planes of an environment that objects may be for; the first is meant where nothing is said.
pub(crate) const TARGET_PLANES: [&str; 2] = ["dataplane", "observabilityplane"];

/// What a name may look like that is also part of host names.
pub(crate) const DNS_LABEL: &str = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";

/// A field that may hold anything: no `type`, so that a string and an object are both accepted.
pub(crate) fn anything(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "x-kubernetes-preserve-unknown-fields": true })
}

/// An object whose fields are not ours to know.
pub(crate) fn any_object(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true })
}

/// A list of objects whose fields are not ours to know.
pub(crate) fn list_of_objects(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": any_object(generator) })
}

/// Objects whose fields are not ours to know, each under a name.
pub(crate) fn objects_by_name(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object", "additionalProperties": any_object(generator) })
}

/// A whole Kubernetes object, owned and replaced as one piece, so that ownership records stay small.
pub(crate) fn whole_object(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "x-kubernetes-preserve-unknown-fields": true,
        "x-kubernetes-map-type": "atomic",
    })
}

/// Status conditions: one per type, each of which may have its own writer.
pub(crate) fn conditions(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
        "items": {
            "type": "object",
            "required": ["lastTransitionTime", "message", "reason", "status", "type"],
            "properties": {
                "type": {
                    "type": "string",
                    "description": "What is judged.",
                    "maxLength": 316,
                },
                "status": {
                    "type": "string",
                    "description": "Whether it holds.",
                    "enum": ["True", "False", "Unknown"],
                },
                "observedGeneration": {
                    "type": "integer",
                    "format": "int64",
                    "minimum": 0,
                    "description": "The generation of the object that was judged.",
                },
                "lastTransitionTime": {
                    "type": "string",
                    "format": "date-time",
                    "description": "When the status last changed.",
                },
                "reason": {
                    "type": "string",
                    "description": "Why, for machines.",
                    "maxLength": 1024,
                },
                "message": {
                    "type": "string",
                    "description": "Why, for people.",
                    "maxLength": 32768,
                },
            },
        },
    })
}

/// A time as RFC 3339 text.
pub(crate) fn time(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "format": "date-time" })
}

/// CEL rules with the words that a person sees when one is broken.
pub(crate) fn rules(rules: &[(&str, &str)]) -> Value {
    rules
        .iter()
        .map(|(rule, message)| json!({ "rule": rule, "message": message }))
        .collect()
}
