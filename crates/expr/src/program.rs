//! Compiled expressions.

use std::{borrow::Cow, collections::HashMap, sync::Arc};

use crate::{
    CompileError, Env,
    call::Host,
    check::{self, Checked},
    deep,
    env::Overload,
    error::EvalError,
    eval::{self, Meter, Plan, Run, Scope},
    issue::Issues,
    syntax::{self, Syntax, ast::Ast},
    ty::Type,
    value::Value,
};

/// The cost that a server allows for one expression.
pub const COST_LIMIT: u64 = 1_000_000;
/// Bytes that the values built by one evaluation may take.
const MEMORY_LIMIT: usize = 64 << 20;

/// Values of the variables, and who answers questions.
#[derive(Default)]
pub struct Bindings<'a> {
    values: Vec<(Cow<'a, str>, Value<'a>)>,
    host: Option<&'a dyn Host>,
}

impl Clone for Bindings<'_> {
    /// With the room of the original: copies are made to be added to.
    fn clone(&self) -> Self {
        let mut values = Vec::with_capacity(self.values.capacity());
        values.extend_from_slice(&self.values);
        Self {
            values,
            host: self.host,
        }
    }
}

impl<'a> Bindings<'a> {
    /// No variables.
    pub fn new() -> Self {
        Self::default()
    }

    /// With one more variable.
    #[must_use]
    pub fn with(mut self, name: impl Into<Cow<'a, str>>, value: impl Into<Value<'a>>) -> Self {
        self.set(name, value);
        self
    }

    /// Gives a variable a value, or another one.
    pub fn set(&mut self, name: impl Into<Cow<'a, str>>, value: impl Into<Value<'a>>) {
        let (name, value) = (name.into(), value.into());
        match self.values.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = value,
            None => self.values.push((name, value)),
        }
    }

    /// No variables, with room for so many.
    pub fn with_capacity(count: usize) -> Self {
        Self {
            values: Vec::with_capacity(count),
            host: None,
        }
    }

    /// With somebody to ask about authorization.
    #[must_use]
    pub fn asking(mut self, host: &'a dyn Host) -> Self {
        self.host = Some(host);
        self
    }

    /// The value of a variable.
    pub fn value(&self, name: &str) -> Option<&Value<'a>> {
        let known = self.values.iter().find(|(known, _)| known == name);
        known.map(|(_, value)| value)
    }
}

impl std::fmt::Debug for Bindings<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map()
            .entries(self.values.iter().map(|(name, value)| (name, value)))
            .finish()
    }
}

/// How an evaluation ended and what it cost.
#[derive(Clone, Debug)]
pub struct Evaluation<'a> {
    /// The value, or why there is none.
    pub result: Result<Value<'a>, EvalError>,
    /// Cost by the reference's model.
    pub cost: u64,
}

/// An expression that has been parsed, checked and made ready to run.
pub struct Program {
    pub(crate) ast: Ast,
    pub(crate) checked: Checked,
    pub(crate) functions: Arc<HashMap<String, Vec<Overload>>>,
    plan: Plan,
    patterns: eval::Patterns,
    pub(crate) levels: u32,
}

fn parse(env: &Env, text: &str) -> Result<Ast, CompileError> {
    let mut issues = Issues::new(text);
    let syntax = Syntax {
        optionals: env.macros.optionals,
        quoted_names: env.options.quoted_names,
        rewrites: &env.rewrites,
    };
    let ast = syntax::parse(text, syntax, env.macros, &mut issues);
    if issues.is_empty() {
        Ok(ast)
    } else {
        Err(issues.into_error())
    }
}

impl Program {
    pub(crate) fn compile(env: &Env, text: &str) -> Result<Self, CompileError> {
        let no_stack = || CompileError::instantiation("no stack for a deep expression".to_owned());
        let ast = deep::run(deep::nesting(text), || parse(env, text)).ok_or_else(no_stack)??;
        let levels = ast.levels();
        deep::run(levels, || Self::check(env, text, ast, levels)).ok_or_else(no_stack)?
    }

    fn check(env: &Env, text: &str, ast: Ast, levels: u32) -> Result<Self, CompileError> {
        let mut issues = Issues::new(text);
        let checked = check::check(env, &ast, &mut issues);
        if issues.is_empty() && env.options.validate_literals {
            check::validate(&ast, &checked, &mut issues);
        }
        if !issues.is_empty() {
            return Err(issues.into_error());
        }
        let (plan, patterns) = eval::plan(env, &ast, &checked)
            .map_err(|error| CompileError::instantiation(error.to_string()))?;
        Ok(Self {
            ast,
            checked,
            functions: env.functions.clone(),
            plan,
            patterns,
            levels,
        })
    }

    /// The type of the result.
    pub fn result_type(&self) -> &Type {
        self.checked.ty(self.ast.root)
    }

    /// Whether the expression looks at a variable.
    pub fn uses(&self, variable: &str) -> bool {
        self.reads().any(|(name, _)| name == variable)
    }

    /// What the expression looks at: each variable, with the one field of it that is looked at
    /// (`a` of `variable.a.b`), or nothing when it is taken as a whole.
    pub fn reads(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        let mut fields = vec![None; self.ast.nodes.len()];
        for (id, ty) in (0..).zip(&self.checked.types) {
            // What macros have replaced is still in the tree, but was never checked.
            if let (Some(_), Some((operand, field))) = (ty, self.ast.field_of(id))
                && let Some(slot) = fields.get_mut(operand as usize)
            {
                *slot = Some(field);
            }
        }
        let references = self.checked.references.iter().zip(fields);
        references.filter_map(|(reference, field)| match reference {
            Some(check::Reference::Variable(name)) => Some((&**name, field)),
            _ => None,
        })
    }

    /// Evaluates with a limit on the cost, usually [`COST_LIMIT`] or what is left of a budget.
    pub fn evaluate<'a>(&self, vars: &Bindings<'a>, limit: u64) -> Evaluation<'a> {
        let evaluate = || {
            let meter = Meter::new(limit, MEMORY_LIMIT);
            let mut run = Run {
                vars,
                meter,
                host: vars.host,
                patterns: &self.patterns,
            };
            let result = run.eval(&self.plan, &Scope::outside());
            Evaluation {
                result,
                cost: run.meter.cost,
            }
        };
        deep::run(self.levels, evaluate).unwrap_or(Evaluation {
            result: Err(EvalError::MemoryLimit),
            cost: 0,
        })
    }
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Program")
            .field("type", self.result_type())
            .finish_non_exhaustive()
    }
}
