//! Running a plan.

use std::{collections::BTreeMap, sync::Arc};

use regex::Regex;

use super::{
    Meter, Scope, cost,
    plan::{Base, CallPlan, Plan},
};
use crate::{
    Bindings,
    call::{Call, Host},
    env::Body,
    error::EvalError,
    value::{Key, Map, Value},
};

pub(crate) type Outcome<'a> = Result<Value<'a>, EvalError>;

const LIST_COST: u64 = 10;
const MAP_COST: u64 = 30;
const OBJECT_COST: u64 = 40;

/// One evaluation.
pub(crate) struct Run<'r, 'a> {
    pub(crate) vars: &'r Bindings<'a>,
    pub(crate) meter: Meter,
    pub(crate) host: Option<&'r dyn Host>,
    pub(crate) patterns: &'r [(Arc<str>, Regex)],
}

impl<'a> Run<'_, 'a> {
    /// The value of a plan.
    pub(crate) fn eval(&mut self, plan: &Plan, scope: &Scope<'_, 'a>) -> Outcome<'a> {
        match plan {
            Plan::Constant(value) => Ok(value.clone()),
            Plan::Path(path) => {
                let value = self.resolve(path, scope);
                if !matches!(path.base, Base::Choice { .. }) && !path.test {
                    self.meter.charge(1)?;
                }
                value
            }
            Plan::Call(call) => self.call(call, scope),
            Plan::And(sides) => self.logical(sides, false, scope),
            Plan::Or(sides) => self.logical(sides, true, scope),
            Plan::Equal { sides, negated } => self.equal(sides, *negated, scope),
            Plan::List { items, optional } => {
                let list = self.list(items, optional, scope);
                self.meter.charge(LIST_COST)?;
                list
            }
            Plan::Map { entries } => {
                let map = self.map(entries, scope);
                self.meter.charge(MAP_COST)?;
                map
            }
            Plan::Object { fields } => {
                let object = self.object(fields, scope);
                self.meter.charge(OBJECT_COST)?;
                object
            }
            Plan::Fold(fold) => self.fold(fold, scope),
            Plan::Member { item, list } => self.member(item, list, scope),
            Plan::Alternative {
                first,
                second,
                unwrap,
            } => match self.eval(first, scope)? {
                Value::Optional(None) => self.eval(second, scope),
                Value::Optional(Some(value)) if *unwrap => Ok((*value).clone()),
                other => Ok(other),
            },
        }
    }

    /// `&&` and `||`: one side may decide, even when the other fails.
    fn logical(&mut self, sides: &[Plan; 2], decisive: bool, scope: &Scope<'_, 'a>) -> Outcome<'a> {
        let mut failure = None;
        for side in sides {
            match self.eval(side, scope) {
                Ok(Value::Bool(truth)) if truth == decisive => return Ok(Value::Bool(truth)),
                Ok(Value::Bool(_)) => {}
                Ok(_) => failure = failure.or(Some(EvalError::no_overload())),
                Err(error) if error.is_limit() => return Err(error),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        failure.map_or(Ok(Value::Bool(!decisive)), Err)
    }

    fn equal(&mut self, sides: &[Plan; 2], negated: bool, scope: &Scope<'_, 'a>) -> Outcome<'a> {
        let (first, second) = (
            self.lenient(&sides[0], scope)?,
            self.lenient(&sides[1], scope)?,
        );
        let size = |side: &Outcome<'_>| side.as_ref().map_or(1, Value::size);
        let least = size(&first).min(size(&second));
        let opaque = !negated && matches!(first, Ok(Value::Opaque(_)));
        self.meter
            .charge(if opaque { 1 } else { cost::traversal(least) })?;
        let (first, second) = (first?, second?);
        if first.is_no_match_for(&second) {
            return Err(EvalError::no_overload());
        }
        let equal = first.equals_within(&second, &self.meter.fuel);
        self.meter.check_fuel()?;
        Ok(Value::Bool(equal != negated))
    }

    /// A value or a failure, but never a spent budget.
    fn lenient(&mut self, plan: &Plan, scope: &Scope<'_, 'a>) -> Result<Outcome<'a>, EvalError> {
        match self.eval(plan, scope) {
            Err(error) if error.is_limit() => Err(error),
            outcome => Ok(outcome),
        }
    }

    fn call(&mut self, call: &CallPlan, scope: &Scope<'_, 'a>) -> Outcome<'a> {
        let mut args = Vec::with_capacity(call.args.len());
        let mut failure = None;
        for (place, arg) in call.args.iter().enumerate() {
            match self.lenient(arg, scope)? {
                Ok(value) => args.push(value),
                // A call that stops before its last argument costs nothing.
                Err(error) if call.eager && place + 1 < call.args.len() => return Err(error),
                Err(error) => {
                    failure = failure.or(Some(error));
                    args.push(Value::Null);
                }
            }
        }
        // A call that cannot be paid for is not even made.
        if failure.is_none() && !cost::by_result(&call.function, &call.overload) {
            let price = cost::call(&call.function, &call.overload, &args, None);
            if !self.meter.affords(price) {
                self.meter.charge(price)?;
            }
        }
        let result = match failure {
            Some(_) if call.lenient() => Ok(Value::Bool(true)),
            Some(error) => Err(error),
            None => self.apply(call, &args),
        };
        if let Err(error) = &result
            && error.is_limit()
        {
            return result;
        }
        self.meter.check_fuel()?;
        let price = cost::call(&call.function, &call.overload, &args, result.as_ref().ok());
        self.meter.charge(price)?;
        result
    }

    fn apply(&mut self, plan: &CallPlan, args: &[Value<'a>]) -> Outcome<'a> {
        let mut call = Call {
            function: &plan.function,
            overload: &plan.overload,
            meter: &mut self.meter,
            host: self.host,
            patterns: self.patterns,
        };
        match plan.body(args) {
            Some(Body::Native(body) | Body::Operator(body)) => body(&mut call, args),
            Some(Body::Custom(body)) => body(&mut call, args),
            Some(Body::Special) | None => call.refuse(args),
        }
    }

    fn list(&mut self, items: &[Plan], optional: &[bool], scope: &Scope<'_, 'a>) -> Outcome<'a> {
        let mut list = Vec::with_capacity(items.len());
        for (place, item) in items.iter().enumerate() {
            let value = self.eval(item, scope)?;
            if !optional.get(place).copied().unwrap_or(false) {
                list.push(value);
                continue;
            }
            match value {
                Value::Optional(inner) => list.extend(inner.map(|inner| (*inner).clone())),
                other => {
                    return Err(EvalError::new(format!(
                        "cannot initialize optional list element from non-optional value {}",
                        other.show()
                    )));
                }
            }
        }
        self.meter.reserve(list.len() * size_of::<Value<'_>>())?;
        Ok(Value::list(list))
    }

    fn map(&mut self, entries: &[(Plan, Plan, bool)], scope: &Scope<'_, 'a>) -> Outcome<'a> {
        let mut map = BTreeMap::new();
        for (key, value, optional) in entries {
            let key = self.eval(key, scope)?;
            let value = self.eval(value, scope)?;
            let Some(place) = Key::of(&key) else {
                return Err(EvalError::new(format!(
                    "unsupported key type: {}",
                    key.type_name()
                )));
            };
            match (optional, value) {
                (false, value) => {
                    map.insert(place, value);
                }
                (true, Value::Optional(Some(inner))) => {
                    map.insert(place, (*inner).clone());
                }
                (true, Value::Optional(None)) => {
                    map.remove(&place);
                }
                (true, other) => return Err(not_optional(&key.show(), &other)),
            }
        }
        self.meter.reserve(map.len() * 2 * size_of::<Value<'_>>())?;
        Ok(Value::Map(Map::new(map)))
    }

    fn object(&mut self, fields: &[(Arc<str>, Plan, bool)], scope: &Scope<'_, 'a>) -> Outcome<'a> {
        let mut map = BTreeMap::new();
        for (name, value, optional) in fields {
            let value = self.eval(value, scope)?;
            let key = Key::String(crate::value::Text::Shared(name.clone()));
            match (optional, value) {
                (false, value) => {
                    map.insert(key, value);
                }
                (true, Value::Optional(Some(inner))) => {
                    map.insert(key, (*inner).clone());
                }
                (true, Value::Optional(None)) => {
                    map.remove(&key);
                }
                (true, other) => return Err(not_optional(name, &other)),
            }
        }
        Ok(Value::Map(Map::new(map)))
    }

    fn member(&mut self, item: &Plan, set: &Value<'static>, scope: &Scope<'_, 'a>) -> Outcome<'a> {
        let item = self.eval(item, scope)?;
        let found = match set {
            Value::Map(set) => set.get(&item).is_some(),
            _ => false,
        };
        Ok(Value::Bool(found))
    }
}

fn not_optional(key: &str, value: &Value<'_>) -> EvalError {
    EvalError::new(format!(
        "cannot initialize optional entry '{key}' from non-optional value {}",
        value.show()
    ))
}
