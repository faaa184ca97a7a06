//! Validation of objects by the schema of their custom resource.
//!
//! The order of checks and the counting of matches follow the validator of real servers, since they decide
//! which of several alternatives (`anyOf`, `oneOf`) is blamed. On update an error about a value that has
//! not changed is forgiven.

mod alternatives;
mod numbers;

use std::fmt::Write;

use serde_json::Value;

use super::{coerce::embedded_errors, correlate, formats, lists, pattern};
use crate::{
    field_error::{FieldError, Kind},
    schema::{Additional, Constraints, NodeId, SchemaRef, Type},
};

/// Whole numbers beyond this are floats to a real server, whatever their type is called.
const EXACT_FLOAT: f64 = 9_007_199_254_740_991.0;

/// The path that real servers show for errors about no field in particular.
pub(super) const NO_FIELD: &str = "<nil>";

/// Checks an object: its values, embedded objects, and lists that are sets or maps. With `old` it is an
/// update of that object.
pub fn validate(schema: SchemaRef<'_>, object: &Value, old: Option<&Value>) -> Vec<FieldError> {
    let mut path = String::new();
    let mut errors = check(schema, object, old, old.is_some(), &mut path).errors;
    embedded_errors(schema, object, "", true, &mut errors);
    let mut repeated = Vec::new();
    if let Some(old) = old {
        lists::duplicates(schema, old, "", &mut repeated);
    }
    // An object that had duplicates before may keep them.
    if repeated.is_empty() {
        lists::duplicates(schema, object, "", &mut errors);
    }
    errors
}

/// Checks an update of the status alone. The validator starts there, so its words know no `status.`, while
/// the fields that they blame do.
pub fn validate_status(schema: SchemaRef<'_>, object: &Value, old: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if let (Some(status), Some(schema)) = (object.get("status"), schema.property("status")) {
        let before = old.get("status");
        let mut path = String::new();
        errors = check(schema, status, before, before.is_some(), &mut path).errors;
        for error in &mut errors {
            error.field = match error.field.as_str() {
                NO_FIELD => "status".to_owned(),
                field => format!("status.{field}"),
            };
        }
    }
    let mut repeated = Vec::new();
    lists::duplicates(schema, old, "", &mut repeated);
    if repeated.is_empty() {
        lists::duplicates(schema, object, "", &mut errors);
    }
    errors
}

/// Checks a default value against the schema that carries it; `path` is where the default stands.
pub fn validate_default(schema: &Value, default: &Value, path: &str) -> Vec<FieldError> {
    let built = super::fragment(schema);
    let mut pruned = default.clone();
    let embedded = built.root().node().embedded_resource;
    let mut errors = Vec::new();
    if !super::prune(built.root(), &mut pruned, embedded).is_empty() {
        let detail = "must not have unknown fields";
        errors.push(FieldError::invalid(path, default.clone(), detail));
    }
    let found = check_strictly(built.root(), default, None, &mut String::new()).errors;
    errors.extend(found.into_iter().map(|mut error| {
        error.field = match error.field.as_str() {
            NO_FIELD => path.to_owned(),
            field => format!("{path}.{field}"),
        };
        error
    }));
    errors
}

/// The error that stands for rules that were not evaluated because of other errors, if there are such.
pub fn blocks_rules(errors: &[FieldError]) -> Option<FieldError> {
    let blocking = |kind| {
        matches!(
            kind,
            Kind::NotSupported | Kind::Required | Kind::TooLong | Kind::TooMany | Kind::TypeInvalid
        )
    };
    errors.iter().any(|error| blocking(error.kind)).then(|| {
        FieldError::invalid(
            NO_FIELD,
            Value::Null,
            "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
        )
    })
}

/// Whether a schema has `x-kubernetes-validations` anywhere.
pub fn has_rules(schema: SchemaRef<'_>) -> bool {
    let node = schema.node();
    let below = |id: NodeId| has_rules(schema.schemas().at(id));
    node.constraints
        .as_ref()
        .is_some_and(|constraints| !constraints.rules.is_empty())
        || node.properties.iter().any(|(_, id)| below(*id))
        || node.items.is_some_and(below)
        || matches!(node.additional, Additional::Of(id) if below(id))
}

/// What a check found, and how much of the schema matched.
#[derive(Default)]
struct Outcome {
    errors: Vec<FieldError>,
    matched: usize,
}

impl Outcome {
    fn add(&mut self, error: FieldError) {
        if !self.errors.contains(&error) {
            self.errors.push(error);
        }
    }

    fn merge(&mut self, other: Self) {
        self.matched += other.matched;
        for error in other.errors {
            self.add(error);
        }
    }

    /// Merges the outcome of one validator that applied.
    fn step(&mut self, other: Self) {
        self.merge(other);
        self.matched += 1;
    }

    fn valid(&self) -> bool {
        self.errors.is_empty()
    }
}

