//! What is said in confidence: values that the schema of a type or a trait calls passwords (`format: password`).

use quadrille_template::Parameters;
use quadrille_types::templates::SchemaSection;
use serde_json::Value;

/// Where such values stand among those that are given under a field.
pub fn places(field: &str, schema: Option<&SchemaSection>, given: Option<&Value>) -> Vec<String> {
    let schema = schema.and_then(|section| section.open_api_v3_schema.as_ref());
    let (Some(schema), Some(given)) = (schema, given) else {
        return Vec::new();
    };
    // Few types have one, and compiling takes its time.
    if !schema.to_string().contains("\"password\"") {
        return Vec::new();
    }
    // A schema that cannot be used is told where it is written.
    let Ok(schema) = Parameters::compile(schema, field) else {
        return Vec::new();
    };
    let found = schema.passwords(given).into_iter();
    found.map(|(place, _)| format!("{field}.{place}")).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn passwords_are_found_wherever_they_are() {
        let schema = json!({ "type": "object", "properties": {
            "user": { "type": "string" },
            "password": { "type": "string", "format": "password" },
            "more": { "type": "array", "items": { "type": "object", "additionalProperties": {
                "type": "string", "format": "password" } } },
        }});
        let schema = SchemaSection {
            open_api_v3_schema: Some(schema),
        };
        let given = json!({ "user": "anna", "password": "x", "more": [{}, { "a": "y" }] });
        assert_eq!(
            places("spec.parameters", Some(&schema), Some(&given)),
            ["spec.parameters.more[1].a", "spec.parameters.password"]
        );
        assert!(places("spec", Some(&schema), None).is_empty());
        assert!(places("spec", None, Some(&given)).is_empty());
    }
}
