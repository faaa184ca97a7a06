//! From a checked tree to a plan.

use std::{collections::BTreeMap, sync::Arc};

use regex::Regex;

use super::{
    Meter, Run, Scope,
    plan::{Base, CallPlan, FoldPlan, Index, Path, Plan, Step, Which},
};
use crate::{
    check::{Checked, Reference},
    env::Env,
    error::EvalError,
    pattern,
    syntax::ast::{Ast, Entry, Fold, Id, Kind, Literal},
    value::{Key, List, Map, Value, number},
};

/// Patterns written as literals, compiled once.
pub(crate) type Patterns = Vec<(Arc<str>, Regex)>;

/// Makes a plan. Constant parts are evaluated now; if they fail, so does the plan.
pub(crate) fn plan(env: &Env, ast: &Ast, checked: &Checked) -> Result<(Plan, Patterns), EvalError> {
    let mut planner = Planner {
        env,
        ast,
        checked,
        scopes: Vec::new(),
        patterns: Vec::new(),
    };
    let plan = planner.plan(ast.root)?;
    Ok((plan, planner.patterns))
}

struct Planner<'p> {
    env: &'p Env,
    ast: &'p Ast,
    checked: &'p Checked,
    /// Names of each loop around: what it collects in, and its variables when they can be seen.
    scopes: Vec<Names>,
    patterns: Patterns,
}

#[derive(Clone)]
struct Names {
    accu: Arc<str>,
    first: Option<Arc<str>>,
    second: Option<Arc<str>>,
}

