//! The document of version 2 as protobuf, which is the only form in which kubectl reads it.
//!
//! The messages are those of gnostic's `openapi.v2`; what our documents never hold is left out. A value of any
//! type travels as a text of YAML, and JSON is YAML.

use serde_json::{Map, Value};

use crate::protobuf::Writer;

/// Fields of a schema by type: keyword and field number.
const TEXTS: [(&str, u32); 5] = [
    ("$ref", 1),
    ("format", 2),
    ("title", 3),
    ("description", 4),
    ("pattern", 13),
];
const DOUBLES: [(&str, u32); 3] = [("multipleOf", 6), ("maximum", 7), ("minimum", 9)];
const FLAGS: [(&str, u32); 3] = [
    ("exclusiveMaximum", 8),
    ("exclusiveMinimum", 10),
    ("uniqueItems", 16),
];
const COUNTS: [(&str, u32); 6] = [
    ("maxLength", 11),
    ("minLength", 12),
    ("maxItems", 14),
    ("minItems", 15),
    ("maxProperties", 17),
    ("minProperties", 18),
];

/// A whole document.
pub(super) fn encode(document: &Value) -> Vec<u8> {
    let mut out = Writer::default();
    text(&mut out, 1, &document["swagger"]);
    let info = message(|out| {
        text(out, 1, &document["info"]["title"]);
        text(out, 2, &document["info"]["version"]);
    });
    out.message(2, &info);
    out.message(
        8,
        &message(|out| named(out, 2, &document["paths"], path_item)),
    );
    let definitions = message(|out| named(out, 1, &document["definitions"], schema));
    out.message(9, &definitions);
    for requirement in list(&document["security"]) {
        let requirement = message(|out| named(out, 1, requirement, texts));
        out.message(12, &requirement);
    }
    let schemes = message(|out| named(out, 1, &document["securityDefinitions"], security_scheme));
    out.message(13, &schemes);
    out.finish()
}

fn message(fill: impl FnOnce(&mut Writer)) -> Vec<u8> {
    let mut out = Writer::default();
    fill(&mut out);
    out.finish()
}

