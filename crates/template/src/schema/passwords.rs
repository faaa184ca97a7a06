//! Values that are nobody's business: those whose schema says `format: password`.

use quadrille_machinery::schema::SchemaRef;
use serde_json::Value as Json;

/// Where such values are among those that were given, and what they are.
pub(super) fn among(schema: SchemaRef<'_>, given: &Json) -> Vec<(String, String)> {
    let mut found = Vec::new();
    collect(schema, given, "", &mut found);
    found
}

pub(super) fn is_password(schema: SchemaRef<'_>) -> bool {
    let constraints = schema.node().constraints.as_ref();
    constraints.is_some_and(|found| found.format.as_deref() == Some("password"))
}

fn collect(schema: SchemaRef<'_>, given: &Json, path: &str, found: &mut Vec<(String, String)>) {
    if is_password(schema) {
        let text = match given {
            Json::Null => return,
            Json::String(text) => text.clone(),
            other => other.to_string(),
        };
        found.push((path.to_owned(), text));
        return;
    }
    match given {
        Json::Object(fields) => {
            for (name, inner) in fields {
                let place = if path.is_empty() {
                    name.clone()
                } else {
                    format!("{path}.{name}")
                };
                if let Some(schema) = schema.field(name) {
                    collect(schema, inner, &place, found);
                }
            }
        }
        Json::Array(items) => {
            let Some(schema) = schema.items() else {
                return;
            };
            for (index, inner) in items.iter().enumerate() {
                collect(schema, inner, &format!("{path}[{index}]"), found);
            }
        }
        _ => {}
    }
}
