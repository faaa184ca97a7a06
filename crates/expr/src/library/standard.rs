//! The functions that every environment has.

use std::cmp::Ordering;

use super::{Table, arithmetic, conversions, declare_operators, name_types, text, time};
use crate::{
    call::Call,
    env::{Body, Env},
    error::EvalError,
    ty::Type,
    value::Value,
};

type Outcome<'a> = Result<Value<'a>, EvalError>;

/// Done by the evaluator: they need not look at all their arguments.
const SPECIAL: &[(&str, &[&str])] = &[
    ("_&&_", &["logical_and: (bool, bool) -> bool"]),
    ("_||_", &["logical_or: (bool, bool) -> bool"]),
    ("_?_:_", &["conditional: (bool, A, A) -> A"]),
    ("_==_", &["equals: (A, A) -> bool"]),
    ("_!=_", &["not_equals: (A, A) -> bool"]),
    (
        "_[_]",
        &[
            "index_list: (list(A), int) -> A",
            "index_map: (map(A, B), A) -> B",
        ],
    ),
];

const OPERATORS: Table = &[
    (
        "_+_",
        arithmetic::add,
        &[
            "add_bytes: (bytes, bytes) -> bytes",
            "add_double: (double, double) -> double",
            "add_duration_duration: (duration, duration) -> duration",
            "add_duration_timestamp: (duration, timestamp) -> timestamp",
            "add_timestamp_duration: (timestamp, duration) -> timestamp",
            "add_int64: (int, int) -> int",
            "add_list: (list(A), list(A)) -> list(A)",
            "add_string: (string, string) -> string",
            "add_uint64: (uint, uint) -> uint",
        ],
    ),
    (
        "_-_",
        arithmetic::subtract,
        &[
            "subtract_double: (double, double) -> double",
            "subtract_duration_duration: (duration, duration) -> duration",
            "subtract_int64: (int, int) -> int",
            "subtract_timestamp_duration: (timestamp, duration) -> timestamp",
            "subtract_timestamp_timestamp: (timestamp, timestamp) -> duration",
            "subtract_uint64: (uint, uint) -> uint",
        ],
    ),
    (
        "_*_",
        arithmetic::multiply,
        &[
            "multiply_double: (double, double) -> double",
            "multiply_int64: (int, int) -> int",
            "multiply_uint64: (uint, uint) -> uint",
        ],
    ),
    (
        "_/_",
        arithmetic::divide,
        &[
            "divide_double: (double, double) -> double",
            "divide_int64: (int, int) -> int",
            "divide_uint64: (uint, uint) -> uint",
        ],
    ),
    (
        "_%_",
        arithmetic::modulo,
        &[
            "modulo_int64: (int, int) -> int",
            "modulo_uint64: (uint, uint) -> uint",
        ],
    ),
    (
        "-_",
        arithmetic::negate,
        &[
            "negate_double: (double) -> double",
            "negate_int64: (int) -> int",
        ],
    ),
    (
        "_<_",
        less,
        &[
            "less_bool: (bool, bool) -> bool",
            "less_int64: (int, int) -> bool",
            "less_int64_double: (int, double) -> bool",
            "less_int64_uint64: (int, uint) -> bool",
            "less_uint64: (uint, uint) -> bool",
            "less_uint64_double: (uint, double) -> bool",
            "less_uint64_int64: (uint, int) -> bool",
            "less_double: (double, double) -> bool",
            "less_double_int64: (double, int) -> bool",
            "less_double_uint64: (double, uint) -> bool",
            "less_string: (string, string) -> bool",
            "less_bytes: (bytes, bytes) -> bool",
            "less_timestamp: (timestamp, timestamp) -> bool",
            "less_duration: (duration, duration) -> bool",
        ],
    ),
    (
        "_<=_",
        less_equal,
        &[
            "less_equals_bool: (bool, bool) -> bool",
            "less_equals_int64: (int, int) -> bool",
            "less_equals_int64_double: (int, double) -> bool",
            "less_equals_int64_uint64: (int, uint) -> bool",
            "less_equals_uint64: (uint, uint) -> bool",
            "less_equals_uint64_double: (uint, double) -> bool",
            "less_equals_uint64_int64: (uint, int) -> bool",
            "less_equals_double: (double, double) -> bool",
            "less_equals_double_int64: (double, int) -> bool",
            "less_equals_double_uint64: (double, uint) -> bool",
            "less_equals_string: (string, string) -> bool",
            "less_equals_bytes: (bytes, bytes) -> bool",
            "less_equals_timestamp: (timestamp, timestamp) -> bool",
            "less_equals_duration: (duration, duration) -> bool",
        ],
    ),
    (
        "_>_",
        greater,
        &[
            "greater_bool: (bool, bool) -> bool",
            "greater_int64: (int, int) -> bool",
            "greater_int64_double: (int, double) -> bool",
            "greater_int64_uint64: (int, uint) -> bool",
            "greater_uint64: (uint, uint) -> bool",
            "greater_uint64_double: (uint, double) -> bool",
            "greater_uint64_int64: (uint, int) -> bool",
            "greater_double: (double, double) -> bool",
            "greater_double_int64: (double, int) -> bool",
            "greater_double_uint64: (double, uint) -> bool",
            "greater_string: (string, string) -> bool",
            "greater_bytes: (bytes, bytes) -> bool",
            "greater_timestamp: (timestamp, timestamp) -> bool",
            "greater_duration: (duration, duration) -> bool",
        ],
    ),
    (
        "_>=_",
        greater_equal,
        &[
            "greater_equals_bool: (bool, bool) -> bool",
            "greater_equals_int64: (int, int) -> bool",
            "greater_equals_int64_double: (int, double) -> bool",
            "greater_equals_int64_uint64: (int, uint) -> bool",
            "greater_equals_uint64: (uint, uint) -> bool",
            "greater_equals_uint64_double: (uint, double) -> bool",
            "greater_equals_uint64_int64: (uint, int) -> bool",
            "greater_equals_double: (double, double) -> bool",
            "greater_equals_double_int64: (double, int) -> bool",
            "greater_equals_double_uint64: (double, uint) -> bool",
            "greater_equals_string: (string, string) -> bool",
            "greater_equals_bytes: (bytes, bytes) -> bool",
            "greater_equals_timestamp: (timestamp, timestamp) -> bool",
            "greater_equals_duration: (duration, duration) -> bool",
        ],
    ),
    ("!_", not, &["logical_not: (bool) -> bool"]),
    (
        "@not_strictly_false",
        not_strictly_false,
        &["not_strictly_false: (bool) -> bool"],
    ),
    (
        "__not_strictly_false__",
        not_strictly_false,
        &["__not_strictly_false__: (bool) -> bool"],
    ),
    (
        "@in",
        contained,
        &[
            "in_list: (A, list(A)) -> bool",
            "in_map: (A, map(A, B)) -> bool",
        ],
    ),
    (
        "_in_",
        contained,
        &[
            "in_list: (A, list(A)) -> bool",
            "in_map: (A, map(A, B)) -> bool",
        ],
    ),
    (
        "in",
        contained,
        &[
            "in_list: (A, list(A)) -> bool",
            "in_map: (A, map(A, B)) -> bool",
        ],
    ),
    (
        "size",
        size,
        &[
            "size_bytes: (bytes) -> int",
            "bytes_size: bytes.() -> int",
            "size_list: (list(A)) -> int",
            "list_size: list(A).() -> int",
            "size_map: (map(A, B)) -> int",
            "map_size: map(A, B).() -> int",
            "size_string: (string) -> int",
            "string_size: string.() -> int",
        ],
    ),
];

