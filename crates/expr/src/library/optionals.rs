//! Values that may be absent.

use super::{Table, declare};
use crate::{call::Call, env::Env, error::EvalError, value::Value};

type Outcome<'a> = Result<Value<'a>, EvalError>;

/// Handled by the evaluator.
const SPECIAL: &[(&str, &[&str])] = &[
    (
        "or",
        &["optional_or_optional: optional_type(V).(optional_type(V)) -> optional_type(V)"],
    ),
    (
        "orValue",
        &["optional_orValue_value: optional_type(V).(V) -> V"],
    ),
    (
        "_?._",
        &["select_optional_field: (dyn, string) -> optional_type(V)"],
    ),
    (
        "_[?_]",
        &[
            "list_optindex_optional_int: (list(V), int) -> optional_type(V)",
            "optional_list_optindex_optional_int: (optional_type(list(V)), int) -> optional_type(V)",
            "map_optindex_optional_value: (map(K, V), K) -> optional_type(V)",
            "optional_map_optindex_optional_value: (optional_type(map(K, V)), K) -> optional_type(V)",
        ],
    ),
    (
        "_[_]",
        &[
            "optional_list_index_int: (optional_type(list(V)), int) -> optional_type(V)",
            "optional_map_index_value: (optional_type(map(K, V)), K) -> optional_type(V)",
        ],
    ),
];

const OPTIONALS: Table = &[
    ("optional.of", of, &["optional_of: (V) -> optional_type(V)"]),
    (
        "optional.ofNonZeroValue",
        of_non_zero,
        &["optional_ofNonZeroValue: (V) -> optional_type(V)"],
    ),
    (
        "optional.none",
        none,
        &["optional_none: () -> optional_type(V)"],
    ),
    (
        "value",
        value,
        &["optional_value: optional_type(V).() -> V"],
    ),
    (
        "hasValue",
        has_value,
        &["optional_hasValue: optional_type(V).() -> bool"],
    ),
    (
        "optional.unwrap",
        unwrap,
        &["optional_unwrap: (list(optional_type(V))) -> list(V)"],
    ),
    (
        "unwrapOpt",
        unwrap,
        &["optional_unwrapOpt: list(optional_type(V)).() -> list(V)"],
    ),
    (
        "first",
        first,
        &["list_first: list(V).() -> optional_type(V)"],
    ),
    ("last", last, &["list_last: list(V).() -> optional_type(V)"]),
];

pub(super) fn install(env: &mut Env) {
    for (name, signatures) in SPECIAL {
        env.add(name, signatures, &crate::env::Body::Special);
    }
    declare(env, OPTIONALS);
    env.name_type(
        "optional_type",
        crate::Type::optional(crate::Type::Param("V".into())),
    );
}

fn of<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [value] => Ok(Value::some(value.clone())),
        _ => call.refuse(args),
    }
}

fn of_non_zero<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [value] if value.is_zero() => Ok(Value::Optional(None)),
        _ => of(call, args),
    }
}

#[allow(clippy::unnecessary_wraps)] // the shape of all functions
fn none<'a>(_: &mut Call<'_>, _: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::Optional(None))
}

fn value<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::Optional(Some(inner))] => Ok((**inner).clone()),
        [Value::Optional(None)] => Err(EvalError::new("optional.none() dereference")),
        _ => call.refuse(args),
    }
}

fn has_value<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::Optional(inner)] => Ok(Value::Bool(inner.is_some())),
        _ => call.refuse(args),
    }
}

fn unwrap<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let [Value::List(list)] = args else {
        return call.refuse(args);
    };
    let mut items = Vec::new();
    for item in list.iter() {
        match item {
            Value::Optional(inner) => items.extend(inner.map(|inner| (*inner).clone())),
            other => {
                return Err(EvalError::new(format!(
                    "value {} is not optional",
                    other.show()
                )));
            }
        }
    }
    call.reserve(items.len() * size_of::<Value<'_>>())?;
    Ok(Value::list(items))
}

fn first<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::List(list)] => Ok(list.get(0).map_or(Value::Optional(None), Value::some)),
        _ => call.refuse(args),
    }
}

fn last<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::List(list)] => {
            let end = list.len().checked_sub(1).and_then(|place| list.get(place));
            Ok(end.map_or(Value::Optional(None), Value::some))
        }
        _ => call.refuse(args),
    }
}
