//! Operators on numbers, text, lists and time.

use crate::{
    call::Call,
    error::EvalError,
    ty::ListKind,
    value::{List, Value, same_keys},
};

type Outcome<'a> = Result<Value<'a>, EvalError>;

const INT: &str = "integer overflow";
const UINT: &str = "unsigned integer overflow";
/// Spans are integers, and so is their overflow.
const DURATION: &str = INT;
const TIMESTAMP: &str = "timestamp overflow";

fn int<'a>(result: Option<i64>) -> Outcome<'a> {
    result.map(Value::Int).ok_or_else(|| EvalError::new(INT))
}

fn uint<'a>(result: Option<u64>) -> Outcome<'a> {
    result.map(Value::Uint).ok_or_else(|| EvalError::new(UINT))
}

fn span<'a>(result: Option<i64>) -> Outcome<'a> {
    result
        .map(Value::Duration)
        .ok_or_else(|| EvalError::new(DURATION))
}

/// The error for operands of the wrong types. The function is named only when the first operand
/// knows no such operator at all.
fn unfit<'a>(call: &Call<'_>, args: &[Value<'a>], knows: fn(&Value<'a>) -> bool) -> Outcome<'a> {
    use Value::{Duration, String, Timestamp};
    match args.first() {
        Some(String(_) | Timestamp(_) | Duration(_)) => Err(EvalError::no_overload()),
        Some(first) if knows(first) => Err(EvalError::no_overload()),
        _ => Err(EvalError::new(format!(
            "no such overload: {}",
            call.function
        ))),
    }
}

fn is_number(value: &Value<'_>) -> bool {
    matches!(value, Value::Int(_) | Value::Uint(_) | Value::Double(_))
}

pub(super) fn add<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let [one, two] = args else {
        return Err(EvalError::no_overload());
    };
    match (one, two) {
        (Value::Int(a), Value::Int(b)) => int(a.checked_add(*b)),
        (Value::Uint(a), Value::Uint(b)) => uint(a.checked_add(*b)),
        (Value::Double(a), Value::Double(b)) => Ok(Value::Double(a + b)),
        (Value::String(a), Value::String(b)) => {
            call.reserve(a.len() + b.len())?;
            Ok(Value::text([&**a, &**b].concat()))
        }
        (Value::Bytes(a), Value::Bytes(b)) => {
            call.reserve(a.len() + b.len())?;
            Ok(Value::bytes([&**a, &**b].concat()))
        }
        (Value::List(a), Value::List(b)) => Ok(Value::List(merge(call, a, b))),
        (Value::Duration(a), Value::Duration(b)) => span(a.checked_add(*b)),
        (Value::Timestamp(moment), Value::Duration(nanos))
        | (Value::Duration(nanos), Value::Timestamp(moment)) => moment
            .plus(*nanos)
            .map(Value::Timestamp)
            .ok_or_else(|| EvalError::new(TIMESTAMP)),
        _ => unfit(call, args, |first| {
            is_number(first) || matches!(first, Value::Bytes(_) | Value::List(_))
        }),
    }
}

/// Two lists together: elements of sets once, elements of keyed lists replaced by key.
fn merge<'a>(call: &Call<'_>, one: &List<'a>, two: &List<'a>) -> List<'a> {
    match one.kind() {
        ListKind::Plain => one.join(two),
        ListKind::Set => {
            let mut items: Vec<Value<'a>> = one.iter().collect();
            for item in two.iter() {
                if !items.iter().any(|known| call.same(known, &item)) {
                    items.push(item);
                }
            }
            List::new(items)
        }
        ListKind::Keyed(keys) => {
            let mut items: Vec<Value<'a>> = one.iter().collect();
            for item in two.iter() {
                match items.iter_mut().find(|known| same_keys(known, &item, keys)) {
                    Some(known) => *known = item,
                    None => items.push(item),
                }
            }
            List::new(items)
        }
    }
}

pub(super) fn subtract<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let [one, two] = args else {
        return Err(EvalError::no_overload());
    };
    match (one, two) {
        (Value::Int(a), Value::Int(b)) => int(a.checked_sub(*b)),
        (Value::Uint(a), Value::Uint(b)) => uint(a.checked_sub(*b)),
        (Value::Double(a), Value::Double(b)) => Ok(Value::Double(a - b)),
        (Value::Duration(a), Value::Duration(b)) => span(a.checked_sub(*b)),
        (Value::Timestamp(moment), Value::Duration(nanos)) => nanos
            .checked_neg()
            .and_then(|nanos| moment.plus(nanos))
            .map(Value::Timestamp)
            .ok_or_else(|| EvalError::new(TIMESTAMP)),
        (Value::Timestamp(a), Value::Timestamp(b)) => {
            int(i64::try_from(a.nanos() - b.nanos()).ok()).map(|difference| match difference {
                Value::Int(nanos) => Value::Duration(nanos),
                other => other,
            })
        }
        _ => unfit(call, args, is_number),
    }
}

pub(super) fn multiply<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::Int(a), Value::Int(b)] => int(a.checked_mul(*b)),
        [Value::Uint(a), Value::Uint(b)] => uint(a.checked_mul(*b)),
        [Value::Double(a), Value::Double(b)] => Ok(Value::Double(a * b)),
        _ => unfit(call, args, is_number),
    }
}

pub(super) fn divide<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::Int(_), Value::Int(0)] | [Value::Uint(_), Value::Uint(0)] => {
            Err(EvalError::new("division by zero"))
        }
        [Value::Int(a), Value::Int(b)] => int(a.checked_div(*b)),
        [Value::Uint(a), Value::Uint(b)] => uint(a.checked_div(*b)),
        [Value::Double(a), Value::Double(b)] => Ok(Value::Double(a / b)),
        _ => unfit(call, args, is_number),
    }
}

pub(super) fn modulo<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::Int(_), Value::Int(0)] | [Value::Uint(_), Value::Uint(0)] => {
            Err(EvalError::new("modulus by zero"))
        }
        [Value::Int(a), Value::Int(b)] => int(a.checked_rem(*b)),
        [Value::Uint(a), Value::Uint(b)] => uint(a.checked_rem(*b)),
        _ => unfit(call, args, |first| {
            matches!(first, Value::Int(_) | Value::Uint(_))
        }),
    }
}

pub(super) fn negate<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::Int(a)] => int(a.checked_neg()),
        [Value::Double(a)] => Ok(Value::Double(-a)),
        [Value::Duration(a)] => span(a.checked_neg()),
        _ => unfit(call, args, |first| is_number(first)),
    }
}