pub(super) fn install(env: &mut Env) {
    for (name, signatures) in SPECIAL {
        env.add(name, signatures, &Body::Special);
    }
    declare_operators(env, OPERATORS);
    conversions::install(env);
    text::install(env);
    time::install(env);
    name_types(
        env,
        &[
            ("bool", Type::Bool),
            ("bytes", Type::Bytes),
            ("double", Type::Double),
            ("google.protobuf.Duration", Type::Duration),
            ("google.protobuf.Timestamp", Type::Timestamp),
            ("int", Type::Int),
            ("list", Type::list(Type::Param("A".into()))),
            (
                "map",
                Type::map(Type::Param("A".into()), Type::Param("B".into())),
            ),
            ("null_type", Type::Null),
            ("string", Type::String),
            ("type", Type::Type(None)),
            ("uint", Type::Uint),
        ],
    );
}

fn order(call: &Call<'_>, args: &[Value<'_>]) -> Result<Ordering, EvalError> {
    use Value::{List, Map, Null, Opaque, Optional, Type};
    match args {
        // What has no order at all does not know the operator.
        [
            Null | List(_) | Map(_) | Type(_) | Optional(_) | Opaque(_),
            _,
        ] => Err(EvalError::new(format!(
            "no such overload: {}",
            call.function
        ))),
        [one, two] => one.compare(two),
        _ => Err(EvalError::no_overload()),
    }
}

fn less<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::Bool(order(call, args)?.is_lt()))
}

fn less_equal<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::Bool(order(call, args)?.is_le()))
}

fn greater<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::Bool(order(call, args)?.is_gt()))
}

fn greater_equal<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::Bool(order(call, args)?.is_ge()))
}

fn not<'a>(_: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::Bool(truth)] => Ok(Value::Bool(!truth)),
        _ => Err(EvalError::no_overload()),
    }
}

/// True unless the argument is plainly false; failures are taken care of by the evaluator.
#[allow(clippy::unnecessary_wraps)] // the shape of all functions
fn not_strictly_false<'a>(_: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::Bool(!matches!(args, [Value::Bool(false)])))
}

fn contained<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [item, Value::List(list)] => Ok(Value::Bool(
            list.iter().any(|candidate| call.same(&candidate, item)),
        )),
        [key, Value::Map(map)] => Ok(Value::Bool(map.get(key).is_some())),
        _ => Err(EvalError::no_overload()),
    }
}

fn size<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match args.first().and_then(Value::length) {
        Some(length) => Ok(Value::Int(i64::try_from(length).unwrap_or(i64::MAX))),
        None if matches!(args, [Value::Timestamp(_) | Value::Duration(_)]) => {
            Err(EvalError::no_overload())
        }
        None => Err(EvalError::new(format!(
            "no such overload: {}",
            call.function
        ))),
    }
}
