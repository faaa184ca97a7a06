//! A policy's expressions as programs.

use std::collections::HashMap;

use quadrille_expr::{Program, Type};
use serde_json::Value;

use super::environment::{Environment, Mistake};

/// An expression that was compiled, or why it could not be.
pub(super) struct Compiled {
    pub(super) text: String,
    pub(super) program: Result<Program, Mistake>,
}

impl Compiled {
    fn new(environment: &Environment, text: &str, wanted: &[Type]) -> Self {
        Self {
            text: text.to_owned(),
            program: environment.compile(text, wanted),
        }
    }
}

/// A variable.
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) expression: Compiled,
}

/// All variables of a policy, in order.
pub(super) struct Variables {
    pub(super) list: Vec<Variable>,
    /// Where each name stands; the last place of one that stands twice.
    places: HashMap<String, usize>,
}

impl Variables {
    fn new(list: Vec<Variable>) -> Self {
        let names = list.iter().enumerate();
        let places = names.map(|(place, variable)| (variable.name.clone(), place));
        Self {
            places: places.collect(),
            list,
        }
    }

    /// The last variable of a name that is not after `newest`.
    pub(super) fn place(&self, name: &str, newest: usize) -> Option<usize> {
        match *self.places.get(name)? {
            place if place <= newest => Some(place),
            _ => self.list[..=newest]
                .iter()
                .rposition(|variable| variable.name == name),
        }
    }
}

/// A demand.
pub(super) struct Validation {
    pub(super) expression: Compiled,
    /// What to say when it is not met.
    pub(super) message_expression: Option<Compiled>,
    pub(super) message: String,
    pub(super) reason: Option<String>,
}

/// A policy, ready to judge.
pub struct Policy {
    pub(super) fails_closed: bool,
    pub(super) conditions: Vec<Compiled>,
    pub(super) variables: Variables,
    pub(super) validations: Vec<Validation>,
    /// Keys and what they are to say.
    pub(super) annotations: Vec<(String, Compiled)>,
}

impl std::fmt::Debug for Policy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Policy")
            .field("validations", &self.validations.len())
            .finish_non_exhaustive()
    }
}

/// What the value of an annotation may be.
pub(crate) const ANNOTATION_TYPES: [Type; 2] = [Type::String, Type::Null];

impl Policy {
    /// Compiles the `spec` of a policy. What can't be compiled is told when it is needed.
    pub fn compile(spec: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let list = |field: &str| {
            spec[field]
                .as_array()
                .map(Vec::as_slice)
                .unwrap_or_default()
        };
        let params = spec["paramKind"].is_object().then_some(&Type::Dyn);
        let mut asking = Environment::new(&Type::Dyn, params, true).composed();
        // Messages can't ask about permissions.
        let mut telling = Environment::new(&Type::Dyn, params, false).composed();
        let variables = list("variables")
            .iter()
            .map(|variable| {
                let name = text(&variable["name"]);
                let expression = Compiled::new(&asking, &text(&variable["expression"]), &[]);
                let ty = match &expression.program {
                    Ok(program) => program.result_type().clone(),
                    Err(_) => Type::Dyn,
                };
                asking.add(&name, &ty);
                telling.add(&name, &ty);
                Variable { name, expression }
            })
            .collect();
        let boolean = |text: &str| Compiled::new(&asking, text, &[Type::Bool]);
        let conditions = list("matchConditions").iter();
        let validations = list("validations").iter();
        let annotations = list("auditAnnotations").iter();
        Self {
            fails_closed: spec["failurePolicy"] != "Ignore",
            conditions: conditions
                .map(|condition| boolean(&text(&condition["expression"])))
                .collect(),
            validations: validations
                .map(|validation| Validation {
                    expression: boolean(&text(&validation["expression"])),
                    message_expression: validation["messageExpression"]
                        .as_str()
                        .filter(|text| !text.is_empty())
                        .map(|text| Compiled::new(&telling, text, &[Type::String])),
                    message: text(&validation["message"]),
                    reason: validation["reason"].as_str().map(str::to_owned),
                })
                .collect(),
            annotations: annotations
                .map(|annotation| {
                    let value = text(&annotation["valueExpression"]);
                    let value = Compiled::new(&asking, &value, &ANNOTATION_TYPES);
                    (text(&annotation["key"]), value)
                })
                .collect(),
            variables: Variables::new(variables),
        }
    }
}
