//! Schemas and versions as Go prints its own structures: that is how some complaints show them.

use serde_json::{Map, Value, json};

use super::text;

/// Keywords in the order of Go's struct, with the value that an unset one has.
const GO_FIELDS: [(&str, &str, &str); 44] = [
    ("ID", "id", "\"\""),
    ("Schema", "$schema", "\"\""),
    ("Ref", "$ref", "null"),
    ("Description", "description", "\"\""),
    ("Type", "type", "\"\""),
    ("Nullable", "nullable", "false"),
    ("Format", "format", "\"\""),
    ("Title", "title", "\"\""),
    ("Default", "default", "null"),
    ("Maximum", "maximum", "null"),
    ("ExclusiveMaximum", "exclusiveMaximum", "false"),
    ("Minimum", "minimum", "null"),
    ("ExclusiveMinimum", "exclusiveMinimum", "false"),
    ("MaxLength", "maxLength", "null"),
    ("MinLength", "minLength", "null"),
    ("Pattern", "pattern", "\"\""),
    ("MaxItems", "maxItems", "null"),
    ("MinItems", "minItems", "null"),
    ("UniqueItems", "uniqueItems", "false"),
    ("MultipleOf", "multipleOf", "null"),
    ("Enum", "enum", "null"),
    ("MaxProperties", "maxProperties", "null"),
    ("MinProperties", "minProperties", "null"),
    ("Required", "required", "null"),
    ("Items", "items", "null"),
    ("AllOf", "allOf", "null"),
    ("OneOf", "oneOf", "null"),
    ("AnyOf", "anyOf", "null"),
    ("Not", "not", "null"),
    ("Properties", "properties", "null"),
    ("AdditionalProperties", "additionalProperties", "null"),
    ("PatternProperties", "patternProperties", "null"),
    ("Dependencies", "dependencies", "null"),
    ("AdditionalItems", "additionalItems", "null"),
    ("Definitions", "definitions", "null"),
    ("ExternalDocs", "externalDocs", "null"),
    ("Example", "example", "null"),
    (
        "XPreserveUnknownFields",
        "x-kubernetes-preserve-unknown-fields",
        "null",
    ),
    (
        "XEmbeddedResource",
        "x-kubernetes-embedded-resource",
        "false",
    ),
    ("XIntOrString", "x-kubernetes-int-or-string", "false"),
    ("XListMapKeys", "x-kubernetes-list-map-keys", "null"),
    ("XListType", "x-kubernetes-list-type", "null"),
    ("XMapType", "x-kubernetes-map-type", "null"),
    ("XValidations", "x-kubernetes-validations", "null"),
];

/// A schema as Go prints its own structure: that is how complaints show it.
pub(super) fn as_go(schema: &Value) -> String {
    let fields: Vec<String> = GO_FIELDS
        .iter()
        .map(|(name, keyword, unset)| {
            let shown = match (schema.get(keyword), *keyword) {
                (None | Some(Value::Null), _) => (*unset).to_owned(),
                (Some(Value::Object(fields)), "properties") => properties_as_go(fields),
                (Some(Value::Array(choices)), "allOf" | "oneOf" | "anyOf") => {
                    let choices: Vec<_> = choices.iter().map(as_go).collect();
                    format!("[{}]", choices.join(","))
                }
                (Some(not), "not") => as_go(not),
                (Some(items), "items") => {
                    format!("{{\"Schema\":{},\"JSONSchemas\":null}}", as_go(items))
                }
                (Some(Value::Bool(allowed)), "additionalProperties") => {
                    format!("{{\"Allows\":{allowed},\"Schema\":null}}")
                }
                (Some(values), "additionalProperties") => {
                    format!("{{\"Allows\":true,\"Schema\":{}}}", as_go(values))
                }
                (Some(other), _) => other.to_string(),
            };
            format!("\"{name}\":{shown}")
        })
        .collect();
    format!("{{{}}}", fields.join(","))
}

fn properties_as_go(fields: &Map<String, Value>) -> String {
    let fields: Vec<_> = fields
        .iter()
        .map(|(name, field)| format!("{}:{}", json!(name), as_go(field)))
        .collect();
    format!("{{{}}}", fields.join(","))
}

/// The versions as Go prints them; what all of them share is not shown with each.
pub(super) fn versions_as_go(versions: &[Value], shared_schema: bool, shared_sub: bool) -> String {
    let shown: Vec<String> = versions
        .iter()
        .map(|version| {
            let schema = version
                .pointer("/schema/openAPIV3Schema")
                .filter(|schema| schema.is_object() && !shared_schema)
                .map_or_else(|| "null".to_owned(), |schema| {
                    format!("{{\"OpenAPIV3Schema\":{}}}", as_go(schema))
                });
            let subresources = match version.get("subresources") {
                Some(given) if !shared_sub => given.to_string(),
                _ => "null".to_owned(),
            };
            format!(
                "{{\"Name\":{},\"Served\":{},\"Storage\":{},\"Deprecated\":{},\"DeprecationWarning\":{},\"Schema\":{schema},\"Subresources\":{subresources},\"AdditionalPrinterColumns\":null,\"SelectableFields\":null}}",
                json!(text(version, "name")),
                version["served"] == true,
                version["storage"] == true,
                version["deprecated"] == true,
                version.get("deprecationWarning").unwrap_or(&Value::Null),
            )
        })
        .collect();
    format!("[{}]", shown.join(","))
}
