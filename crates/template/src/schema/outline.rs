//! Parameters as rows for people: what there is, of what type, with which default.

use serde_json::Value as Json;

/// One parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// How it is reached: `resources.limits.cpu`, `ports[].name`, `labels.*`.
    pub path: String,
    /// Its type: `integer`, `list of text`, `one of a, b`.
    pub ty: String,
    /// Its default.
    pub default: Option<Json>,
    /// Whether a value must be given: it is required and has no default.
    pub required: bool,
    /// Its meaning.
    pub description: Option<String>,
}

/// The rows of a schema, parents before their parts.
pub(super) fn rows(schema: &Json) -> Vec<Row> {
    let mut rows = Vec::new();
    properties(schema, "", &mut rows);
    rows
}

fn properties(schema: &Json, path: &str, rows: &mut Vec<Row>) {
    let required = schema.get("required").and_then(Json::as_array);
    let named = schema.get("properties").and_then(Json::as_object);
    for (name, field) in named.into_iter().flatten() {
        let path = crate::template::child(path, name);
        let default = field.get("default").filter(|value| !value.is_null());
        let is_required = required.is_some_and(|list| list.iter().any(|entry| entry == name));
        rows.push(Row {
            ty: type_words(field),
            default: default.cloned(),
            required: is_required && default.is_none(),
            description: field
                .get("description")
                .and_then(Json::as_str)
                .map(str::to_owned),
            path: path.clone(),
        });
        inner(field, &path, rows);
    }
}

fn inner(schema: &Json, path: &str, rows: &mut Vec<Row>) {
    properties(schema, path, rows);
    if let Some(items) = schema.get("items") {
        inner(items, &format!("{path}[]"), rows);
    }
    if let Some(values) = schema.get("additionalProperties") {
        inner(values, &format!("{path}.*"), rows);
    }
}

fn type_words(schema: &Json) -> String {
    if let Some(choices) = schema.get("enum").and_then(Json::as_array) {
        let choices: Vec<String> = choices
            .iter()
            .map(|choice| {
                choice
                    .as_str()
                    .map_or_else(|| choice.to_string(), str::to_owned)
            })
            .collect();
        return format!("one of {}", choices.join(", "));
    }
    if schema.get("x-kubernetes-int-or-string") == Some(&Json::Bool(true)) {
        return "integer or text".to_owned();
    }
    match schema.get("type").and_then(Json::as_str) {
        None => "anything".to_owned(),
        Some("string") => "text".to_owned(),
        Some("array") => {
            let items = schema.get("items").map(type_words);
            format!("list of {}", items.as_deref().unwrap_or("anything"))
        }
        Some("object") => match schema.get("additionalProperties") {
            Some(values @ Json::Object(_)) => format!("map of {}", type_words(values)),
            _ => "object".to_owned(),
        },
        Some(ty) => ty.to_owned(),
    }
}
