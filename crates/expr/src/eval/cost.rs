//! What calls cost, by the reference's model and a Kubernetes server's additions.

use crate::{library::is_flat, value::Value};

/// A tenth per unit of size, rounded up.
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]
pub(crate) fn scaled(size: u64, factor: f64) -> u64 {
    (size as f64 * factor).ceil() as u64
}

/// The cost of going over something once.
pub(crate) fn traversal(size: u64) -> u64 {
    scaled(size, 0.1)
}

/// The cost of a pattern on a text.
fn matching(text: u64, pattern: u64) -> u64 {
    scaled(text.saturating_add(1), 0.1).saturating_mul(scaled(pattern, 0.25))
}

/// Whether a call costs what its result is worth.
pub(crate) fn by_result(function: &str, overload: &str) -> bool {
    function == "join" || matches!(overload, "list_slice" | "lists_range" | "list_reverse")
}

/// The cost of a call; for those that cost [`by_result`], of one that has been made.
pub(crate) fn call(
    function: &str,
    overload: &str,
    args: &[Value<'_>],
    result: Option<&Value<'_>>,
) -> u64 {
    let size = |place: usize| args.get(place).map_or(1, Value::size);
    if let Some(cost) = containers(overload, args, result) {
        return cost;
    }
    if let Some(cost) = server(function, overload, args, result) {
        return cost;
    }
    match overload {
        "starts_with_string" | "ends_with_string" | "string_to_bytes" | "bytes_to_string"
        | "strings_quote" | "string_format" => traversal(size(0)),
        "in_list" => size(1),
        "less_string"
        | "greater_string"
        | "less_equals_string"
        | "greater_equals_string"
        | "less_bytes"
        | "greater_bytes"
        | "less_equals_bytes"
        | "greater_equals_bytes" => traversal(size(0).min(size(1))),
        "add_string" | "add_bytes" => traversal(size(0).saturating_add(size(1))),
        "matches_string" => matching(size(0), size(1)),
        "contains_string" => traversal(size(0)).saturating_mul(traversal(size(1))),
        _ => 1,
    }
}

/// Functions on lists and sets, whose libraries bring their own prices.
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]
fn containers(overload: &str, args: &[Value<'_>], result: Option<&Value<'_>>) -> Option<u64> {
    let size = |place: usize| args.get(place).map_or(1, Value::size);
    // A negative factor wraps around, as in the reference.
    let made = |factor: f64, size: u64| {
        let cost = size as f64 * factor;
        let cost = if cost < 0.0 {
            (cost as i64).cast_unsigned()
        } else {
            cost as u64
        };
        Some(cost.wrapping_add(11))
    };
    let product = |factor: u64| Some(1 + size(0).saturating_mul(size(1)).saturating_mul(factor));
    match overload {
        "list_sets_contains_list" | "list_sets_intersects_list" => product(1),
        "list_sets_equivalent_list" => product(2),
        "list_slice" | "lists_range" | "list_reverse" => made(1.0, result.map_or(1, Value::size)),
        "list_flatten" => made(1.0, size(0)),
        "list_flatten_int" => match args.get(1) {
            Some(Value::Int(depth)) => made(*depth as f64, size(0)),
            _ => None,
        },
        _ if overload == "list_distinct" || overload.ends_with("_sort") => {
            made(comparing(args.first()), size(0).saturating_mul(size(0)))
        }
        _ if overload.ends_with("_sortByAssociatedKeys") => {
            made(comparing(args.get(1)), size(1).saturating_mul(size(1)))
        }
        _ => None,
    }
}

/// The price of comparing two elements of a list: more for text.
fn comparing(list: Option<&Value<'_>>) -> f64 {
    match list {
        Some(Value::List(list)) => match list.get(0) {
            Some(Value::String(_) | Value::Bytes(_)) => 2.1,
            _ => 2.0,
        },
        _ => 2.0,
    }
}

/// What a Kubernetes server adds for its libraries.
fn server(
    function: &str,
    overload: &str,
    args: &[Value<'_>],
    result: Option<&Value<'_>>,
) -> Option<u64> {
    let size = |place: usize| args.get(place).map_or(1, Value::size);
    let at_least = |count: usize, cost: u64| (args.len() >= count).then_some(cost);
    match function {
        "ip" if overload == "cidr_ip" => Some(1),
        "check" => Some(350_000),
        "fieldSelector" | "labelSelector" => {
            let length = size(1);
            at_least(
                2,
                10 + traversal(length) + scaled(scaled(length, 0.5), 50.0),
            )
        }
        "isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf" => {
            Some(args.first().map_or(0, |list| {
                let mut cost = 0;
                deep(list, &mut cost);
                cost
            }))
        }
        "url"
        | "lowerAscii"
        | "upperAscii"
        | "substring"
        | "trim"
        | "jsonpatch.escapeKey"
        | "cidr"
        | "isIP"
        | "isCIDR"
        | "quantity"
        | "isQuantity"
        | "semver"
        | "isSemver"
        | "ip" => at_least(1, traversal(size(0))),
        "replace" | "split" | "ip.isCanonical" => at_least(1, scaled(size(0), 0.2)),
        "join" => at_least(1, scaled(result.map_or(1, Value::size), 0.2)),
        "find" | "findAll" => at_least(2, matching(size(0), size(1))),
        _ if is_flat(function) => Some(1),
        "containsIP" => {
            let parse = if overload == "cidr_contains_ip_string" {
                traversal(size(1))
            } else {
                0
            };
            at_least(2, traversal(size(0) * 2) + parse)
        }
        "containsCIDR" => {
            let text = overload == "cidr_contains_cidr_string";
            let parse = if text { traversal(size(1)) } else { 0 };
            at_least(2, traversal(size(0) * 2) + traversal(size(0)) + 1 + parse)
        }
        "validate" => {
            let format = args
                .first()?
                .downcast::<crate::library::formats::NamedFormat>()?;
            at_least(2, matching(size(1), format.pattern_size()))
        }
        _ => None,
    }
}

/// Costs beyond this need no counting.
const PRICELESS: u64 = 20_000_000;

/// Adds the cost of walking over everything inside a value.
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]
fn deep(value: &Value<'_>, cost: &mut u64) {
    if *cost > PRICELESS {
        return;
    }
    match value {
        Value::String(text) => *cost += (text.len() as f64 * 0.1) as u64,
        Value::Bytes(bytes) => *cost += (bytes.len() as f64 * 0.1) as u64,
        Value::List(list) => {
            for item in list.iter() {
                deep(&item, cost);
                if *cost > PRICELESS {
                    return;
                }
            }
        }
        Value::Map(map) => {
            for (key, value) in map.iter() {
                deep(&key, cost);
                deep(&value, cost);
                if *cost > PRICELESS {
                    return;
                }
            }
        }
        _ => *cost += 1,
    }
}
