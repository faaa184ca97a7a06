//! TEMPORARY: what machinery does not have yet.
#![allow(missing_docs, dead_code, unused_variables)]
pub(crate) mod patch {
    use quadrille_machinery::{schema::SchemaRef, status::Status};
    use serde_json::Value;
    pub(crate) fn json(object: &Value, patch: &[u8]) -> Result<Value, Status> { Err(Status::internal("gap")) }
    pub(crate) fn merge(object: &Value, patch: &[u8]) -> Result<Value, Status> { Err(Status::internal("gap")) }
    pub(crate) fn strategic(object: &Value, patch: &[u8], schema: SchemaRef<'_>) -> Result<Value, Status> { Err(Status::internal("gap")) }
}
pub(crate) mod crd {
    use quadrille_machinery::schema::Schema;
    use serde_json::{Value, json};
    pub(crate) struct CustomVersion { pub name: String, pub served: bool, pub storage: bool, pub schema: Schema, pub status: bool, pub scale: Option<()> }
    pub(crate) fn versions(crd: &Value) -> Vec<CustomVersion> {
        crd["spec"]["versions"].as_array().into_iter().flatten().map(|v| CustomVersion {
            name: v["name"].as_str().unwrap_or("").into(), served: v["served"] == true, storage: v["storage"] == true,
            schema: quadrille_machinery::structural::schema(v["schema"].get("openAPIV3Schema")),
            status: v["subresources"]["status"].is_object(), scale: v["subresources"]["scale"].is_object().then_some(()),
        }).collect()
    }
    pub(crate) fn status_for(crd: &Value, others: &[Value], now: &str) -> Value {
        let mut status = crd["status"].clone();
        if status["conditions"].as_array().is_none_or(Vec::is_empty) {
            let names = &crd["spec"]["names"];
            let mut accepted = names.clone();
            if accepted["listKind"].is_null() { accepted["listKind"] = json!(format!("{}List", names["kind"].as_str().unwrap_or(""))); }
            if accepted["singular"].is_null() { accepted["singular"] = json!(names["kind"].as_str().unwrap_or("").to_lowercase()); }
            status = json!({"acceptedNames": accepted, "conditions": [
              {"type":"NamesAccepted","status":"True","reason":"NoConflicts","message":"no conflicts found","lastTransitionTime":now},
              {"type":"Established","status":"True","reason":"InitialNamesAccepted","message":"the initial names have been accepted","lastTransitionTime":now}],
              "storedVersions": crd["spec"]["versions"].as_array().into_iter().flatten().filter(|v| v["storage"]==true).map(|v| v["name"].clone()).collect::<Value>()});
        }
        status
    }
}
pub(crate) mod table {
    use serde_json::{Value, json};
    pub(crate) struct Column(String); impl Column { pub(crate) fn to_value(&self) -> Value { json!({"name": self.0, "type": "string", "format": "name", "description": "", "priority": 0}) } }
    pub(crate) mod builtin {
        use super::*;
        pub(crate) fn columns(api_version: &str, kind: &str) -> Vec<Column> { vec![Column("Name".into())] }
        pub(crate) fn row(api_version: &str, kind: &str, object: &Value, now: jiff::Timestamp) -> Value { json!({"cells": [object["metadata"]["name"]]}) }
    }
    pub(crate) mod custom {
        use super::*;
        pub(crate) fn columns(version: &Value) -> Vec<Column> { vec![Column("Name".into())] }
        pub(crate) fn row(columns: &[Column], object: &Value, now: jiff::Timestamp) -> Value { json!({"cells": [object["metadata"]["name"]]}) }
    }
}
