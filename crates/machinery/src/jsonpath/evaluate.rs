//! Following paths.

use std::{borrow::Cow, cmp::Ordering};

use serde_json::Value;

use super::{Filter, PathError, Slice, Step};

type Found<'a> = Vec<Cow<'a, Value>>;

fn error<T>(text: impl Into<String>) -> Result<T, PathError> {
    Err(PathError(text.into()))
}

/// Takes all steps from all values.
pub(super) fn follow<'a>(steps: &[Step], mut values: Found<'a>) -> Result<Found<'a>, PathError> {
    for step in steps {
        values = take(step, values)?;
    }
    Ok(values)
}

fn take<'a>(step: &Step, values: Found<'a>) -> Result<Found<'a>, PathError> {
    let mut found = Vec::new();
    match step {
        Step::Constant(constant) => {
            return Ok(values
                .iter()
                .map(|_| Cow::Owned(constant.clone()))
                .collect());
        }
        Step::Union(choices) => {
            for choice in choices {
                found.extend(follow(choice, values.clone())?);
            }
        }
        Step::Field(name) => {
            for value in values {
                found.extend(field(value, name));
            }
        }
        Step::Wildcard => {
            for value in values {
                found.extend(children(value));
            }
        }
        Step::Recursive => {
            for value in values {
                descend(value, &mut found);
            }
        }
        Step::Slice(slice) => {
            for value in values {
                cut(*slice, value, &mut found)?;
            }
        }
        Step::Filter(filter) => {
            for value in values {
                keep(filter, value, &mut found)?;
            }
        }
    }
    Ok(found)
}

fn field<'a>(value: Cow<'a, Value>, name: &str) -> Option<Cow<'a, Value>> {
    match value {
        Cow::Borrowed(value) => value.get(name).map(Cow::Borrowed),
        Cow::Owned(value) => value.get(name).cloned().map(Cow::Owned),
    }
}

fn children(value: Cow<'_, Value>) -> Found<'_> {
    match value {
        Cow::Borrowed(Value::Array(entries)) => entries.iter().map(Cow::Borrowed).collect(),
        Cow::Borrowed(Value::Object(fields)) => fields.values().map(Cow::Borrowed).collect(),
        Cow::Owned(Value::Array(entries)) => entries.into_iter().map(Cow::Owned).collect(),
        Cow::Owned(Value::Object(fields)) => fields
            .into_iter()
            .map(|(_, value)| Cow::Owned(value))
            .collect(),
        _ => Vec::new(),
    }
}

/// The value and everything in it that has content.
fn descend<'a>(value: Cow<'a, Value>, found: &mut Found<'a>) {
    let inside = children(value.clone());
    if !inside.is_empty() {
        found.push(value);
        for child in inside {
            descend(child, found);
        }
    }
}

fn cut<'a>(slice: Slice, value: Cow<'a, Value>, found: &mut Found<'a>) -> Result<(), PathError> {
    if value.is_null() {
        return Ok(());
    }
    if !value.is_array() {
        return error("value is not array or slice");
    }
    let entries = children(value);
    let length = i64::try_from(entries.len()).unwrap_or(i64::MAX);
    let mut start = slice.start.unwrap_or(0);
    if start < 0 {
        start += length;
    }
    let mut end = slice.end.unwrap_or(length);
    if end < 0 || (end == 0 && slice.index) {
        end += length;
    }
    if start == end {
        return Ok(());
    }
    for (bound, fits) in [
        (start, (0..length).contains(&start)),
        (end - 1, (0..=length).contains(&end)),
    ] {
        if !fits {
            return error(format!(
                "array index out of bounds: index {bound}, length {length}"
            ));
        }
    }
    if start > end {
        return error(format!(
            "starting index {start} is greater than ending index {end}"
        ));
    }
    let step = slice.step.unwrap_or(1);
    let Some(step) = usize::try_from(step).ok().filter(|step| *step > 0) else {
        return error("step must be > 0");
    };
    let place = |at: i64| usize::try_from(at).unwrap_or(0);
    let chosen = entries
        .into_iter()
        .skip(place(start))
        .take(place(end - start));
    found.extend(chosen.step_by(step));
    Ok(())
}

fn keep<'a>(
    filter: &Filter,
    value: Cow<'a, Value>,
    found: &mut Found<'a>,
) -> Result<(), PathError> {
    if !value.is_array() {
        return error("value is not array or slice and cannot be filtered");
    }
    for entry in children(value) {
        let lefts = follow(&filter.left, vec![entry.clone()]);
        let Some((operator, right)) = &filter.comparison else {
            if lefts.is_ok_and(|lefts| !lefts.is_empty()) {
                found.push(entry);
            }
            continue;
        };
        let (lefts, rights) = (lefts?, follow(right, vec![entry.clone()])?);
        match (&lefts[..], &rights[..]) {
            ([], _) | (_, []) => {}
            ([left], [right]) => {
                if compare(left, operator, right)? {
                    found.push(entry);
                }
            }
            _ => return error("can only compare one element at a time"),
        }
    }
    Ok(())
}

fn compare(left: &Value, operator: &str, right: &Value) -> Result<bool, PathError> {
    let order = match (left, right) {
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        (Value::Bool(a), Value::Bool(b)) if matches!(operator, "==" | "!=") => Some(a.cmp(b)),
        (Value::Number(a), Value::Number(b)) if a.is_f64() == b.is_f64() => {
            a.as_f64().partial_cmp(&b.as_f64())
        }
        _ => None,
    };
    let Some(order) = order else {
        return error("incompatible types for comparison");
    };
    Ok(match operator {
        "==" => order == Ordering::Equal,
        "!=" => order != Ordering::Equal,
        "<" => order == Ordering::Less,
        ">" => order == Ordering::Greater,
        "<=" => order != Ordering::Greater,
        ">=" => order != Ordering::Less,
        other => return error(format!("unrecognized filter operator {other}")),
    })
}
