//! Lists as sets.

use super::{Table, declare};
use crate::{
    call::Call,
    env::Env,
    error::EvalError,
    value::{List, Value},
};

type Outcome<'a> = Result<Value<'a>, EvalError>;

const SETS: Table = &[
    (
        "sets.contains",
        contains,
        &["list_sets_contains_list: (list(T), list(T)) -> bool"],
    ),
    (
        "sets.equivalent",
        equivalent,
        &["list_sets_equivalent_list: (list(T), list(T)) -> bool"],
    ),
    (
        "sets.intersects",
        intersects,
        &["list_sets_intersects_list: (list(T), list(T)) -> bool"],
    ),
];

pub(super) fn install(env: &mut Env) {
    declare(env, SETS);
}

fn holds<'a>(call: &Call<'_>, list: &List<'a>, item: &Value<'a>) -> bool {
    list.iter().any(|known| call.same(&known, item))
}

fn holds_all<'a>(call: &Call<'_>, list: &List<'a>, part: &List<'a>) -> bool {
    part.iter().all(|item| holds(call, list, &item))
}

fn contains<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::List(list), Value::List(part)] => Ok(Value::Bool(holds_all(call, list, part))),
        _ => call.refuse(args),
    }
}

fn equivalent<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::List(one), Value::List(two)] => Ok(Value::Bool(
            holds_all(call, one, two) && holds_all(call, two, one),
        )),
        _ => call.refuse(args),
    }
}

fn intersects<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::List(one), Value::List(two)] => {
            Ok(Value::Bool(one.iter().any(|item| holds(call, two, &item))))
        }
        _ => call.refuse(args),
    }
}
