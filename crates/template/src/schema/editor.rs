//! Schemas as editors understand them: JSON Schema, draft 2020-12.

use serde_json::{Map, Value as Json, json};

/// The schema in the words of JSON Schema.
pub(super) fn json_schema(schema: &Json) -> Json {
    let mut converted = convert(schema);
    if let Json::Object(fields) = &mut converted {
        let draft = "https://json-schema.org/draft/2020-12/schema";
        fields.insert("$schema".to_owned(), Json::from(draft));
    }
    converted
}

fn convert(schema: &Json) -> Json {
    let Json::Object(fields) = schema else {
        return schema.clone();
    };
    let flag = |name: &str| fields.get(name) == Some(&Json::Bool(true));
    let mut converted = Map::new();
    for (keyword, value) in fields {
        let value = match (keyword.as_str(), value) {
            ("items" | "not" | "additionalProperties", value) => convert(value),
            ("allOf" | "anyOf" | "oneOf", Json::Array(list)) => list.iter().map(convert).collect(),
            ("properties", Json::Object(named)) => named
                .iter()
                .map(|(name, schema)| (name.clone(), convert(schema)))
                .collect(),
            // There these are numbers of their own.
            ("exclusiveMinimum" | "exclusiveMaximum" | "nullable" | "example", _) => continue,
            ("minimum", value) if flag("exclusiveMinimum") => {
                converted.insert("exclusiveMinimum".to_owned(), value.clone());
                continue;
            }
            ("maximum", value) if flag("exclusiveMaximum") => {
                converted.insert("exclusiveMaximum".to_owned(), value.clone());
                continue;
            }
            (name, _) if name.starts_with("x-kubernetes-") => continue,
            (_, value) => value.clone(),
        };
        converted.insert(keyword.clone(), value);
    }
    if flag("x-kubernetes-int-or-string") {
        converted.insert("type".to_owned(), json!(["integer", "string"]));
    }
    if let (true, Some(ty)) = (flag("nullable"), converted.get("type").cloned()) {
        converted.insert("type".to_owned(), json!([ty, "null"]));
    }
    let closed = fields.contains_key("properties")
        && !fields.contains_key("additionalProperties")
        && !flag("x-kubernetes-preserve-unknown-fields")
        && !["allOf", "anyOf", "oneOf"]
            .iter()
            .any(|keyword| fields.contains_key(*keyword));
    if closed {
        // So that an editor marks a mistyped name.
        converted.insert("additionalProperties".to_owned(), Json::Bool(false));
    }
    Json::Object(converted)
}
