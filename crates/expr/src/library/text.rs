//! Standard functions on text.

use super::{Table, declare_operators};
use crate::{call::Call, env::Env, error::EvalError, value::Value};

type Outcome<'a> = Result<Value<'a>, EvalError>;

const TEXT: Table = &[
    (
        "contains",
        contains,
        &["contains_string: string.(string) -> bool"],
    ),
    (
        "endsWith",
        ends_with,
        &["ends_with_string: string.(string) -> bool"],
    ),
    (
        "startsWith",
        starts_with,
        &["starts_with_string: string.(string) -> bool"],
    ),
    (
        "matches",
        matches,
        &[
            "matches: (string, string) -> bool",
            "matches_string: string.(string) -> bool",
        ],
    ),
];

pub(super) fn install(env: &mut Env) {
    declare_operators(env, TEXT);
}

fn contains<'a>(_: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::String(text), Value::String(part)] => Ok(Value::Bool(text.contains(&**part))),
        _ => Err(EvalError::no_overload()),
    }
}

fn ends_with<'a>(_: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::String(text), Value::String(end)] => Ok(Value::Bool(text.ends_with(&**end))),
        _ => Err(EvalError::no_overload()),
    }
}

fn starts_with<'a>(_: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::String(text), Value::String(start)] => Ok(Value::Bool(text.starts_with(&**start))),
        _ => Err(EvalError::no_overload()),
    }
}

fn matches<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::String(text), Value::String(pattern)] => {
            Ok(Value::Bool(call.pattern(pattern)?.is_match(text)))
        }
        _ => Err(EvalError::no_overload()),
    }
}
