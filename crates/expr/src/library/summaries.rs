//! Lists of a Kubernetes server: order, sums and places.

use super::{Table, declare};
use crate::{call::Call, env::Env, error::EvalError, value::Value};

type Outcome<'a> = Result<Value<'a>, EvalError>;

const SUMMARIES: Table = &[
    (
        "isSorted",
        is_sorted,
        &[
            "list_int_is_sorted_bool: list(int).() -> bool",
            "list_uint_is_sorted_bool: list(uint).() -> bool",
            "list_double_is_sorted_bool: list(double).() -> bool",
            "list_bool_is_sorted_bool: list(bool).() -> bool",
            "list_duration_is_sorted_bool: list(duration).() -> bool",
            "list_timestamp_is_sorted_bool: list(timestamp).() -> bool",
            "list_string_is_sorted_bool: list(string).() -> bool",
            "list_bytes_is_sorted_bool: list(bytes).() -> bool",
        ],
    ),
    (
        "sum",
        sum,
        &[
            "list_int_sum_int: list(int).() -> int",
            "list_uint_sum_uint: list(uint).() -> uint",
            "list_double_sum_double: list(double).() -> double",
            "list_duration_sum_duration: list(duration).() -> duration",
        ],
    ),
    (
        "min",
        least,
        &[
            "list_int_min_int: list(int).() -> int",
            "list_uint_min_uint: list(uint).() -> uint",
            "list_double_min_double: list(double).() -> double",
            "list_bool_min_bool: list(bool).() -> bool",
            "list_duration_min_duration: list(duration).() -> duration",
            "list_timestamp_min_timestamp: list(timestamp).() -> timestamp",
            "list_string_min_string: list(string).() -> string",
            "list_bytes_min_bytes: list(bytes).() -> bytes",
        ],
    ),
    (
        "max",
        greatest,
        &[
            "list_int_max_int: list(int).() -> int",
            "list_uint_max_uint: list(uint).() -> uint",
            "list_double_max_double: list(double).() -> double",
            "list_bool_max_bool: list(bool).() -> bool",
            "list_duration_max_duration: list(duration).() -> duration",
            "list_timestamp_max_timestamp: list(timestamp).() -> timestamp",
            "list_string_max_string: list(string).() -> string",
            "list_bytes_max_bytes: list(bytes).() -> bytes",
        ],
    ),
    (
        "indexOf",
        index_of,
        &["list_a_index_of_int: list(A).(A) -> int"],
    ),
    (
        "lastIndexOf",
        last_index_of,
        &["list_a_last_index_of_int: list(A).(A) -> int"],
    ),
];

pub(super) fn install(env: &mut Env) {
    declare(env, SUMMARIES);
}

/// An element that has an order.
fn comparable(item: Value<'_>) -> Outcome<'_> {
    use Value::{List, Map, Null, Opaque, Optional, Type};
    match item {
        Null | List(_) | Map(_) | Type(_) | Optional(_) | Opaque(_) => {
            Err(EvalError::no_overload())
        }
        item => Ok(item),
    }
}

fn is_sorted<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let [Value::List(list)] = args else {
        return call.refuse(args);
    };
    let mut before: Option<Value<'a>> = None;
    for item in list.iter() {
        let item = comparable(item)?;
        if let Some(before) = &before
            && before.compare(&item).is_ok_and(std::cmp::Ordering::is_gt)
        {
            return Ok(Value::Bool(false));
        }
        before = Some(item);
    }
    Ok(Value::Bool(true))
}

fn sum<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let [Value::List(list)] = args else {
        return call.refuse(args);
    };
    // An empty list says nothing about its type; the overload does.
    let mut total = match call.overload() {
        "list_uint_sum_uint" => Value::Uint(0),
        "list_double_sum_double" => Value::Double(0.0),
        "list_duration_sum_duration" => Value::Duration(0),
        "list_int_sum_int" => Value::Int(0),
        _ => match list.get(0) {
            Some(Value::Uint(_)) => Value::Uint(0),
            Some(Value::Double(_)) => Value::Double(0.0),
            Some(Value::Duration(_)) => Value::Duration(0),
            _ => Value::Int(0),
        },
    };
    for item in list.iter() {
        total = super::arithmetic::add(call, &[total, item])?;
    }
    Ok(total)
}

fn extreme<'a>(call: &mut Call<'_>, args: &[Value<'a>], greatest: bool) -> Outcome<'a> {
    let [Value::List(list)] = args else {
        return call.refuse(args);
    };
    let mut best: Option<Value<'a>> = None;
    for item in list.iter() {
        let item = comparable(item)?;
        best = Some(match best {
            None => item,
            Some(best) => match best.compare(&item) {
                Ok(order) if greatest && order.is_lt() || !greatest && order.is_gt() => item,
                _ => best,
            },
        });
    }
    let name = if greatest { "max" } else { "min" };
    best.ok_or_else(|| EvalError::new(format!("{name} called on empty list")))
}

fn greatest<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    extreme(call, args, true)
}

fn least<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    extreme(call, args, false)
}

fn place(found: Option<usize>) -> Value<'static> {
    Value::Int(
        found
            .and_then(|place| i64::try_from(place).ok())
            .unwrap_or(-1),
    )
}

fn index_of<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::List(list), item] => {
            Ok(place(list.iter().position(|known| call.same(&known, item))))
        }
        _ => call.refuse(args),
    }
}

fn last_index_of<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::List(list), item] => {
            let found = list
                .iter()
                .enumerate()
                .filter(|(_, known)| call.same(known, item))
                .last();
            Ok(place(found.map(|(place, _)| place)))
        }
        _ => call.refuse(args),
    }
}
