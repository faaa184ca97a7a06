//! What makes a schema structural: every value has a known type, and alternatives only restrict it.

use serde_json::{Map, Value, json};

use super::{build::properties, pattern};
use crate::field_error::FieldError;

/// Where in the schema a node is; it decides the words about a missing type.
#[derive(Clone, Copy, PartialEq)]
enum Level {
    Root,
    Item,
    Field,
}

/// The violations of a schema, sorted by their text, as real servers give them.
pub fn structural_errors(schema: &Value, path: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    invariants(schema, Level::Root, path, &mut errors);
    completeness(schema, Some(schema), path, path, &mut errors);
    errors.sort_by_cached_key(ToString::to_string);
    errors.dedup();
    errors
}

fn flag(schema: &Value, name: &str) -> bool {
    schema.get(name) == Some(&Value::Bool(true))
}

fn text<'a>(schema: &'a Value, name: &str) -> &'a str {
    schema.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn list<'a>(schema: &'a Value, name: &str) -> &'a [Value] {
    schema
        .get(name)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

fn sub<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    schema.get(name).filter(|value| value.is_object())
}

fn invariants(schema: &Value, level: Level, path: &str, errors: &mut Vec<FieldError>) {
    let ty = text(schema, "type");
    let items = sub(schema, "items");
    if ty == "array" && items.is_none() {
        errors.push(FieldError::required(
            format!("{path}.items"),
            "must be specified",
        ));
    }
    if let Some(items) = items {
        invariants(items, Level::Item, &format!("{path}.items"), errors);
    }
    for (name, field) in properties(schema).into_iter().flatten() {
        invariants(
            field,
            Level::Field,
            &format!("{path}.properties[{name}]"),
            errors,
        );
    }
    let additional = schema
        .get("additionalProperties")
        .filter(|value| !value.is_null());
    if let Some(values) = additional {
        let at = format!("{path}.additionalProperties");
        if level == Level::Root {
            errors.push(FieldError::forbidden(&at, "must not be used at the root"));
        }
        if values.is_object() {
            invariants(values, Level::Field, &at, errors);
        }
    }
    let int_or_string = flag(schema, "x-kubernetes-int-or-string");
    let preserve = flag(schema, "x-kubernetes-preserve-unknown-fields");
    let embedded = flag(schema, "x-kubernetes-embedded-resource");
    for (set, name) in [
        (preserve, "x-kubernetes-preserve-unknown-fields"),
        (embedded, "x-kubernetes-embedded-resource"),
    ] {
        if int_or_string && set {
            errors.push(FieldError::invalid(
                format!("{path}.{name}"),
                json!(true),
                "must be false if x-kubernetes-int-or-string is true",
            ));
        }
    }
    let skip_any = is_int_or_string(list(schema, "anyOf"));
    let skip_first = list(schema, "allOf")
        .first()
        .is_some_and(|first| is_int_or_string(list(first, "anyOf")));
    values(schema, skip_any, skip_first, level, path, errors);
    type_rules(schema, level, path, errors);
    if embedded && additional.is_some() {
        errors.push(FieldError::forbidden(
            format!("{path}.additionalProperties"),
            "must not be used if x-kubernetes-embedded-resource is set",
        ));
    }
    object_rules(schema, level, path, errors);
    let no_properties = properties(schema).is_none_or(Map::is_empty);
    if embedded && !preserve && no_properties {
        errors.push(FieldError::required(
            format!("{path}.properties"),
            "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields",
        ));
    }
}

fn type_rules(schema: &Value, level: Level, path: &str, errors: &mut Vec<FieldError>) {
    let ty = text(schema, "type");
    let at = format!("{path}.type");
    let free = flag(schema, "x-kubernetes-int-or-string")
        || flag(schema, "x-kubernetes-preserve-unknown-fields");
    if flag(schema, "x-kubernetes-embedded-resource") && ty != "object" {
        let detail = "must be object if x-kubernetes-embedded-resource is true";
        errors.push(match ty {
            "" => FieldError::required(at.clone(), detail),
            other => FieldError::invalid(at.clone(), json!(other), detail),
        });
    } else if ty.is_empty() && !free {
        let detail = match level {
            Level::Root => "must not be empty at the root",
            Level::Item => "must not be empty for specified array items",
            Level::Field => "must not be empty for specified object fields",
        };
        errors.push(FieldError::required(at.clone(), detail));
    }
    if level == Level::Root && !matches!(ty, "" | "object") {
        errors.push(FieldError::invalid(
            at,
            json!(ty),
            "must be object at the root",
        ));
    }
}

/// `apiVersion`, `kind` and `metadata` have given types where an object begins.
fn object_rules(schema: &Value, level: Level, path: &str, errors: &mut Vec<FieldError>) {
    let begins = level == Level::Root || flag(schema, "x-kubernetes-embedded-resource");
    let Some(fields) = properties(schema) else {
        return;
    };
    for name in ["kind", "apiVersion"] {
        if let Some(field) = fields.get(name).filter(|_| begins) {
            let ty = text(field, "type");
            if ty != "string" {
                let at = format!("{path}.properties[{name}].type");
                errors.push(FieldError::invalid(at, json!(ty), "must be string"));
            }
        }
    }
    let Some(metadata) = fields.get("metadata") else {
        return;
    };
    let at = format!("{path}.properties[metadata]");
    let ty = text(metadata, "type");
    if begins && ty != "object" {
        errors.push(FieldError::invalid(
            format!("{at}.type"),
            json!(ty),
            "must be object",
        ));
    }
    if level == Level::Root && !only_names(metadata) {
        errors.push(FieldError::forbidden(
            at,
            "must not specify anything other than name and generateName, but metadata is implicitly specified",
        ));
    }
}

