//! What a validator found, in words for people who fill in parameters.

use quadrille_machinery::field_error::{FieldError, Kind};
use serde_json::Value as Json;

use crate::problem::Problem;

/// The path that the validator gives to the value as a whole.
const NO_FIELD: &str = "<nil>";
/// Longer values are not shown.
const LONGEST_SHOWN: usize = 60;

/// Whether an error only says again, without a place, that a number is not whole.
pub(super) fn is_echo(error: &FieldError) -> bool {
    error.field == NO_FIELD && error.detail.starts_with("Checked value must be of type")
}

/// A problem of one parameter. What is secret is not shown.
pub(super) fn problem(error: &FieldError, value: &Json, is_secret: bool) -> Problem {
    let path = match error.field.as_str() {
        NO_FIELD => "",
        path => path,
    };
    let found = look_up(value, path).filter(|_| !is_secret);
    let parts = error.kind == Kind::TypeInvalid;
    let got = found.and_then(|found| shown(found, parts));
    let with_got = |words: String| match &got {
        Some(got) => format!("{words} (got {got})"),
        None => words,
    };
    match error.kind {
        Kind::Required => Problem::new(path, "is required").remedy("give it a value"),
        Kind::TypeInvalid => with_type(path, error, with_got),
        Kind::NotSupported => {
            let choices = error.detail.replace("supported values: ", "");
            Problem::new(path, with_got(format!("must be one of {choices}")))
        }
        Kind::TooLong => {
            let most = error.detail.replace("may not be more than ", "");
            let most = most.split(' ').next().unwrap_or_default();
            let words = format!("must be at most {most} characters long");
            Problem::new(path, with_got(words))
        }
        Kind::TooMany | Kind::Invalid => {
            let mut words = error.detail.as_str();
            for front in [
                format!("{path} in body "),
                "in body ".to_owned(),
                format!("\"{path}\" "),
            ] {
                words = words.trim_start().strip_prefix(&*front).unwrap_or(words);
            }
            let words = words
                .replace(
                    "must validate one and only one schema (oneOf).",
                    "must fit exactly one alternative (oneOf).",
                )
                .replace(
                    "must validate at least one schema (anyOf)",
                    "must fit at least one alternative (anyOf)",
                )
                .replace(
                    "must validate all the schemas (allOf)",
                    "must fit all alternatives (allOf)",
                );
            Problem::new(path, with_got(words))
        }
        _ if is_secret => Problem::new(path, "cannot be used"),
        _ => Problem::new(path, error.message()),
    }
}

fn with_type(path: &str, error: &FieldError, with_got: impl Fn(String) -> String) -> Problem {
    let wanted = error
        .detail
        .split("must be of type ")
        .nth(1)
        .and_then(|rest| rest.split(':').next())
        .unwrap_or_default();
    let wanted = match wanted {
        "integer" => "an integer",
        "number" => "a number",
        "boolean" => "true or false",
        "string" => "text",
        "array" => "a list",
        "object" => "an object",
        "integer,string" => "an integer or text",
        format => {
            let words = format!("must be a valid {format}");
            return Problem::new(path, with_got(words));
        }
    };
    Problem::new(path, with_got(format!("must be {wanted}")))
}

/// A value that is short enough to show; of those with parts, what they are.
fn shown(value: &Json, parts: bool) -> Option<String> {
    match value {
        Json::Object(_) => parts.then(|| "an object".to_owned()),
        Json::Array(_) => parts.then(|| "a list".to_owned()),
        scalar => Some(scalar.to_string()).filter(|text| text.chars().count() <= LONGEST_SHOWN),
    }
}

/// The value at a path of the validator. Names with dots in them are tried whole first.
fn look_up<'v>(value: &'v Json, path: &str) -> Option<&'v Json> {
    let path = path.strip_prefix('.').unwrap_or(path);
    if path.is_empty() {
        return Some(value);
    }
    if let Some(rest) = path.strip_prefix('[') {
        let (index, rest) = rest.split_once(']')?;
        return look_up(value.get(index.parse::<usize>().ok()?)?, rest);
    }
    let fields = value.as_object()?;
    fields.iter().find_map(|(name, inner)| {
        let rest = path.strip_prefix(name.as_str())?;
        let ends = rest.is_empty() || rest.starts_with(['.', '[']);
        ends.then(|| look_up(inner, rest)).flatten()
    })
}