/// One error in the words of the validator: `spec.x in body should …`.
fn blame(kind: Kind, path: &str, value: Value, rest: &str) -> FieldError {
    FieldError {
        kind,
        field: field_name(path),
        value: Some(value),
        detail: format!("{path} in body {rest}"),
    }
}

/// The field that a path of the validator names; the root has none.
fn field_name(path: &str) -> String {
    match path.strip_prefix('.').unwrap_or(path) {
        "" => NO_FIELD.to_owned(),
        path => path.to_owned(),
    }
}

fn check(
    schema: SchemaRef<'_>,
    value: &Value,
    old: Option<&Value>,
    forgiving: bool,
    path: &mut String,
) -> Outcome {
    let mut outcome = check_strictly(schema, value, old, path);
    let unchanged = |old| correlate::is_unchanged(schema, value, old);
    // The object as a whole is never the same: its metadata isn't.
    if forgiving && !outcome.valid() && !path.is_empty() && old.is_some_and(unchanged) {
        outcome.errors.clear();
    }
    outcome
}

fn check_strictly(
    schema: SchemaRef<'_>,
    value: &Value,
    old: Option<&Value>,
    path: &mut String,
) -> Outcome {
    let node = schema.node();
    let unlimited = Constraints::default();
    let limits = node.constraints.as_deref().unwrap_or(&unlimited);
    let format = formats::known(limits.format.as_deref(), node.ty);
    let mut outcome = Outcome::default();
    if value.is_null() {
        outcome.merge(check_type(schema, format, value, path));
        outcome.merge(check_enum(limits, value, path));
        return outcome;
    }
    if node.ty.is_some() || node.int_or_string || format.is_some() {
        outcome.step(check_type(schema, format, value, path));
    }
    outcome.step(alternatives::check(schema, limits, value, old, path));
    match value {
        Value::String(text) => {
            outcome.step(check_string(limits, text, path));
            if let Some(format) = format.filter(|_| node.ty.is_none_or(|ty| ty == Type::String)) {
                outcome.step(check_format(format, text, path));
            }
        }
        Value::Number(number) => {
            outcome.step(numbers::check(node.ty, format, limits, number, path));
        }
        Value::Array(entries) => outcome.step(check_array(schema, limits, entries, old, path)),
        _ => {}
    }
    outcome.step(check_enum(limits, value, path));
    if let Value::Object(fields) = value {
        outcome.step(check_object(schema, limits, fields, old, path));
    }
    outcome.matched += 1;
    outcome
}

fn type_words(schema: SchemaRef<'_>) -> &'static [&'static str] {
    if schema.node().int_or_string {
        return &["integer", "string"];
    }
    match schema.node().ty {
        Some(Type::Object) => &["object"],
        Some(Type::Array) => &["array"],
        Some(Type::String) => &["string"],
        Some(Type::Integer) => &["integer"],
        Some(Type::Number) => &["number"],
        Some(Type::Boolean) => &["boolean"],
        None => &[],
    }
}

fn check_type(schema: SchemaRef<'_>, format: Option<&str>, value: &Value, path: &str) -> Outcome {
    let wanted = type_words(schema);
    let mut outcome = Outcome::default();
    let mut wrong = |wanted: &str, given: &str| {
        let rest = format!("must be of type {wanted}: {given:?}");
        outcome.add(blame(Kind::TypeInvalid, path, Value::from(given), &rest));
    };
    let (given, native) = match value {
        Value::Null => {
            if !wanted.is_empty() && !schema.node().nullable {
                wrong(&wanted.join(","), "null");
                return outcome;
            }
            outcome.matched += 1;
            return outcome;
        }
        Value::Bool(_) => ("boolean", ""),
        Value::String(_) => ("string", ""),
        Value::Array(_) => ("array", ""),
        Value::Object(_) => ("object", ""),
        // What fits no `int64` is a float, however it is written.
        Value::Number(number) if !number.is_i64() => ("number", "float64"),
        Value::Number(_) => ("integer", "int64"),
    };
    let whole = |float: f64| float.fract() == 0.0 && float.abs() <= EXACT_FLOAT;
    let whole_float =
        value.as_f64().is_some_and(whole) && given == "number" && wanted.contains(&"integer");
    let fits = wanted.contains(&given)
        || whole_float
        || (given == "integer" && wanted.contains(&"number"));
    let textual = matches!(value, Value::String(_) | Value::Array(_));
    if let Some(format) = format {
        if !textual && !fits && native != format {
            wrong(format, native);
            return outcome;
        }
        let numeric = wanted.contains(&"number") || wanted.contains(&"integer");
        if textual && !numeric {
            outcome.matched += 1;
            return outcome;
        }
    }
    if fits {
        outcome.matched += 1;
    } else {
        wrong(&wanted.join(","), given);
    }
    outcome
}

fn check_enum(limits: &Constraints, value: &Value, path: &str) -> Outcome {
    let mut outcome = Outcome::default();
    let same = |allowed: &Value| match (allowed, value) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (allowed, value) => allowed == value && !value.is_null(),
    };
    if !limits.enum_values.is_empty() && !limits.enum_values.iter().any(same) {
        let words: Vec<String> = limits
            .enum_values
            .iter()
            .map(|allowed| match allowed {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            })
            .collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        outcome.add(FieldError::not_supported(
            field_name(path),
            value.clone(),
            &words,
        ));
    }
    outcome
}