fn only_names(metadata: &Value) -> bool {
    metadata
        .as_object()
        .into_iter()
        .flatten()
        .all(|(keyword, value)| match keyword.as_str() {
            "type" | "default" => true,
            "properties" => value.as_object().is_some_and(|fields| {
                fields
                    .keys()
                    .all(|name| name == "name" || name == "generateName")
            }),
            _ => value.is_null(),
        })
}

/// The two alternatives that `x-kubernetes-int-or-string` may come with.
fn is_int_or_string(choices: &[Value]) -> bool {
    choices == [json!({"type": "integer"}), json!({"type": "string"})]
}

fn values(
    schema: &Value,
    skip_any: bool,
    skip_first: bool,
    level: Level,
    path: &str,
    errors: &mut Vec<FieldError>,
) {
    if !skip_any {
        for (at, choice) in list(schema, "anyOf").iter().enumerate() {
            nested(choice, false, level, &format!("{path}.anyOf[{at}]"), errors);
        }
    }
    for (at, choice) in list(schema, "allOf").iter().enumerate() {
        nested(
            choice,
            skip_first && at == 0,
            level,
            &format!("{path}.allOf[{at}]"),
            errors,
        );
    }
    for (at, choice) in list(schema, "oneOf").iter().enumerate() {
        nested(choice, false, level, &format!("{path}.oneOf[{at}]"), errors);
    }
    if let Some(not) = sub(schema, "not") {
        nested(not, false, level, &format!("{path}.not"), errors);
    }
    let expression = text(schema, "pattern");
    if let Err(problem) = pattern::compile(expression) {
        errors.push(FieldError::invalid(
            format!("{path}.pattern"),
            json!(expression),
            format!("must be a valid regular expression, but isn't: {problem}"),
        ));
    }
}

/// A schema inside an alternative: it may restrict values, not describe them.
fn nested(schema: &Value, skip_any: bool, level: Level, path: &str, errors: &mut Vec<FieldError>) {
    values(schema, skip_any, false, level, path, errors);
    if let Some(items) = sub(schema, "items") {
        nested(items, false, level, &format!("{path}.items"), errors);
    }
    for (name, field) in properties(schema).into_iter().flatten() {
        nested(
            field,
            false,
            Level::Field,
            &format!("{path}.properties[{name}]"),
            errors,
        );
    }
    for (keyword, rule) in [
        ("type", "empty"),
        ("additionalProperties", "undefined"),
        ("default", "undefined"),
        ("title", "empty"),
        ("description", "empty"),
        ("nullable", "false"),
        ("x-kubernetes-preserve-unknown-fields", "false"),
        ("x-kubernetes-embedded-resource", "false"),
        ("x-kubernetes-int-or-string", "false"),
        ("x-kubernetes-list-map-keys", "empty"),
        ("x-kubernetes-list-type", "undefined"),
        ("x-kubernetes-map-type", "undefined"),
        ("x-kubernetes-validations", "empty"),
    ] {
        let given = match schema.get(keyword) {
            None | Some(Value::Null | Value::Bool(false)) => false,
            Some(Value::String(text)) => !text.is_empty(),
            Some(Value::Array(entries)) => !entries.is_empty(),
            Some(_) => true,
        };
        if given {
            let detail = format!("must be {rule} to be structural");
            errors.push(FieldError::forbidden(format!("{path}.{keyword}"), detail));
        }
    }
    if properties(schema).is_some_and(|fields| fields.contains_key("metadata")) {
        errors.push(FieldError::forbidden(
            format!("{path}.properties[metadata]"),
            "must not be specified in a nested context",
        ));
    }
}

/// Every field that an alternative talks about must be described outside of alternatives.
fn completeness(
    schema: &Value,
    described: Option<&Value>,
    outer: &str,
    inner: &str,
    errors: &mut Vec<FieldError>,
) {
    for keyword in ["allOf", "anyOf", "oneOf"] {
        for (at, choice) in list(schema, keyword).iter().enumerate() {
            complete(
                choice,
                described,
                outer,
                &format!("{inner}.{keyword}[{at}]"),
                errors,
            );
        }
    }
    if let Some(not) = sub(schema, "not") {
        complete(not, described, outer, &format!("{inner}.not"), errors);
    }
}

fn complete(
    choice: &Value,
    described: Option<&Value>,
    outer: &str,
    inner: &str,
    errors: &mut Vec<FieldError>,
) {
    let Some(schema) = described else {
        let detail = format!("because it is defined in {inner}");
        errors.push(FieldError::required(outer, detail));
        return;
    };
    completeness(choice, described, outer, inner, errors);
    if let Some(items) = sub(choice, "items") {
        let (outer, inner) = (format!("{outer}.items"), format!("{inner}.items"));
        complete(items, sub(schema, "items"), &outer, &inner, errors);
    }
    for (name, field) in properties(choice).into_iter().flatten() {
        let outer = format!("{outer}.properties[{name}]");
        let inner = format!("{inner}.properties[{name}]");
        let target = properties(schema).and_then(|fields| fields.get(name));
        complete(field, target, &outer, &inner, errors);
    }
}
