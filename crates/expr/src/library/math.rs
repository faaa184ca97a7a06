//! Numbers beyond the operators.

use super::{Table, declare};
use crate::{call::Call, env::Env, error::EvalError, value::Value};

type Outcome<'a> = Result<Value<'a>, EvalError>;

const MATH: Table = &[
    (
        "math.@max",
        greatest,
        &[
            "math_@max_double: (double) -> double",
            "math_@max_int: (int) -> int",
            "math_@max_uint: (uint) -> uint",
            "math_@max_double_double: (double, double) -> double",
            "math_@max_int_int: (int, int) -> int",
            "math_@max_uint_uint: (uint, uint) -> uint",
            "math_@max_int_uint: (int, uint) -> dyn",
            "math_@max_int_double: (int, double) -> dyn",
            "math_@max_double_int: (double, int) -> dyn",
            "math_@max_double_uint: (double, uint) -> dyn",
            "math_@max_uint_int: (uint, int) -> dyn",
            "math_@max_uint_double: (uint, double) -> dyn",
            "math_@max_list_double: (list(double)) -> double",
            "math_@max_list_int: (list(int)) -> int",
            "math_@max_list_uint: (list(uint)) -> uint",
        ],
    ),
    (
        "math.@min",
        least,
        &[
            "math_@min_double: (double) -> double",
            "math_@min_int: (int) -> int",
            "math_@min_uint: (uint) -> uint",
            "math_@min_double_double: (double, double) -> double",
            "math_@min_int_int: (int, int) -> int",
            "math_@min_uint_uint: (uint, uint) -> uint",
            "math_@min_int_uint: (int, uint) -> dyn",
            "math_@min_int_double: (int, double) -> dyn",
            "math_@min_double_int: (double, int) -> dyn",
            "math_@min_double_uint: (double, uint) -> dyn",
            "math_@min_uint_int: (uint, int) -> dyn",
            "math_@min_uint_double: (uint, double) -> dyn",
            "math_@min_list_double: (list(double)) -> double",
            "math_@min_list_int: (list(int)) -> int",
            "math_@min_list_uint: (list(uint)) -> uint",
        ],
    ),
    ("math.ceil", ceil, &["math_ceil_double: (double) -> double"]),
    (
        "math.floor",
        floor,
        &["math_floor_double: (double) -> double"],
    ),
    (
        "math.round",
        round,
        &["math_round_double: (double) -> double"],
    ),
    (
        "math.trunc",
        trunc,
        &["math_trunc_double: (double) -> double"],
    ),
    (
        "math.abs",
        abs,
        &[
            "math_abs_double: (double) -> double",
            "math_abs_int: (int) -> int",
            "math_abs_uint: (uint) -> uint",
        ],
    ),
    (
        "math.sign",
        sign,
        &[
            "math_sign_double: (double) -> double",
            "math_sign_int: (int) -> int",
            "math_sign_uint: (uint) -> uint",
        ],
    ),
    (
        "math.isNaN",
        is_nan,
        &["math_isNaN_double: (double) -> bool"],
    ),
    (
        "math.isInf",
        is_inf,
        &["math_isInf_double: (double) -> bool"],
    ),
    (
        "math.isFinite",
        is_finite,
        &["math_isFinite_double: (double) -> bool"],
    ),
    (
        "math.bitAnd",
        bit_and,
        &[
            "math_bitAnd_int_int: (int, int) -> int",
            "math_bitAnd_uint_uint: (uint, uint) -> uint",
        ],
    ),
    (
        "math.bitOr",
        bit_or,
        &[
            "math_bitOr_int_int: (int, int) -> int",
            "math_bitOr_uint_uint: (uint, uint) -> uint",
        ],
    ),
    (
        "math.bitXor",
        bit_xor,
        &[
            "math_bitXor_int_int: (int, int) -> int",
            "math_bitXor_uint_uint: (uint, uint) -> uint",
        ],
    ),
    (
        "math.bitNot",
        bit_not,
        &[
            "math_bitNot_int_int: (int) -> int",
            "math_bitNot_uint_uint: (uint) -> uint",
        ],
    ),
    (
        "math.bitShiftLeft",
        shift_left,
        &[
            "math_bitShiftLeft_int_int: (int, int) -> int",
            "math_bitShiftLeft_uint_int: (uint, int) -> uint",
        ],
    ),
    (
        "math.bitShiftRight",
        shift_right,
        &[
            "math_bitShiftRight_int_int: (int, int) -> int",
            "math_bitShiftRight_uint_int: (uint, int) -> uint",
        ],
    ),
    (
        "math.sqrt",
        sqrt,
        &[
            "math_sqrt_double: (double) -> double",
            "math_sqrt_int: (int) -> double",
            "math_sqrt_uint: (uint) -> double",
        ],
    ),
];

pub(super) fn install(env: &mut Env) {
    declare(env, MATH);
}