fn check_string(limits: &Constraints, text: &str, path: &str) -> Outcome {
    let mut outcome = Outcome::default();
    let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
    let shown = || Value::from(text);
    if let Some(max) = limits.max_length.filter(|max| length > *max) {
        let unit = if max == 1 { "byte" } else { "bytes" };
        outcome.add(FieldError {
            kind: Kind::TooLong,
            field: field_name(path),
            value: None,
            detail: format!("may not be more than {max} {unit}"),
        });
        return outcome;
    }
    if let Some(min) = limits.min_length.filter(|min| length < *min) {
        let rest = format!("should be at least {min} chars long");
        outcome.add(blame(Kind::Invalid, path, shown(), &rest));
        return outcome;
    }
    if let Some(expression) = &limits.pattern {
        let problem = match pattern::compile(expression) {
            Ok(regex) if regex.is_match(text) => return outcome,
            Ok(_) => format!("should match '{expression}'"),
            Err(error) => format!("should match '{expression}, but pattern is invalid: {error}'"),
        };
        outcome.add(blame(Kind::Invalid, path, shown(), &problem));
    }
    outcome
}

fn check_format(format: &str, text: &str, path: &str) -> Outcome {
    let mut outcome = Outcome::default();
    if !formats::accepts(format, text) {
        let rest = format!("must be of type {format}: {}", crate::go_text::quote(text));
        outcome.add(blame(Kind::TypeInvalid, path, Value::from(text), &rest));
    }
    outcome
}

fn check_array(
    schema: SchemaRef<'_>,
    limits: &Constraints,
    entries: &[Value],
    old: Option<&Value>,
    path: &mut String,
) -> Outcome {
    let mut outcome = Outcome::default();
    if let Some(items) = schema.items() {
        for (at, entry) in entries.iter().enumerate() {
            let before = correlate::entry(&schema.node().list_type, entry, old);
            let length = path.len();
            write!(path, "[{at}]").expect("strings take text");
            outcome.merge(check(items, entry, before, before.is_some(), path));
            path.truncate(length);
        }
    }
    let size = i64::try_from(entries.len()).unwrap_or(i64::MAX);
    if let Some(min) = limits.min_items.filter(|min| size < *min) {
        let rest = format!("should have at least {min} items");
        outcome.add(blame(Kind::Invalid, path, Value::from(size), &rest));
    }
    if let Some(max) = limits.max_items.filter(|max| size > *max) {
        outcome.add(too_many(path, size, max));
    }
    let repeated = limits.unique_items
        && entries
            .iter()
            .enumerate()
            .any(|(at, entry)| entries[..at].contains(entry));
    if repeated {
        let rest = "shouldn't contain duplicates";
        outcome.add(blame(Kind::Invalid, path, Value::from(""), rest));
    }
    outcome.matched += 1;
    outcome
}

fn too_many(path: &str, size: i64, max: i64) -> FieldError {
    let unit = if max == 1 { "item" } else { "items" };
    FieldError {
        kind: Kind::TooMany,
        field: field_name(path),
        value: Some(Value::from(size)),
        detail: format!("must have at most {max} {unit}"),
    }
}

fn check_object(
    schema: SchemaRef<'_>,
    limits: &Constraints,
    fields: &serde_json::Map<String, Value>,
    old: Option<&Value>,
    path: &mut String,
) -> Outcome {
    let mut outcome = Outcome::default();
    let size = i64::try_from(fields.len()).unwrap_or(i64::MAX);
    if let Some(min) = limits.min_properties.filter(|min| size < *min) {
        let rest = format!("should have at least {min} properties");
        outcome.add(blame(Kind::Invalid, path, Value::from(size), &rest));
    }
    if let Some(max) = limits.max_properties.filter(|max| size > *max) {
        outcome.add(too_many(path, size, max));
    }
    let node = schema.node();
    let root = path.is_empty();
    let length = path.len();
    for (name, value) in fields {
        let (inner, dot) = match (schema.property(name), node.additional) {
            (Some(inner), _) => (inner, !root),
            (None, Additional::Of(id)) => (schema.schemas().at(id), true),
            (None, _) => continue,
        };
        if dot {
            path.push('.');
        }
        path.push_str(name);
        let before = old.and_then(|old| old.get(name));
        // The version of an object changes unseen, so its errors are never forgiven.
        let forgiving =
            before.is_some() && !(root && matches!(name.as_str(), "apiVersion" | "kind"));
        outcome.merge(check(inner, value, before, forgiving, path));
        path.truncate(length);
    }
    for name in &node.required {
        if !fields.contains_key(&**name) {
            let field = field_name(&format!("{path}.{name}"));
            outcome.add(FieldError::required(field, ""));
        }
    }
    outcome
}
