//! Loops.

use std::{cell::RefCell, sync::Arc};

use super::{
    Run, Scope,
    plan::{Base, FoldPlan, Plan, Which},
    run::Outcome,
};
use crate::{
    error::EvalError,
    value::{Key, Map, Value},
};

impl<'a> Run<'_, 'a> {
    pub(super) fn fold(&mut self, fold: &FoldPlan, outer: &Scope<'_, 'a>) -> Outcome<'a> {
        let range = self.eval(&fold.range, outer)?;
        let scope = Scope {
            parent: Some(outer),
            accu: RefCell::new(None),
            init: Some(&fold.init),
            first: RefCell::new(Value::Null),
            second: RefCell::new(Value::Null),
        };
        match &range {
            Value::List(list) => {
                for place in 0..list.len() {
                    let Some(item) = list.get(place) else {
                        break;
                    };
                    if fold.pair {
                        let place = i64::try_from(place).unwrap_or(i64::MAX);
                        scope.first.replace(Value::Int(place));
                        scope.second.replace(item);
                    } else {
                        scope.first.replace(item);
                    }
                    if !self.turn(fold, &scope)? {
                        break;
                    }
                }
            }
            Value::Map(map) => {
                for key in map.keys() {
                    if fold.pair {
                        scope.second.replace(map.get(&key).unwrap_or(Value::Null));
                    }
                    scope.first.replace(key);
                    if !self.turn(fold, &scope)? {
                        break;
                    }
                }
            }
            other => {
                let name = other.go_type();
                let message = if fold.pair {
                    format!("unsupported comprehension range type: {name}")
                } else {
                    format!("got '{name}', expected iterable type")
                };
                return Err(EvalError::new(message));
            }
        }
        self.eval(&fold.result, &scope)
    }

    /// One turn of a loop; false when it is over.
    fn turn(&mut self, fold: &FoldPlan, scope: &Scope<'_, 'a>) -> Result<bool, EvalError> {
        match self.eval(&fold.condition, scope) {
            Ok(Value::Bool(false)) => return Ok(false),
            Err(error) if error.is_limit() => return Err(error),
            _ => {}
        }
        let next = self.next(&fold.step, scope);
        if let Err(error) = &next
            && error.is_limit()
        {
            return Err(error.clone());
        }
        scope.accu.replace(Some(next));
        Ok(true)
    }

    /// The next value of what is collected. Adding one element to a list happens in place; the
    /// cost is that of the general way.
    fn next(&mut self, step: &Plan, scope: &Scope<'_, 'a>) -> Outcome<'a> {
        match step {
            Plan::Call(call) if &*call.overload == "add_list" && is_accu(&call.args[0]) => {
                let accu = &call.args[0];
                match &call.args[1] {
                    Plan::List { items, .. } => match items.as_slice() {
                        [item] => self.push(accu, 11, scope, |run| run.eval(item, scope)),
                        _ => self.eval(step, scope),
                    },
                    // A list of one constant has been made already.
                    Plan::Constant(Value::List(list)) if list.len() == 1 => {
                        let item = list.get(0).unwrap_or(Value::Null);
                        self.push(accu, 1, scope, |_| Ok(item))
                    }
                    _ => self.eval(step, scope),
                }
            }
            Plan::Call(call) if &*call.overload == "@mapInsert_map_key_value" => {
                match call.args.as_slice() {
                    [accu, key, value] if is_accu(accu) => self.insert(accu, key, value, scope),
                    _ => self.eval(step, scope),
                }
            }
            Plan::Path(path) if path.steps.is_empty() && !path.test => match &path.base {
                Base::Choice {
                    condition,
                    truthy,
                    falsy,
                } => {
                    let branch = match self.eval(condition, scope)? {
                        Value::Bool(true) => truthy,
                        Value::Bool(false) => falsy,
                        _ => return Err(EvalError::no_overload()),
                    };
                    match &branch.base {
                        Base::Value(plan) if branch.steps.is_empty() => self.next(plan, scope),
                        _ => self.resolve(branch, scope),
                    }
                }
                _ => self.eval(step, scope),
            },
            _ => self.eval(step, scope),
        }
    }

    /// One more element of a list.
    fn push(
        &mut self,
        accu: &Plan,
        price: u64,
        scope: &Scope<'_, 'a>,
        item: impl FnOnce(&mut Self) -> Outcome<'a>,
    ) -> Outcome<'a> {
        let accu = self.eval(accu, scope); // makes the first value, and charges
        drop(match accu {
            Err(error) if error.is_limit() => return Err(error),
            other => other,
        });
        let item = item(self);
        self.meter.charge(price)?;
        if let Some(Err(error)) = &*scope.accu.borrow() {
            return Err(error.clone());
        }
        let item = item?;
        self.meter.reserve(size_of::<Value<'_>>())?;
        match scope.accu.take() {
            Some(Ok(Value::List(list))) => Ok(Value::List(list.push(item))),
            Some(Err(error)) => Err(error),
            _ => Err(EvalError::no_overload()),
        }
    }

    /// One more entry of a map, in place as well.
    fn insert(
        &mut self,
        accu: &Plan,
        key: &Plan,
        value: &Plan,
        scope: &Scope<'_, 'a>,
    ) -> Outcome<'a> {
        self.eval(accu, scope)?;
        let key = self.eval(key, scope)?;
        let value = self.eval(value, scope);
        self.meter.charge(1)?;
        let value = value?;
        self.meter.reserve(2 * size_of::<Value<'_>>())?;
        let Some(place) = Key::of(&key) else {
            return Err(EvalError::new(format!(
                "unsupported key type: {}",
                key.type_name()
            )));
        };
        match scope.accu.take() {
            Some(Ok(Value::Map(Map::Entries(mut entries)))) => {
                if Arc::make_mut(&mut entries).insert(place, value).is_some() {
                    let message = format!("insert failed: key {} already exists", key.show());
                    return Err(EvalError::new(message));
                }
                Ok(Value::Map(Map::Entries(entries)))
            }
            Some(Err(error)) => Err(error),
            _ => Err(EvalError::no_overload()),
        }
    }
}

fn is_accu(plan: &Plan) -> bool {
    matches!(plan, Plan::Path(path) if path.steps.is_empty()
        && matches!(path.base, Base::Local { hops: 0, which: Which::Accu }))
}