impl Planner<'_> {
    fn plan(&mut self, id: Id) -> Result<Plan, EvalError> {
        if let Some(Reference::Type(ty)) = self.checked.reference(id)
            && !matches!(self.ast.kind(id), Kind::Struct { .. })
        {
            return Ok(Plan::Constant(Value::Type(ty.clone())));
        }
        Ok(match self.ast.kind(id) {
            Kind::Broken => return Err(EvalError::new("unsupported expr")),
            Kind::Literal(literal) => Plan::Constant(constant(literal)),
            Kind::Ident(_) => path_plan(self.variable(id)),
            Kind::Select {
                operand,
                field,
                test,
            } => {
                if let Some(Reference::Variable(_)) = self.checked.reference(id) {
                    return Ok(path_plan(self.variable(id)));
                }
                let mut path = self.path(*operand)?;
                let index = Index::Constant(Value::text(field.clone()));
                path.steps.push(Step {
                    index,
                    optional: false,
                });
                path.test = *test;
                Plan::Path(Box::new(path))
            }
            Kind::Call { target, args, .. } => self.call(id, *target, args)?,
            Kind::List { items, optional } => self.list(items, optional)?,
            Kind::Map { entries } => self.map(entries)?,
            Kind::Struct { fields, .. } => {
                let mut planned = Vec::with_capacity(fields.len());
                for field in fields {
                    planned.push((field.name.clone(), self.plan(field.value)?, field.optional));
                }
                Plan::Object { fields: planned }
            }
            Kind::Fold(fold) => self.fold(fold)?,
        })
    }

    fn variable(&self, id: Id) -> Base {
        let name: Arc<str> = match self.checked.reference(id) {
            Some(Reference::Variable(name)) => name.clone(),
            _ => match self.ast.kind(id) {
                Kind::Ident(name) => name.clone(),
                _ => "".into(),
            },
        };
        let absolute = matches!(self.ast.kind(id), Kind::Ident(name) if name.starts_with('.'));
        for (hops, names) in self.scopes.iter().rev().enumerate().filter(|_| !absolute) {
            let which = if names.first.as_ref() == Some(&name) {
                Which::First
            } else if names.second.as_ref() == Some(&name) {
                Which::Second
            } else if names.accu == name {
                Which::Accu
            } else {
                continue;
            };
            return Base::Local {
                hops: u32::try_from(hops).unwrap_or(u32::MAX),
                which,
            };
        }
        Base::Global(name)
    }

    /// A node as the start of a path, to be extended.
    fn path(&mut self, id: Id) -> Result<Path, EvalError> {
        Ok(match self.plan(id)? {
            Plan::Path(path) if !path.test => *path,
            other => Path {
                base: Base::Value(other),
                steps: Vec::new(),
                test: false,
            },
        })
    }

    fn call(&mut self, id: Id, target: Option<Id>, args: &[Id]) -> Result<Plan, EvalError> {
        let Some(Reference::Function { name, overloads }) = self.checked.reference(id) else {
            return Err(EvalError::new("unsupported expr"));
        };
        // A target that was only the front of a function's name is no argument.
        let method = match self.ast.kind(id) {
            Kind::Call { name: written, .. } => written == name,
            _ => false,
        };
        if matches!(&**name, "_?._" | "_[?_]" | "_[_]") {
            return self.index(name, args);
        }
        let target = target.filter(|_| method);
        let mut planned = Vec::with_capacity(args.len() + 1);
        for arg in target.iter().chain(args) {
            planned.push(self.plan(*arg)?);
        }
        let two = |planned: Vec<Plan>| <Box<[Plan; 2]>>::try_from(planned).ok();
        let short = || EvalError::new("unsupported expr");
        match &**name {
            "_&&_" => return Ok(Plan::And(two(planned).ok_or_else(short)?)),
            "_||_" => return Ok(Plan::Or(two(planned).ok_or_else(short)?)),
            "_==_" | "_!=_" => {
                let sides = two(planned).ok_or_else(short)?;
                return Ok(Plan::Equal {
                    sides,
                    negated: &**name == "_!=_",
                });
            }
            "_?_:_" => return Ok(choice(planned)),
            "or" | "orValue" if planned.len() == 2 => {
                let [first, second] = *two(planned).ok_or_else(short)?;
                let (first, second) = (Box::new(first), Box::new(second));
                return Ok(Plan::Alternative {
                    first,
                    second,
                    unwrap: &**name == "orValue",
                });
            }
            _ => {}
        }
        let all = self
            .env
            .functions
            .get(&**name)
            .map_or(&[][..], Vec::as_slice);
        let overload = match overloads.as_slice() {
            [only] => all
                .get(*only)
                .map_or_else(|| "".into(), |overload| overload.id.clone()),
            _ => "".into(),
        };
        let candidates = match overloads.as_slice() {
            [only] => all.get(*only).cloned().into_iter().collect(),
            _ => all.to_vec(),
        };
        let ambiguous =
            overload.is_empty() && name.starts_with(|first: char| first.is_alphabetic());
        let eager = planned.len() > 2 || ambiguous || &**name == "format";
        let call = CallPlan {
            function: name.clone(),
            overload,
            candidates,
            args: planned,
            eager,
        };
        self.improve(call)
    }

    /// What the reference computes before it evaluates.
    fn improve(&mut self, mut call: CallPlan) -> Result<Plan, EvalError> {
        let conversion = matches!(
            &*call.function,
            "bool"
                | "bytes"
                | "double"
                | "duration"
                | "dyn"
                | "int"
                | "string"
                | "timestamp"
                | "type"
                | "uint"
        );
        if conversion && matches!(call.args.as_slice(), [Plan::Constant(_)]) {
            return evaluate(&Plan::Call(Box::new(call))).map(Plan::Constant);
        }
        if &*call.overload == "in_list"
            && let [_, Plan::Constant(Value::List(list))] = call.args.as_slice()
        {
            if list.is_empty() {
                return Ok(Plan::Constant(Value::Bool(false)));
            }
            let simple = list.iter().all(|item| {
                use Value::{Bool, Double, Int, String, Uint};
                matches!(item, Bool(_) | Double(_) | Int(_) | String(_) | Uint(_))
            });
            if simple {
                let list = set_of(list);
                let mut args = call.args;
                let item = Box::new(args.swap_remove(0));
                return Ok(Plan::Member { item, list });
            }
        }
        if matches!(&*call.function, "matches" | "find" | "findAll")
            && let Some(Plan::Constant(Value::String(text))) = call.args.get(1)
        {
            call.eager = true;
            if self.patterns.iter().any(|(known, _)| **known == **text) {
                return Ok(Plan::Call(Box::new(call)));
            }
            self.patterns
                .push((Arc::from(&**text), pattern::compile(text)?));
        }
        Ok(Plan::Call(Box::new(call)))
    }

    fn index(&mut self, name: &str, args: &[Id]) -> Result<Plan, EvalError> {
        let [operand, index] = args else {
            return Err(EvalError::new("unsupported expr"));
        };
        let mut path = self.path(*operand)?;
        let index = match self.plan(*index)? {
            Plan::Constant(value) => Index::Constant(value),
            Plan::Path(path) if !path.test => Index::Path(*path),
            other => Index::Plan(other),
        };
        path.steps.push(Step {
            index,
            optional: name != "_[_]",
        });
        Ok(Plan::Path(Box::new(path)))
    }

    fn list(&mut self, items: &[Id], optional: &[bool]) -> Result<Plan, EvalError> {
        let items = items
            .iter()
            .map(|item| self.plan(*item))
            .collect::<Result<Vec<_>, _>>()?;
        let all_constant = items.iter().all(|item| matches!(item, Plan::Constant(_)));
        let plan = Plan::List {
            items,
            optional: optional.to_vec(),
        };
        if all_constant {
            Ok(Plan::Constant(evaluate(&plan)?))
        } else {
            Ok(plan)
        }
    }

    fn map(&mut self, entries: &[Entry]) -> Result<Plan, EvalError> {
        let mut planned = Vec::with_capacity(entries.len());
        for entry in entries {
            planned.push((
                self.plan(entry.key)?,
                self.plan(entry.value)?,
                entry.optional,
            ));
        }
        if planned.is_empty() {
            return Ok(Plan::Constant(Value::Map(Map::new(BTreeMap::new()))));
        }
        let constant = |plan: &Plan| matches!(plan, Plan::Constant(_));
        let all_constant = planned
            .iter()
            .all(|(key, value, _)| constant(key) && constant(value));
        let plan = Plan::Map { entries: planned };
        if all_constant {
            Ok(Plan::Constant(evaluate(&plan)?))
        } else {
            Ok(plan)
        }
    }

    fn fold(&mut self, fold: &Fold) -> Result<Plan, EvalError> {
        let range = self.plan(fold.range)?;
        let init = self.plan(fold.init)?;
        let names = Names {
            accu: fold.accu.clone(),
            first: Some(fold.var.clone()),
            second: fold.var2.clone(),
        };
        let inside = Names {
            first: None,
            second: None,
            ..names.clone()
        };
        self.scopes.push(names);
        let condition = self.plan(fold.condition)?;
        let step = self.plan(fold.step)?;
        self.scopes.pop();
        self.scopes.push(inside);
        let result = self.plan(fold.result)?;
        self.scopes.pop();
        let pair = fold.var2.is_some();
        Ok(Plan::Fold(Box::new(FoldPlan {
            range,
            pair,
            init,
            condition,
            step,
            result,
        })))
    }
}

