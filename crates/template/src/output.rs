//! Values of expressions as JSON: without what is omitted, within the bounds.

use std::sync::{Arc, LazyLock};

use quadrille_expr::{List, Map, Opaque, Type, Value};
use quadrille_machinery::go_text;
use serde_json::{Map as JsonMap, Value as Json};

use crate::{context::Budget, error::Cause};

/// What `oc_omit()` gives: the place where it lands is left out.
#[derive(Debug)]
struct Omit;

impl Opaque for Omit {
    fn type_of(&self) -> Type {
        Type::opaque("omit", Vec::new())
    }

    fn equals(&self, other: &dyn Opaque) -> bool {
        other.as_any().is::<Self>()
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}

static OMIT: LazyLock<Arc<dyn Opaque>> = LazyLock::new(|| Arc::new(Omit));

/// The value that leaves its place out.
pub(crate) fn omit<'a>() -> Value<'a> {
    Value::Opaque(OMIT.clone())
}

fn is_omit(value: &Value<'_>) -> bool {
    matches!(value, Value::Opaque(opaque) if opaque.as_any().is::<Omit>())
}

/// What a node of JSON takes besides its text.
pub(crate) const NODE_BYTES: usize = 16;

/// A value as JSON; `None` when its place is to be left out.
pub(crate) fn json(
    value: &Value<'_>,
    depth: usize,
    budget: &Budget,
) -> Result<Option<Json>, Cause> {
    budget.check_depth(depth)?;
    budget.take_bytes(NODE_BYTES)?;
    Ok(Some(match value {
        Value::Optional(None) => return Ok(None),
        Value::Opaque(opaque) if opaque.as_any().is::<Omit>() => return Ok(None),
        Value::Optional(Some(inner)) => return json(inner, depth, budget),
        Value::Null => Json::Null,
        Value::Bool(truth) => Json::Bool(*truth),
        Value::Int(number) => Json::from(*number),
        Value::Uint(number) => Json::from(*number),
        Value::Double(number) => float(*number)?,
        Value::String(text) => {
            budget.take_bytes(text.len())?;
            Json::from(&**text)
        }
        Value::List(List::Json(items, _)) => copies(items, depth, budget)?,
        Value::Map(Map::Untyped(fields)) => copied(fields, depth, budget)?,
        Value::List(list) => {
            let mut items = Vec::with_capacity(list.len().min(1024));
            for item in list.iter() {
                items.extend(json(&item, depth + 1, budget)?);
            }
            Json::Array(items)
        }
        Value::Map(map) => Json::Object(object(map, depth, budget)?),
        Value::Bytes(_) | Value::Timestamp(_) | Value::Duration(_) => {
            let written = value.to_json().unwrap_or(Json::Null);
            budget.take_bytes(written.as_str().map_or(0, str::len))?;
            written
        }
        Value::Type(_) | Value::Opaque(_) => {
            return Err(Cause::NoJson(format!(
                "a value of type {}",
                value.type_name()
            )));
        }
    }))
}

fn object(map: &Map<'_>, depth: usize, budget: &Budget) -> Result<JsonMap<String, Json>, Cause> {
    let mut fields = JsonMap::new();
    for (key, value) in map.iter() {
        let name = match &key {
            Value::String(name) => name.to_string(),
            Value::Int(_) | Value::Uint(_) | Value::Bool(_) => key.to_string(),
            other => {
                let name = other.type_name();
                return Err(Cause::wrong_type("maps with text as keys", name));
            }
        };
        budget.take_bytes(name.len())?;
        if let Some(value) = json(&value, depth + 1, budget)? {
            fields.insert(name, value);
        }
    }
    Ok(fields)
}

/// A copy of data that no expression has touched: nothing in it can be omitted.
fn copy(data: &Json, depth: usize, budget: &Budget) -> Result<Json, Cause> {
    budget.check_depth(depth)?;
    budget.take_bytes(NODE_BYTES)?;
    Ok(match data {
        Json::String(text) => {
            budget.take_bytes(text.len())?;
            data.clone()
        }
        Json::Number(number) if number.is_f64() => float(number.as_f64().unwrap_or_default())?,
        Json::Null | Json::Bool(_) | Json::Number(_) => data.clone(),
        Json::Array(items) => copies(items, depth, budget)?,
        Json::Object(fields) => copied(fields, depth, budget)?,
    })
}

fn copies(items: &[Json], depth: usize, budget: &Budget) -> Result<Json, Cause> {
    let copied = items.iter().map(|item| copy(item, depth + 1, budget));
    copied.collect::<Result<_, _>>().map(Json::Array)
}

fn copied(fields: &JsonMap<String, Json>, depth: usize, budget: &Budget) -> Result<Json, Cause> {
    let copied = fields.iter().map(|(name, value)| {
        budget.take_bytes(name.len())?;
        Ok((name.clone(), copy(value, depth + 1, budget)?))
    });
    copied.collect::<Result<_, _>>().map(Json::Object)
}

/// A number; whole ones without a fraction, so that counts stay counts.
fn float(number: f64) -> Result<Json, Cause> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() <= EXACT {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "it is whole and small enough"
        )]
        return Ok(Json::from(number as i64));
    }
    let written = serde_json::Number::from_f64(number);
    written
        .map(Json::Number)
        .ok_or_else(|| Cause::NoJson(format!("the number {number}")))
}

/// A value inside a text.
pub(crate) fn text(value: &Value<'_>, budget: &Budget, into: &mut String) -> Result<(), Cause> {
    let before = into.len();
    match value {
        Value::String(text) => into.push_str(text),
        Value::Bool(truth) => into.push_str(if *truth { "true" } else { "false" }),
        Value::Int(number) => into.push_str(&number.to_string()),
        Value::Uint(number) => into.push_str(&number.to_string()),
        Value::Double(number) => into.push_str(&go_text::float(*number)),
        Value::Optional(None) => {
            return Err(Cause::wrong_type(
                "a value inside text",
                "an optional without one (give it one with .orValue(…))",
            ));
        }
        Value::Optional(Some(inner)) => return text(inner, budget, into),
        value if is_omit(value) => into.push_str("{}"),
        other => match json(other, 1, budget)? {
            Some(Json::String(text)) => into.push_str(&text),
            Some(written) => into.push_str(&written.to_string()),
            None => {}
        },
    }
    budget.take_bytes(into.len() - before)
}
