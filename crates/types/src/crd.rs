//! From a Rust kind to the definition that a Kubernetes API server installs.
//!
//! The derive macro writes the bulk; here is what it cannot know. An optional field is one that may be
//! left out, not one that may be null. A spec that demands nothing may itself be left out.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::CustomResourceExt;
use serde_json::{Map, Value, json};

/// The finished definition of one kind.
pub(crate) fn of<K: CustomResourceExt>() -> CustomResourceDefinition {
    let mut document = document(&K::crd());
    let versions = document["spec"]["versions"].as_array_mut();
    for version in versions.into_iter().flatten() {
        add_usual_columns(version);
        let schema = &mut version["schema"]["openAPIV3Schema"];
        forbid_null(schema);
        let spec = &schema["properties"]["spec"];
        let spec_demands_something = ["required", "x-kubernetes-validations"]
            .iter()
            .any(|demand| spec.get(demand).is_some());
        if let Some(root) = schema.as_object_mut() {
            root.remove("title");
            if !spec_demands_something {
                root.remove("required");
            }
        }
    }
    serde_json::from_value(document).expect("a definition stays one when its schema is tidied")
}

/// Every table says whether an object is well, and how old it is: after the columns of its kind, and before those that
/// only a wide table has. A kind whose tables have always had them elsewhere says so itself.
fn add_usual_columns(version: &mut Value) {
    let Value::Array(columns) = version
        .as_object_mut()
        .expect("a version is an object")
        .entry("additionalPrinterColumns")
        .or_insert_with(|| json!([]))
    else {
        return;
    };
    let wide = columns
        .iter()
        .position(|column| column.get("priority").is_some());
    let at = wide.unwrap_or(columns.len());
    let ready = ".status.conditions[?(@.type=='Ready')].status";
    let age = ".metadata.creationTimestamp";
    let usual = [
        json!({ "name": "Ready", "type": "string", "jsonPath": ready }),
        json!({ "name": "Age", "type": "date", "jsonPath": age }),
    ];
    let is_told = |column: &Value| columns.iter().any(|own| own["name"] == column["name"]);
    let missing: Vec<Value> = usual.into_iter().filter(|one| !is_told(one)).collect();
    columns.splice(at..at, missing);
}

/// A definition as a JSON document with its `apiVersion` and `kind`.
pub(crate) fn document(crd: &CustomResourceDefinition) -> Value {
    let mut document = serde_json::to_value(crd).expect("a definition is plain JSON");
    write_whole_numbers_whole(&mut document);
    document
}

/// Bounds are floating point in the Rust type; `1.0` reads `1` everywhere else.
fn write_whole_numbers_whole(value: &mut Value) {
    match value {
        Value::Number(number) => {
            #[allow(
                clippy::cast_possible_truncation,
                reason = "only taken where it loses nothing"
            )]
            let whole = number.as_f64().map(|float| (float, float as i64));
            if let Some((float, whole)) = whole
                && number.is_f64()
                && format!("{float}") == whole.to_string()
            {
                *number = whole.into();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(write_whole_numbers_whole),
        Value::Object(fields) => fields.values_mut().for_each(write_whole_numbers_whole),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// Takes `nullable` out of a schema and all schemas below it. A property may be *called* `nullable`, so
/// maps of properties are descended into, not searched.
fn forbid_null(schema: &mut Value) {
    let Value::Object(schema) = schema else {
        return;
    };
    schema.remove("nullable");
    for_each_below(schema, &mut forbid_null);
}

fn for_each_below(schema: &mut Map<String, Value>, visit: &mut dyn FnMut(&mut Value)) {
    for key in ["items", "additionalProperties", "not"] {
        if let Some(below) = schema.get_mut(key) {
            visit(below);
        }
    }
    for key in ["allOf", "anyOf", "oneOf"] {
        for below in schema
            .get_mut(key)
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
        {
            visit(below);
        }
    }
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for below in properties.into_iter().flat_map(Map::values_mut) {
        visit(below);
    }
}
