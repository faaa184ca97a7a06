//! Paths: variables, fields, indexes, and what it costs to follow them.

use super::{
    Run, Scope,
    plan::{Base, Index, Path, Step, Which},
    run::Outcome,
};
use crate::{
    error::EvalError,
    value::{Map, Value, number},
};

impl<'a> Run<'_, 'a> {
    /// Follows a path. The start is not charged here: branches of a choice do not pay for it.
    pub(super) fn resolve(&mut self, path: &Path, scope: &Scope<'_, 'a>) -> Outcome<'a> {
        let start = match &path.base {
            Base::Global(name) => self
                .vars
                .value(name)
                .cloned()
                .ok_or_else(|| EvalError::new(format!("no such attribute(s): {name}")))?,
            Base::Local { hops, which } => self.local(*hops, *which, scope)?,
            Base::Value(plan) => self.eval(plan, scope)?,
            Base::Choice {
                condition,
                truthy,
                falsy,
            } => match self.eval(condition, scope)? {
                Value::Bool(true) => self.resolve(truthy, scope)?,
                Value::Bool(false) => self.resolve(falsy, scope)?,
                _ => return Err(EvalError::no_overload()),
            },
        };
        if path.steps.is_empty() {
            Ok(start)
        } else {
            self.follow(start, path, scope)
        }
    }

    fn local(&mut self, hops: u32, which: Which, scope: &Scope<'_, 'a>) -> Outcome<'a> {
        let Some(scope) = scope.up(hops) else {
            return Err(EvalError::new("no such attribute(s)"));
        };
        match which {
            Which::First => Ok(scope.first.borrow().clone()),
            Which::Second => Ok(scope.second.borrow().clone()),
            Which::Accu => {
                if let Some(known) = &*scope.accu.borrow() {
                    return known.clone();
                }
                let outer = scope.parent.unwrap_or(scope);
                let first = match scope.init {
                    Some(init) => self.eval(init, outer),
                    None => Err(EvalError::new("no such attribute(s)")),
                };
                *scope.accu.borrow_mut() = Some(first.clone());
                first
            }
        }
    }

    fn follow(&mut self, start: Value<'a>, path: &Path, scope: &Scope<'_, 'a>) -> Outcome<'a> {
        let mut optional = false;
        let mut value = match start {
            Value::Optional(None) if path.test => return Ok(Value::Bool(false)),
            Value::Optional(None) => return Ok(Value::Optional(None)),
            Value::Optional(Some(inner)) => {
                optional = true;
                (*inner).clone()
            }
            other => other,
        };
        let last = path.steps.len() - 1;
        for (place, step) in path.steps.iter().enumerate() {
            let test = path.test && place == last;
            optional |= step.optional;
            let key = self.key(step, scope);
            if !test && !optional {
                let found =
                    key.and_then(|key| find(&value, &key)?.ok_or_else(|| missing(&value, &key)));
                self.meter.charge(1)?;
                value = found?;
                continue;
            }
            match present(&value, &key?)? {
                Some(found) => {
                    self.meter.charge(1)?;
                    if test {
                        return Ok(Value::Bool(true));
                    }
                    value = found;
                }
                None => {
                    if test {
                        self.meter.charge(1)?;
                        return Ok(Value::Bool(false));
                    }
                    if path.test {
                        return Ok(Value::Bool(false));
                    }
                    return Ok(Value::Optional(None));
                }
            }
        }
        Ok(if optional { Value::some(value) } else { value })
    }

    fn key(&mut self, step: &Step, scope: &Scope<'_, 'a>) -> Outcome<'a> {
        match &step.index {
            Index::Constant(value) => Ok(value.clone()),
            Index::Path(path) => self.resolve(path, scope).and_then(as_key),
            Index::Plan(plan) => self.eval(plan, scope).and_then(as_key),
        }
    }
}

/// A computed value that can be looked up by.
fn as_key(value: Value<'_>) -> Result<Value<'_>, EvalError> {
    use Value::{Bool, Double, Int, String, Uint};
    match value {
        Bool(_) | Double(_) | Int(_) | String(_) | Uint(_) => Ok(value),
        other => Err(EvalError::new(format!(
            "invalid qualifier type: {}",
            other.go_type()
        ))),
    }
}

fn missing(value: &Value<'_>, key: &Value<'_>) -> EvalError {
    EvalError::new(match value {
        Value::List(_) => format!("index out of bounds: {}", key.show()),
        _ => format!("no such key: {}", key.show()),
    })
}

/// What is at a key, if the value has keys and this one.
fn find<'a>(value: &Value<'a>, key: &Value<'a>) -> Result<Option<Value<'a>>, EvalError> {
    match value {
        Value::Map(Map::Lazy(fields)) => match key {
            Value::String(name) => fields.field(name).transpose(),
            _ => Ok(None),
        },
        Value::Map(map) => Ok(map.get(key)),
        Value::List(list) => {
            let place = index(key)?;
            Ok(usize::try_from(place)
                .ok()
                .and_then(|place| list.get(place)))
        }
        _ => Ok(None),
    }
}

/// Like [`find`], for questions that may be answered with no.
fn present<'a>(value: &Value<'a>, key: &Value<'a>) -> Result<Option<Value<'a>>, EvalError> {
    find(value, key)
}

/// A value as the index of a list.
pub(crate) fn index(key: &Value<'_>) -> Result<i64, EvalError> {
    let wrong = || EvalError::new(format!("unsupported index value {} in list", key.show()));
    match key {
        Value::Int(place) => Ok(*place),
        Value::Uint(place) => i64::try_from(*place).map_err(|_| wrong()),
        Value::Double(place) => number::exact_int(*place).ok_or_else(wrong),
        other => Err(EvalError::new(format!(
            "unsupported index type '{}' in list",
            other.type_name()
        ))),
    }
}