fn extreme<'a>(call: &mut Call<'_>, args: &[Value<'a>], greatest: bool) -> Outcome<'a> {
    let items: Vec<Value<'a>> = match args {
        [Value::List(list)] => list.iter().collect(),
        other => other.to_vec(),
    };
    let name = if greatest { "math.@max" } else { "math.@min" };
    let mut items = items.into_iter();
    let Some(mut best) = items.next() else {
        return Err(EvalError::new(format!(
            "{name}(list) argument must not be empty"
        )));
    };
    for item in items {
        let order = best
            .compare(&item)
            .map_err(|error| EvalError::new(format!("{error}: {name}")))?;
        if greatest && order.is_lt() || !greatest && order.is_gt() {
            best = item;
        }
    }
    match best {
        Value::Int(_) | Value::Uint(_) | Value::Double(_) => Ok(best),
        _ => call.refuse(args),
    }
}

fn greatest<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    extreme(call, args, true)
}

fn least<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    extreme(call, args, false)
}

fn double<'a>(call: &mut Call<'_>, args: &[Value<'a>], f: fn(f64) -> f64) -> Outcome<'a> {
    match args {
        [Value::Double(number)] => Ok(Value::Double(f(*number))),
        _ => call.refuse(args),
    }
}

fn ceil<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    double(call, args, f64::ceil)
}

fn floor<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    double(call, args, f64::floor)
}

fn round<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    double(call, args, f64::round)
}

fn trunc<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    double(call, args, f64::trunc)
}

fn is<'a>(call: &mut Call<'_>, args: &[Value<'a>], test: fn(f64) -> bool) -> Outcome<'a> {
    match args {
        [Value::Double(number)] => Ok(Value::Bool(test(*number))),
        _ => call.refuse(args),
    }
}

fn is_nan<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    is(call, args, f64::is_nan)
}

fn is_inf<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    is(call, args, f64::is_infinite)
}

fn is_finite<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    is(call, args, f64::is_finite)
}

fn abs<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::Double(number)] => Ok(Value::Double(number.abs())),
        [Value::Uint(number)] => Ok(Value::Uint(*number)),
        [Value::Int(number)] => number
            .checked_abs()
            .map(Value::Int)
            .ok_or_else(|| EvalError::new("integer overflow")),
        _ => call.refuse(args),
    }
}

fn sign<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::Double(number)] if number.is_nan() || *number == 0.0 => Ok(Value::Double(*number)),
        [Value::Double(number)] => Ok(Value::Double(number.signum())),
        [Value::Int(number)] => Ok(Value::Int(number.signum())),
        [Value::Uint(number)] => Ok(Value::Uint(u64::from(*number > 0))),
        _ => call.refuse(args),
    }
}

fn bit_and<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::Int(a), Value::Int(b)] => Ok(Value::Int(a & b)),
        [Value::Uint(a), Value::Uint(b)] => Ok(Value::Uint(a & b)),
        _ => call.refuse(args),
    }
}

fn bit_or<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::Int(a), Value::Int(b)] => Ok(Value::Int(a | b)),
        [Value::Uint(a), Value::Uint(b)] => Ok(Value::Uint(a | b)),
        _ => call.refuse(args),
    }
}

fn bit_xor<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::Int(a), Value::Int(b)] => Ok(Value::Int(a ^ b)),
        [Value::Uint(a), Value::Uint(b)] => Ok(Value::Uint(a ^ b)),
        _ => call.refuse(args),
    }
}

fn bit_not<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::Int(a)] => Ok(Value::Int(!a)),
        [Value::Uint(a)] => Ok(Value::Uint(!a)),
        _ => call.refuse(args),
    }
}

/// How far to shift; shifting everything out is allowed, shifting backwards is not.
fn distance(bits: i64, function: &str) -> Result<u32, EvalError> {
    if bits < 0 {
        return Err(EvalError::new(format!(
            "{function}() negative offset: {bits}"
        )));
    }
    Ok(u32::try_from(bits).unwrap_or(u32::MAX))
}

fn shift_left<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::Int(number), Value::Int(bits)] => {
            let bits = distance(*bits, "math.bitShiftLeft")?;
            Ok(Value::Int(number.checked_shl(bits).unwrap_or(0)))
        }
        [Value::Uint(number), Value::Int(bits)] => {
            let bits = distance(*bits, "math.bitShiftLeft")?;
            Ok(Value::Uint(number.checked_shl(bits).unwrap_or(0)))
        }
        _ => call.refuse(args),
    }
}

/// Zeros come in from the left, for numbers with a sign as well.
fn shift_right<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::Int(number), Value::Int(bits)] => {
            let bits = distance(*bits, "math.bitShiftRight")?;
            let shifted = number.cast_unsigned().checked_shr(bits).unwrap_or(0);
            Ok(Value::Int(shifted.cast_signed()))
        }
        [Value::Uint(number), Value::Int(bits)] => {
            let bits = distance(*bits, "math.bitShiftRight")?;
            Ok(Value::Uint(number.checked_shr(bits).unwrap_or(0)))
        }
        _ => call.refuse(args),
    }
}

#[allow(clippy::cast_precision_loss)] // a root is a double
fn sqrt<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::Double(number)] => Ok(Value::Double(number.sqrt())),
        [Value::Int(number)] => Ok(Value::Double((*number as f64).sqrt())),
        [Value::Uint(number)] => Ok(Value::Double((*number as f64).sqrt())),
        _ => call.refuse(args),
    }
}
