//! One expression: compiled with words that help, evaluated within the budget.

use std::sync::Arc;

use quadrille_expr::{CompileError, EvalError, Issue, Program, Type, Value};

use crate::{
    context::Context,
    error::{Cause, RenderError, shortened},
    problem::{Problem, Problems, suggest},
    variables::Variables,
};

/// A compiled expression.
#[derive(Debug)]
pub(crate) struct Expression {
    pub(crate) text: Arc<str>,
    program: Program,
}

impl Expression {
    pub(crate) fn compile(variables: &Variables, text: &str, path: &str) -> Result<Self, Problems> {
        match variables.env.compile(text) {
            Ok(program) => Ok(Self {
                text: text.into(),
                program,
            }),
            Err(error) => Err(explain(variables, text, path, &error)),
        }
    }

    /// The type of its value.
    pub(crate) fn ty(&self) -> &Type {
        self.program.result_type()
    }

    /// The fields of a variable that it reads.
    pub(crate) fn fields_read<'e>(&'e self, variable: &'e str) -> impl Iterator<Item = &'e str> {
        self.program.fields_read(variable)
    }

    /// Its value.
    pub(crate) fn evaluate<'a>(&self, context: &Context<'a>) -> Result<Value<'a>, RenderError> {
        let budget = context.budget;
        let evaluation = self.program.evaluate(&context.vars, budget.steps_left());
        budget.take_steps(evaluation.cost + 1);
        evaluation.result.map_err(|error| {
            let cause = match error {
                EvalError::Failed(words) => Cause::Evaluation(words),
                EvalError::CostLimit => budget.out_of_steps(),
                EvalError::MemoryLimit => budget.too_large(),
            };
            RenderError::new(cause).of(&self.text)
        })
    }

    /// Its value, which must be true or false.
    pub(crate) fn truth(&self, context: &Context<'_>) -> Result<bool, RenderError> {
        match self.evaluate(context)? {
            Value::Bool(truth) => Ok(truth),
            other => {
                let cause = Cause::wrong_type("true or false", other.type_name());
                Err(RenderError::new(cause).of(&self.text))
            }
        }
    }
}

/// What is wrong with an expression, in words for people who write templates.
fn explain(variables: &Variables, text: &str, path: &str, error: &CompileError) -> Problems {
    let shown = shortened(text.trim());
    if error.issues().is_empty() {
        return Problem::new(path, format!("${{{shown}}}: {error}")).into();
    }
    let mut problems = Problems::default();
    for issue in error.issues() {
        let (words, remedy) = plain_words(variables, text, issue);
        let mut problem = Problem::new(path, format!("${{{shown}}}: {words}"));
        problem.remedy = remedy;
        if !problems.0.contains(&problem) {
            problems.push(problem);
        }
    }
    problems
}

fn plain_words(variables: &Variables, text: &str, issue: &Issue) -> (String, Option<String>) {
    let words = issue.message.as_str();
    let quoted = |prefix: &str| {
        let rest = words.strip_prefix(prefix)?;
        rest.split('\'').next()
    };
    if let Some(name) = quoted("undeclared reference to '") {
        let known = variables.types.keys().map(String::as_str);
        if called_at(text, name) {
            return (format!("there is no function `{name}`"), None);
        }
        let words = format!("there is no variable `{name}` here");
        return (words, suggest(name, known));
    }
    if let Some(field) = quoted("undefined field '") {
        let owner = owner_of(text, issue);
        let words = match &owner {
            Some(owner) => format!("`{owner}` has no field `{field}`"),
            None => format!("there is no field `{field}`"),
        };
        let fields = owner.and_then(|owner| fields_of(variables, &owner));
        let remedy = fields.and_then(|fields| suggest(field, fields.iter().map(String::as_str)));
        return (words, remedy);
    }
    if let Some(call) = words.strip_prefix("found no matching overload for '") {
        let (name, types) = call.split_once("' applied to '").unwrap_or((call, ""));
        return no_overload(name, types.trim_end_matches('\''));
    }
    (words.to_owned(), None)
}

/// A call whose arguments have types that it does not take.
fn no_overload(name: &str, types: &str) -> (String, Option<String>) {
    let operator = name.trim_matches('_');
    let types = types.trim_start_matches('(').trim_end_matches(')');
    match name {
        "_?_:_" => {
            let words = format!("`? :` needs a truth and two values of one type, not {types}");
            let remedy = "make both sides the same type, or put one in dyn(…)";
            (words, Some(remedy.to_owned()))
        }
        _ if name.starts_with('_') || name.starts_with('@') || name == "!_" || name == "-_" => {
            let words = format!("`{operator}` does not go with {types}");
            let remedy = "convert one side, for example with string(…), int(…) or double(…)";
            (words, Some(remedy.to_owned()))
        }
        _ => (format!("`{name}` does not take ({types})"), None),
    }
}

/// Whether a name is called like a function somewhere in a text.
fn called_at(text: &str, name: &str) -> bool {
    text.match_indices(name)
        .any(|(at, _)| text[at + name.len()..].trim_start().starts_with('('))
}

/// What stands before the dot that an issue points at, when it is only names and dots.
fn owner_of(text: &str, issue: &Issue) -> Option<String> {
    let line = text
        .split('\n')
        .nth(usize::try_from(issue.line - 1).ok()?)?;
    let column = usize::try_from(issue.column).ok()?;
    let before: Vec<char> = line.chars().take(column).collect();
    let path: String = before
        .iter()
        .rev()
        .take_while(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.' | '?'))
        .collect();
    let path: String = path.chars().rev().filter(|letter| *letter != '?').collect();
    (!path.is_empty() && !path.starts_with('.')).then_some(path)
}

/// The fields of what a dotted name leads to.
fn fields_of(variables: &Variables, path: &str) -> Option<Vec<String>> {
    let mut steps = path.split('.');
    let mut ty = variables.types.get(steps.next()?)?.clone();
    for step in steps {
        ty = match &ty {
            Type::Object(object) => object.fields.get(step)?.ty.clone(),
            Type::Map(map) => map.value.clone(),
            _ => return None,
        };
    }
    match &ty {
        Type::Object(object) => Some(object.fields.keys().cloned().collect()),
        _ => None,
    }
}
