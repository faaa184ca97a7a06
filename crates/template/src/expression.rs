//! One expression: compiled with words that help, evaluated within the budget.

use std::sync::Arc;

use quadrille_expr::{EvalError, Program, Type, Value};

use crate::{
    context::Context,
    error::{Cause, RenderError},
    explain::explain,
    problem::Problems,
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

    /// The variables that it looks at, each with the one field of it that is looked at.
    pub(crate) fn reads(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        self.program.reads()
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
                EvalError::MemoryLimit => Cause::TooMuchMemory,
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
