//! Parts of text that match a pattern.

use super::{Table, declare};
use crate::{call::Call, env::Env, error::EvalError, value::Value};

type Outcome<'a> = Result<Value<'a>, EvalError>;

const PATTERNS: Table = &[
    (
        "find",
        find,
        &["string_find_string: string.(string) -> string"],
    ),
    (
        "findAll",
        find_all,
        &[
            "string_find_all_string: string.(string) -> list(string)",
            "string_find_all_string_int: string.(string, int) -> list(string)",
        ],
    ),
];

pub(super) fn install(env: &mut Env) {
    declare(env, PATTERNS);
}

fn illegal(error: &EvalError) -> EvalError {
    EvalError::new(format!("Illegal regex: {error}"))
}

fn find<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let [Value::String(text), Value::String(pattern)] = args else {
        return call.refuse(args);
    };
    let pattern = call.pattern(pattern).map_err(|error| illegal(&error))?;
    let found = pattern
        .find(text)
        .map_or("", |found| found.as_str())
        .to_owned();
    call.made(found)
}

fn find_all<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let (text, pattern, limit) = match args {
        [Value::String(text), Value::String(pattern)] => (text, pattern, -1),
        [
            Value::String(text),
            Value::String(pattern),
            Value::Int(limit),
        ] => (text, pattern, *limit),
        _ => return call.refuse(args),
    };
    let pattern = call.pattern(pattern).map_err(|error| illegal(&error))?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut items = Vec::new();
    for found in pattern.find_iter(text).take(limit) {
        call.reserve(found.len() + size_of::<Value<'_>>())?;
        items.push(Value::text(found.as_str()));
    }
    Ok(Value::list(items))
}
