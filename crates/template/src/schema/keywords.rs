//! Keywords of a schema: which there are, and what they take.

use quadrille_machinery::{field_error::FieldError, structural};
use serde_json::Value as Json;

use super::words;
use crate::problem::{Problem, Problems, suggest};

/// What a keyword takes.
#[derive(Clone, Copy, PartialEq)]
enum Takes {
    Anything,
    Text,
    Number,
    /// A whole number that is not negative.
    Count,
    Truth,
    Texts,
    List,
    Schema,
    SchemaOrTruth,
    Schemas,
    Named,
    /// Known elsewhere, but without effect on parameters.
    Nothing,
}

const KEYWORDS: &[(&str, Takes)] = &[
    ("$schema", Takes::Nothing),
    ("additionalItems", Takes::Nothing),
    ("additionalProperties", Takes::SchemaOrTruth),
    ("allOf", Takes::Schemas),
    ("anyOf", Takes::Schemas),
    ("default", Takes::Anything),
    ("definitions", Takes::Nothing),
    ("dependencies", Takes::Nothing),
    ("description", Takes::Text),
    ("enum", Takes::List),
    ("example", Takes::Anything),
    ("exclusiveMaximum", Takes::Truth),
    ("exclusiveMinimum", Takes::Truth),
    ("externalDocs", Takes::Anything),
    ("format", Takes::Text),
    ("id", Takes::Nothing),
    ("items", Takes::Schema),
    ("maxItems", Takes::Count),
    ("maxLength", Takes::Count),
    ("maxProperties", Takes::Count),
    ("maximum", Takes::Number),
    ("minItems", Takes::Count),
    ("minLength", Takes::Count),
    ("minProperties", Takes::Count),
    ("minimum", Takes::Number),
    ("multipleOf", Takes::Number),
    ("not", Takes::Schema),
    ("nullable", Takes::Truth),
    ("oneOf", Takes::Schemas),
    ("pattern", Takes::Text),
    ("patternProperties", Takes::Nothing),
    ("properties", Takes::Named),
    ("required", Takes::Texts),
    ("title", Takes::Text),
    ("type", Takes::Text),
    ("uniqueItems", Takes::Truth),
    ("x-kubernetes-embedded-resource", Takes::Truth),
    ("x-kubernetes-int-or-string", Takes::Truth),
    ("x-kubernetes-list-map-keys", Takes::Texts),
    ("x-kubernetes-list-type", Takes::Text),
    ("x-kubernetes-map-type", Takes::Text),
    ("x-kubernetes-preserve-unknown-fields", Takes::Truth),
    ("x-kubernetes-validations", Takes::List),
];
const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];

impl Takes {
    fn accepts(self, value: &Json) -> bool {
        match self {
            Self::Anything | Self::Nothing => true,
            Self::Text => value.is_string(),
            Self::Number => value.is_number(),
            Self::Count => value.is_u64(),
            Self::Truth => value.is_boolean(),
            Self::Texts => value
                .as_array()
                .is_some_and(|list| list.iter().all(Json::is_string)),
            Self::List => value.is_array(),
            Self::Schema => value.is_object(),
            Self::SchemaOrTruth => value.is_object() || value.is_boolean(),
            Self::Schemas => value
                .as_array()
                .is_some_and(|list| list.iter().all(Json::is_object)),
            Self::Named => value
                .as_object()
                .is_some_and(|named| named.values().all(Json::is_object)),
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Anything | Self::Nothing => "anything",
            Self::Text => "a text",
            Self::Number => "a number",
            Self::Count => "a whole number from 0",
            Self::Truth => "true or false",
            Self::Texts => "a list of texts",
            Self::List => "a list",
            Self::Schema => "a schema",
            Self::SchemaOrTruth => "a schema, true or false",
            Self::Schemas => "a list of schemas",
            Self::Named => "names with a schema each",
        }
    }
}

/// Calls with every schema below a schema, and its path.
fn below(schema: &Json, path: &str, visit: &mut dyn FnMut(&Json, &str)) {
    for keyword in ["items", "additionalProperties", "not"] {
        if let Some(inner) = schema.get(keyword).filter(|inner| inner.is_object()) {
            visit(inner, &format!("{path}.{keyword}"));
        }
    }
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let list = schema.get(keyword).and_then(Json::as_array);
        for (at, inner) in list.into_iter().flatten().enumerate() {
            visit(inner, &format!("{path}.{keyword}[{at}]"));
        }
    }
    let named = schema.get("properties").and_then(Json::as_object);
    for (name, inner) in named.into_iter().flatten() {
        visit(inner, &format!("{path}.properties.{name}"));
    }
}

/// Notes keywords that do not exist or hold the wrong thing.
pub(super) fn check(schema: &Json, path: &str, problems: &mut Problems) {
    let Json::Object(fields) = schema else {
        problems.push(Problem::new(path, "a schema is an object"));
        return;
    };
    for (keyword, value) in fields {
        let at = format!("{path}.{keyword}");
        let Some((_, takes)) = KEYWORDS.iter().find(|(known, _)| known == keyword) else {
            let mut problem = Problem::new(at, format!("schemas know no keyword `{keyword}`"));
            problem.remedy = suggest(keyword, KEYWORDS.iter().map(|(known, _)| *known))
                .or_else(|| Some("keys of your own start with `x-`".to_owned()));
            problems.push(problem);
            continue;
        };
        if *takes == Takes::Nothing {
            let words = format!("`{keyword}` has no effect on parameters");
            let remedy = if keyword == "definitions" {
                "put definitions into `$defs`"
            } else {
                "take it out"
            };
            problems.push(Problem::new(at, words).remedy(remedy));
        } else if !takes.accepts(value) {
            let words = format!("`{keyword}` must be {}", takes.words());
            problems.push(Problem::new(at, words));
        }
    }
    if let Some(ty) = schema.get("type").and_then(Json::as_str)
        && !TYPES.contains(&ty)
    {
        let mut problem = Problem::new(format!("{path}.type"), format!("there is no type `{ty}`"));
        problem.remedy = suggest(ty, TYPES);
        problems.push(problem);
    }
    if let Some(pattern) = schema.get("pattern").and_then(Json::as_str)
        && let Err(error) = structural::check_pattern(pattern)
    {
        let words = format!("`pattern` is no regular expression: {error}");
        problems.push(Problem::new(format!("{path}.pattern"), words));
    }
    below(schema, path, &mut |inner, at| check(inner, at, problems));
}

/// Notes defaults that their own schema refuses.
pub(super) fn check_defaults(schema: &Json, path: &str, problems: &mut Problems) {
    if let Some(default) = schema.get("default").filter(|default| !default.is_null()) {
        let built = structural::fragment(schema);
        let mut filled = default.clone();
        structural::default(built.root(), &mut filled);
        let errors: Vec<FieldError> = structural::validate(built.root(), &filled, None);
        for error in &errors {
            let found = words::problem(error, &filled, false);
            let place = if found.path.is_empty() {
                String::new()
            } else {
                format!("`{}` ", found.path)
            };
            let words = format!("the default is not valid: {place}{}", found.message);
            problems.push(Problem::new(format!("{path}.default"), words));
        }
    }
    below(schema, path, &mut |inner, at| {
        check_defaults(inner, at, problems);
    });
}
