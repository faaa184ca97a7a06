//! Rules as programs.

use quadrille_expr::{CompileError, Decl, Env, Program, Type};

use super::field_path;
use crate::schema::{Rule, SchemaRef};

/// A rule that was compiled, or why it could not be.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) rule: Rule,
    /// `None` for an empty rule.
    pub(crate) program: Option<Result<Program, String>>,
    /// Whether it compares with what was there before.
    pub(crate) uses_old_self: bool,
    /// What it can cost at most, for one value.
    pub(crate) max_cost: u64,
    pub(crate) message: Option<Result<Program, String>>,
    pub(crate) message_max_cost: u64,
    /// Where to report, relative to the place of the rule.
    pub(crate) field_path: Option<String>,
}

/// Compiles the rules of one place.
pub(crate) fn compile(rules: &[Rule], schema: SchemaRef<'_>, decl: &Decl) -> Vec<Compiled> {
    if rules.is_empty() {
        return Vec::new();
    }
    let ty = decl.ty();
    let base = Env::kubernetes().variable("self", ty.clone());
    let plain = base.clone().variable("oldSelf", ty.clone());
    let optional = base.variable("oldSelf", Type::optional(ty));
    rules
        .iter()
        .map(|rule| {
            let env = if rule.optional_old_self == Some(true) {
                &optional
            } else {
                &plain
            };
            one(rule, env, schema, decl)
        })
        .collect()
}

fn one(rule: &Rule, env: &Env, schema: SchemaRef<'_>, decl: &Decl) -> Compiled {
    let mut compiled = Compiled {
        rule: rule.clone(),
        program: None,
        uses_old_self: false,
        max_cost: 0,
        message: None,
        message_max_cost: 0,
        field_path: None,
    };
    if rule.rule.trim().is_empty() {
        return compiled;
    }
    let program = match env.compile(&rule.rule) {
        Err(error) => Err(refusal("", &error)),
        Ok(program) if *program.result_type() != Type::Bool => {
            Err("cel expression must evaluate to a bool".to_owned())
        }
        Ok(program) => {
            compiled.uses_old_self = program.uses("oldSelf");
            compiled.max_cost = program.estimate(Some(decl)).max;
            Ok(program)
        }
    };
    let failed = program.is_err();
    compiled.program = Some(program);
    if failed {
        return compiled;
    }
    if let Some(text) = rule
        .message_expression
        .as_deref()
        .filter(|text| !text.is_empty())
    {
        let message = match env.compile(text) {
            Err(error) => Err(refusal("messageExpression ", &error)),
            Ok(program) if *program.result_type() != Type::String => {
                Err("messageExpression must evaluate to a string".to_owned())
            }
            Ok(program) => {
                compiled.message_max_cost = program.estimate(Some(decl)).max;
                Ok(program)
            }
        };
        let failed = message.is_err();
        compiled.message = Some(message);
        if failed {
            return compiled;
        }
    }
    compiled.field_path = rule
        .field_path
        .as_deref()
        .filter(|path| !path.is_empty())
        .and_then(|path| field_path::normalized(path, schema));
    compiled
}

fn refusal(what: &str, error: &CompileError) -> String {
    if !error.is_instantiation() {
        format!("{what}compilation failed: {error}")
    } else if what.is_empty() {
        format!("program instantiation failed: {error}")
    } else {
        format!("{what}instantiation failed: {error}")
    }
}
