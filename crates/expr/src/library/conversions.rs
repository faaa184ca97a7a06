//! Conversions between types.

use super::{Table, declare};
use crate::{call::Call, env::Env, error::EvalError, ty::Type, value::Value};

type Outcome<'a> = Result<Value<'a>, EvalError>;

const CONVERSIONS: Table = &[
    (
        "bool",
        bool,
        &[
            "bool_to_bool: (bool) -> bool",
            "string_to_bool: (string) -> bool",
        ],
    ),
    (
        "bytes",
        bytes,
        &[
            "bytes_to_bytes: (bytes) -> bytes",
            "string_to_bytes: (string) -> bytes",
        ],
    ),
    (
        "double",
        double,
        &[
            "double_to_double: (double) -> double",
            "int64_to_double: (int) -> double",
            "string_to_double: (string) -> double",
            "uint64_to_double: (uint) -> double",
        ],
    ),
    (
        "duration",
        duration,
        &[
            "duration_to_duration: (duration) -> duration",
            "int64_to_duration: (int) -> duration",
            "string_to_duration: (string) -> duration",
        ],
    ),
    ("dyn", dyn_of, &["to_dyn: (A) -> dyn"]),
    (
        "int",
        int,
        &[
            "int64_to_int64: (int) -> int",
            "double_to_int64: (double) -> int",
            "duration_to_int64: (duration) -> int",
            "string_to_int64: (string) -> int",
            "timestamp_to_int64: (timestamp) -> int",
            "uint64_to_int64: (uint) -> int",
        ],
    ),
    (
        "string",
        string,
        &[
            "string_to_string: (string) -> string",
            "bool_to_string: (bool) -> string",
            "bytes_to_string: (bytes) -> string",
            "double_to_string: (double) -> string",
            "duration_to_string: (duration) -> string",
            "int64_to_string: (int) -> string",
            "timestamp_to_string: (timestamp) -> string",
            "uint64_to_string: (uint) -> string",
        ],
    ),
    (
        "timestamp",
        timestamp,
        &[
            "timestamp_to_timestamp: (timestamp) -> timestamp",
            "int64_to_timestamp: (int) -> timestamp",
            "string_to_timestamp: (string) -> timestamp",
        ],
    ),
    ("type", type_of, &["type: (A) -> type(A)"]),
    (
        "uint",
        uint,
        &[
            "uint64_to_uint64: (uint) -> uint",
            "double_to_uint64: (double) -> uint",
            "int64_to_uint64: (int) -> uint",
            "string_to_uint64: (string) -> uint",
        ],
    ),
];

pub(super) fn install(env: &mut Env) {
    declare(env, CONVERSIONS);
}

fn convert<'a>(call: &mut Call<'_>, args: &[Value<'a>], to: &Type) -> Outcome<'a> {
    match args {
        [value] => match value.convert(to)? {
            Value::String(text) => {
                call.reserve(text.len())?;
                Ok(Value::String(text))
            }
            other => Ok(other),
        },
        _ => call.refuse(args),
    }
}

fn bool<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    convert(call, args, &Type::Bool)
}

fn bytes<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    convert(call, args, &Type::Bytes)
}

fn double<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    convert(call, args, &Type::Double)
}

fn duration<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    convert(call, args, &Type::Duration)
}

fn int<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    convert(call, args, &Type::Int)
}

fn string<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    convert(call, args, &Type::String)
}

fn timestamp<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    convert(call, args, &Type::Timestamp)
}

fn uint<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    convert(call, args, &Type::Uint)
}

#[allow(clippy::unnecessary_wraps)] // the shape of all functions
fn dyn_of<'a>(_: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(args.first().cloned().unwrap_or(Value::Null))
}

#[allow(clippy::unnecessary_wraps)]
fn type_of<'a>(_: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::Type(args.first().map_or(Type::Null, Value::type_of)))
}
