//! Text with expressions in it: the values are written where they stand.

use std::sync::Arc;

use quadrille_expr::{Type, Value};

use crate::{
    context::Context,
    error::{Cause, RenderError},
    expression::Expression,
    output,
    problem::{Problem, Problems},
    scan::{self, Piece},
    variables::Scope,
};

/// Text with expressions in it.
#[derive(Debug)]
pub(crate) struct Text(Vec<Part>);

#[derive(Debug)]
enum Part {
    Fixed(Box<str>),
    Made(Arc<Expression>),
}

impl Text {
    /// Compiles a text. One without expressions is fixed.
    pub(crate) fn compile(scope: &Scope, text: &str, path: &str) -> Result<Self, Problems> {
        let pieces = scan::pieces(text).map_err(|nested| Problem::new(path, nested.to_string()))?;
        let mut problems = Problems::default();
        let mut parts = Vec::with_capacity(pieces.len());
        for piece in pieces {
            match piece {
                Piece::Text(text) => parts.push(Part::Fixed(text.into())),
                Piece::Expression(inner) => {
                    let Some(expression) = problems.take(scope.compile(inner, path)) else {
                        continue;
                    };
                    problems.0.extend(insertable(&expression, path));
                    parts.push(Part::Made(expression));
                }
            }
        }
        problems.into_result(Self(parts))
    }

    /// Whether it is always the same.
    pub(crate) fn is_fixed(&self) -> bool {
        self.0.iter().all(|part| matches!(part, Part::Fixed(_)))
    }

    /// The expression of a text that is nothing else.
    pub(crate) fn lone(&self) -> Option<&Expression> {
        match self.0.as_slice() {
            [Part::Made(expression)] => Some(expression),
            _ => None,
        }
    }

    /// The text with values put in.
    pub(crate) fn render(&self, context: &Context<'_>) -> Result<String, RenderError> {
        let mut text = String::new();
        for part in &self.0 {
            match part {
                Part::Fixed(fixed) => text.push_str(fixed),
                Part::Made(expression) => {
                    let value = expression.evaluate(context)?;
                    output::text(&value, context.budget, &mut text)
                        .map_err(|cause| RenderError::new(cause).of(&expression.text))?;
                }
            }
        }
        Ok(text)
    }

    /// The text as a key: a lone expression must give text.
    pub(crate) fn key(&self, context: &Context<'_>) -> Result<String, RenderError> {
        let Some(expression) = self.lone() else {
            return self.render(context);
        };
        match expression.evaluate(context)? {
            Value::String(text) => Ok(text.to_string()),
            other => {
                let cause = Cause::wrong_type("text, as a key of a map", other.type_name());
                Err(RenderError::new(cause).of(&expression.text))
            }
        }
    }
}

/// What speaks against a value inside text.
fn insertable(expression: &Expression, path: &str) -> Option<Problem> {
    let shown = expression.text.trim();
    match expression.ty() {
        Type::Opaque(opaque) if &*opaque.name == "optional_type" => Some(
            Problem::new(
                path,
                format!("${{{shown}}} may have no value, and stands inside text"),
            )
            .remedy("say what to write instead with .orValue(…)"),
        ),
        Type::Type(_) => Some(Problem::new(
            path,
            format!("${{{shown}}} gives a type, which cannot be written"),
        )),
        _ => None,
    }
}