fn object(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(out: &mut Writer, number: u32, value: &Value) {
    if let Some(text) = value.as_str() {
        out.text(number, text);
    }
}

fn all_texts(out: &mut Writer, number: u32, values: &Value) {
    for value in list(values) {
        text(out, number, value);
    }
}

/// A map is a list of names with their values.
fn named(out: &mut Writer, number: u32, map: &Value, value_of: fn(&Value) -> Vec<u8>) {
    for (name, value) in object(map) {
        let entry = message(|out| {
            out.text(1, name);
            out.message(2, &value_of(value));
        });
        out.message(number, &entry);
    }
}

fn texts(values: &Value) -> Vec<u8> {
    message(|out| all_texts(out, 1, values))
}

fn any(value: &Value) -> Vec<u8> {
    message(|out| out.text(2, &value.to_string()))
}

fn extensions(out: &mut Writer, number: u32, fields: &Value) {
    for (name, value) in object(fields).filter(|(name, _)| name.starts_with("x-")) {
        let entry = message(|out| {
            out.text(1, name);
            out.message(2, &any(value));
        });
        out.message(number, &entry);
    }
}

fn security_scheme(scheme: &Value) -> Vec<u8> {
    let key = message(|out| {
        text(out, 1, &scheme["type"]);
        text(out, 2, &scheme["name"]);
        text(out, 3, &scheme["in"]);
    });
    message(|out| out.message(2, &key))
}

fn path_item(item: &Value) -> Vec<u8> {
    message(|out| {
        for (method, number) in [
            ("get", 2),
            ("put", 3),
            ("post", 4),
            ("delete", 5),
            ("patch", 8),
        ] {
            if let Some(found) = item.get(method) {
                out.message(number, &operation(found));
            }
        }
        for found in list(&item["parameters"]) {
            out.message(9, &parameter(found));
        }
    })
}

fn operation(operation: &Value) -> Vec<u8> {
    message(|out| {
        all_texts(out, 1, &operation["tags"]);
        text(out, 3, &operation["description"]);
        text(out, 5, &operation["operationId"]);
        all_texts(out, 6, &operation["produces"]);
        all_texts(out, 7, &operation["consumes"]);
        for found in list(&operation["parameters"]) {
            out.message(8, &parameter(found));
        }
        let responses = message(|out| named(out, 1, &operation["responses"], response));
        out.message(9, &responses);
        all_texts(out, 10, &operation["schemes"]);
        extensions(out, 13, operation);
    })
}

fn response(response: &Value) -> Vec<u8> {
    let response = message(|out| {
        text(out, 1, &response["description"]);
        if let Some(found) = response.get("schema") {
            out.message(2, &message(|out| out.message(1, &schema(found))));
        }
    });
    message(|out| out.message(1, &response))
}

fn parameter(parameter: &Value) -> Vec<u8> {
    let is_required = parameter["required"] == Value::Bool(true);
    let chosen = if parameter["in"] == "body" {
        let body = message(|out| {
            text(out, 1, &parameter["description"]);
            text(out, 2, &parameter["name"]);
            text(out, 3, &parameter["in"]);
            out.flag(4, is_required);
            out.message(5, &schema(&parameter["schema"]));
        });
        message(|out| out.message(1, &body))
    } else {
        // The two messages differ by one field, which only a query has, before the type.
        let (kind, shift) = match parameter["in"].as_str() {
            Some("query") => (3, 1),
            Some("header") => (1, 0),
            _ => (4, 0),
        };
        let other = message(|out| {
            out.flag(1, is_required);
            text(out, 2, &parameter["in"]);
            text(out, 3, &parameter["description"]);
            text(out, 4, &parameter["name"]);
            text(out, 5 + shift, &parameter["type"]);
            out.flag(19 + shift, parameter["uniqueItems"] == Value::Bool(true));
        });
        message(|out| out.message(2, &message(|out| out.message(kind, &other))))
    };
    message(|out| out.message(1, &chosen))
}

fn schema(schema: &Value) -> Vec<u8> {
    let Value::Object(fields) = schema else {
        return Vec::new();
    };
    message(|out| {
        plain_keywords(out, fields);
        if let Some(default) = fields.get("default") {
            out.message(5, &any(default));
        }
        all_texts(out, 19, &schema["required"]);
        for value in list(&schema["enum"]) {
            out.message(20, &any(value));
        }
        match fields.get("additionalProperties") {
            Some(Value::Bool(allowed)) => {
                out.message(21, &message(|out| out.always_flag(2, *allowed)));
            }
            Some(values) => out.message(21, &message(|out| out.message(1, &self::schema(values)))),
            None => {}
        }
        if let Some(ty) = schema["type"].as_str() {
            out.message(22, &message(|out| out.text(1, ty)));
        }
        if let Some(items) = fields.get("items") {
            out.message(23, &message(|out| out.message(1, &self::schema(items))));
        }
        if let Some(properties) = fields.get("properties") {
            let properties = message(|out| named(out, 1, properties, self::schema));
            out.message(25, &properties);
        }
        extensions(out, 31, schema);
    })
}

fn plain_keywords(out: &mut Writer, fields: &Map<String, Value>) {
    for (keyword, number) in TEXTS {
        text(out, number, fields.get(keyword).unwrap_or(&Value::Null));
    }
    for (keyword, number) in DOUBLES {
        if let Some(value) = fields.get(keyword).and_then(Value::as_f64) {
            out.double(number, value);
        }
    }
    for (keyword, number) in FLAGS {
        out.flag(number, fields.get(keyword) == Some(&Value::Bool(true)));
    }
    for (keyword, number) in COUNTS {
        if let Some(value) = fields.get(keyword).and_then(Value::as_u64) {
            out.count(number, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_definition_is_a_name_with_a_schema() {
        let schema = json!({"type": "string", "maxLength": 3, "x-kubernetes-y": true});
        let expected = message(|out| {
            out.count(11, 3);
            out.message(22, b"\x0a\x06string");
            let extension = message(|out| {
                out.text(1, "x-kubernetes-y");
                out.message(2, b"\x12\x04true");
            });
            out.message(31, &extension);
        });
        assert_eq!(super::schema(&schema), expected);
        let definitions = message(|out| named(out, 1, &json!({"A": schema}), super::schema));
        let entry = message(|out| {
            out.text(1, "A");
            out.message(2, &expected);
        });
        assert_eq!(definitions, message(|out| out.message(1, &entry)));
    }

    #[test]
    fn a_parameter_of_a_query_has_its_type_one_further() {
        let of = |place: &str| json!({"in": place, "name": "n", "type": "string"});
        let ends_with = |place: &str, bytes: &[u8]| parameter(&of(place)).ends_with(bytes);
        assert!(ends_with("query", b"\x32\x06string"));
        assert!(ends_with("path", b"\x2a\x06string"));
    }
}
