//! Lists: parts, order, and what repeats.

use super::{Table, declare};
use crate::{
    call::Call,
    env::Env,
    error::EvalError,
    value::{List, Value},
};

type Outcome<'a> = Result<Value<'a>, EvalError>;

const LISTS: Table = &[
    (
        "slice",
        slice,
        &["list_slice: list(T).(int, int) -> list(T)"],
    ),
    (
        "flatten",
        flatten,
        &[
            "list_flatten: list(list(T)).() -> list(T)",
            "list_flatten_int: list(dyn).(int) -> list(dyn)",
        ],
    ),
    ("lists.range", range, &["lists_range: (int) -> list(int)"]),
    ("reverse", reverse, &["list_reverse: list(T).() -> list(T)"]),
    (
        "distinct",
        distinct,
        &["list_distinct: list(T).() -> list(T)"],
    ),
    (
        "sort",
        sort,
        &[
            "list_int_sort: list(int).() -> list(int)",
            "list_uint_sort: list(uint).() -> list(uint)",
            "list_double_sort: list(double).() -> list(double)",
            "list_bool_sort: list(bool).() -> list(bool)",
            "list_google.protobuf.Duration_sort: list(duration).() -> list(duration)",
            "list_google.protobuf.Timestamp_sort: list(timestamp).() -> list(timestamp)",
            "list_string_sort: list(string).() -> list(string)",
            "list_bytes_sort: list(bytes).() -> list(bytes)",
        ],
    ),
    (
        "@sortByAssociatedKeys",
        sort_by_keys,
        &[
            "list_int_sortByAssociatedKeys: list(T).(list(int)) -> list(T)",
            "list_uint_sortByAssociatedKeys: list(T).(list(uint)) -> list(T)",
            "list_double_sortByAssociatedKeys: list(T).(list(double)) -> list(T)",
            "list_bool_sortByAssociatedKeys: list(T).(list(bool)) -> list(T)",
            "list_google.protobuf.Duration_sortByAssociatedKeys: list(T).(list(duration)) -> list(T)",
            "list_google.protobuf.Timestamp_sortByAssociatedKeys: list(T).(list(timestamp)) -> list(T)",
            "list_string_sortByAssociatedKeys: list(T).(list(string)) -> list(T)",
            "list_bytes_sortByAssociatedKeys: list(T).(list(bytes)) -> list(T)",
        ],
    ),
];

pub(super) fn install(env: &mut Env) {
    declare(env, LISTS);
}

/// A list made by a function.
fn made<'a>(call: &mut Call<'_>, items: Vec<Value<'a>>) -> Outcome<'a> {
    call.reserve(items.len() * size_of::<Value<'_>>())?;
    Ok(Value::list(items))
}

fn slice<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let [Value::List(list), Value::Int(start), Value::Int(end)] = args else {
        return call.refuse(args);
    };
    let refuse = |why: String| {
        Err(EvalError::new(format!(
            "cannot slice({start}, {end}), {why}"
        )))
    };
    let (Ok(from), Ok(to)) = (usize::try_from(*start), usize::try_from(*end)) else {
        return refuse("negative indexes not supported".to_owned());
    };
    if from > to {
        return refuse("start index must be less than or equal to end index".to_owned());
    }
    if to > list.len() {
        return refuse(format!("list is length {}", list.len()));
    }
    let items = (from..to).filter_map(|place| list.get(place)).collect();
    made(call, items)
}

fn flatten<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let (list, depth) = match args {
        [Value::List(list)] => (list, 1),
        [Value::List(list), Value::Int(depth)] => (list, *depth),
        _ => return call.refuse(args),
    };
    if depth < 0 {
        return Err(EvalError::new("level must be non-negative"));
    }
    let mut items = Vec::new();
    flatten_into(call, list, depth, &mut items)?;
    Ok(Value::list(items))
}

fn flatten_into<'a>(
    call: &mut Call<'_>,
    list: &List<'a>,
    depth: i64,
    items: &mut Vec<Value<'a>>,
) -> Result<(), EvalError> {
    for item in list.iter() {
        match item {
            Value::List(inner) if depth > 0 => flatten_into(call, &inner, depth - 1, items)?,
            other => {
                call.reserve(size_of::<Value<'_>>())?;
                items.push(other);
            }
        }
    }
    Ok(())
}

fn range<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let [Value::Int(count)] = args else {
        return call.refuse(args);
    };
    let wanted = usize::try_from((*count).max(0)).unwrap_or(usize::MAX);
    call.reserve(wanted.saturating_mul(size_of::<Value<'_>>()))?;
    Ok(Value::list((0..*count).map(Value::Int).collect()))
}

fn reverse<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let [Value::List(list)] = args else {
        return call.refuse(args);
    };
    let mut items: Vec<Value<'a>> = list.iter().collect();
    items.reverse();
    made(call, items)
}

fn distinct<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let [Value::List(list)] = args else {
        return call.refuse(args);
    };
    let mut items: Vec<Value<'a>> = Vec::new();
    for item in list.iter() {
        if !items.iter().any(|known| call.same(known, &item)) {
            items.push(item);
        }
    }
    made(call, items)
}

fn sort<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::List(list)] => sorted(call, list, list),
        _ => call.refuse(args),
    }
}

fn sort_by_keys<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::List(list), Value::List(keys)] => sorted(call, list, keys),
        _ => call.refuse(args),
    }
}

fn sorted<'a>(call: &mut Call<'_>, list: &List<'a>, keys: &List<'a>) -> Outcome<'a> {
    if list.len() != keys.len() {
        return Err(EvalError::new(format!(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got {} and {} elements respectively",
            list.len(),
            keys.len()
        )));
    }
    let mut pairs: Vec<(Value<'a>, Value<'a>)> = keys.iter().zip(list.iter()).collect();
    if let Some((first, _)) = pairs.first() {
        if first.compare(first).is_err() && !matches!(first, Value::Double(_)) {
            return Err(EvalError::new("list elements must be comparable"));
        }
        let name = first.type_name();
        if pairs.iter().any(|(key, _)| key.type_name() != name) {
            return Err(EvalError::new("list elements must have the same type"));
        }
    }
    pairs.sort_by(|one, two| one.0.compare(&two.0).unwrap_or(std::cmp::Ordering::Equal));
    made(call, pairs.into_iter().map(|(_, item)| item).collect())
}