/// A path that only starts.
fn path_plan(base: Base) -> Plan {
    Plan::Path(Box::new(Path {
        base,
        steps: Vec::new(),
        test: false,
    }))
}

/// The value of a plan that depends on nothing.
fn evaluate(plan: &Plan) -> Result<Value<'static>, EvalError> {
    let none = crate::Bindings::new();
    let meter = Meter::new(u64::MAX, 64 << 20);
    let mut run = Run {
        vars: &none,
        meter,
        host: None,
        patterns: &[],
    };
    run.eval(plan, &Scope::outside())
}

/// The elements of a constant list as keys, with their twins among the other types of numbers.
fn set_of(list: &List<'static>) -> Value<'static> {
    let mut set = BTreeMap::new();
    for item in list.iter() {
        if let Value::Double(number) = &item {
            set.extend(number::exact_int(*number).map(|twin| (Key::Int(twin), Value::Null)));
            set.extend(number::exact_uint(*number).map(|twin| (Key::Uint(twin), Value::Null)));
        }
        set.extend(Key::of(&item).map(|key| (key, Value::Null)));
    }
    Value::Map(Map::new(set))
}

fn choice(mut planned: Vec<Plan>) -> Plan {
    let mut next = || {
        if planned.is_empty() {
            Plan::Constant(Value::Null)
        } else {
            planned.remove(0)
        }
    };
    let condition = next();
    let branch = |plan: Plan| match plan {
        Plan::Path(path) if !path.test => path,
        other => Box::new(Path {
            base: Base::Value(other),
            steps: Vec::new(),
            test: false,
        }),
    };
    let truthy = branch(next());
    let falsy = branch(next());
    let base = Base::Choice {
        condition,
        truthy,
        falsy,
    };
    Plan::Path(Box::new(Path {
        base,
        steps: Vec::new(),
        test: false,
    }))
}

fn constant(literal: &Literal) -> Value<'static> {
    match literal {
        Literal::Null => Value::Null,
        Literal::Bool(truth) => Value::Bool(*truth),
        Literal::Int(number) => Value::Int(*number),
        Literal::Uint(number) => Value::Uint(*number),
        Literal::Double(number) => Value::Double(*number),
        Literal::String(text) => Value::text(text.clone()),
        Literal::Bytes(bytes) => Value::Bytes(bytes.clone()),
    }
}
