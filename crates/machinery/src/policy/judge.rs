//! What a policy says about a request.

use quadrille_expr::{Bindings, COST_LIMIT, Host, Question, Type, Value as ExprValue};
use serde_json::Value;
use typed_arena::Arena;

use super::{
    chain::{self, Effort},
    expressions::{Compiled, Policy, Validation},
};

/// What all demands of a policy may cost together, for one object and one set of parameters.
const BUDGET: u64 = 10 * COST_LIMIT;
/// What its match conditions may cost.
const CONDITIONS_BUDGET: u64 = BUDGET / 4;
/// The longest message that an expression may make.
const MAX_MESSAGE_BYTES: usize = 5 * 1024;
const OUT_OF_BUDGET: &str =
    "validation failed due to running out of cost budget, no further validation rules will be run";

/// A request as expressions see it.
#[derive(Clone, Copy)]
pub struct Review<'a> {
    /// The new object; none when one is deleted.
    pub object: &'a Value,
    /// The object that is there; none when one is created.
    pub old: &'a Value,
    /// Who wants what.
    pub request: &'a Value,
    /// The same as match conditions see it: by the name that the client used for the resource.
    pub request_as_sent: &'a Value,
    /// The namespace, if there is one.
    pub namespace: &'a Value,
    /// The parameters, if there are any.
    pub params: &'a Value,
    /// The resource of the request, to ask about permissions for.
    pub resource: &'a Question,
    /// Who knows about permissions.
    pub host: &'a dyn Host,
}

/// What one demand comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It is met, or nobody minds.
    Admit,
    /// It is not met, or can't be judged.
    Deny {
        /// Why.
        message: String,
        /// The reason of the status; none where an expression failed.
        reason: Option<String>,
    },
}

/// A note for the audit log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Annotation {
    /// To be written.
    Publish {
        /// Its name.
        key: String,
        /// What it says.
        value: String,
    },
    /// It can't be made, and the policy refuses what it can't judge.
    Failed(String),
}

/// What a policy says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judgement {
    /// One for each demand.
    pub decisions: Vec<Decision>,
    /// Notes.
    pub annotations: Vec<Annotation>,
}

/// The budget of some expressions is spent.
struct OutOfBudget;

/// How an expression ended: its value as JSON, if it has one.
type Outcome = Result<Value, String>;

impl Policy {
    /// Judges a request.
    pub fn judge(&self, review: &Review<'_>) -> Judgement {
        match self.conditions_hold(review) {
            Ok(true) => {}
            Ok(false) => return Judgement::default(),
            Err(message) => return self.failed(message),
        }
        let bare = bindings(review);
        let asking = asking(bare.clone(), review);
        let demands = self
            .validations
            .iter()
            .map(|demand| Some(&demand.expression));
        let Ok((outcomes, left)) = self.evaluate(&asking, demands, BUDGET) else {
            return self.failed(OUT_OF_BUDGET.to_owned());
        };
        let messages = self
            .validations
            .iter()
            .map(|demand| demand.message_expression.as_ref());
        let messages = self
            .evaluate(&bare, messages, left)
            .map(|(messages, _)| messages);
        let decisions = self.validations.iter().zip(outcomes).enumerate();
        let decisions = decisions
            .map(|(index, (demand, outcome))| {
                match (outcome.unwrap_or(Ok(Value::Null)), &messages) {
                    (Err(message), _) => self.error(message),
                    (Ok(_), Err(OutOfBudget)) => {
                        self.error(format!("failed messageExpression: {OUT_OF_BUDGET}"))
                    }
                    (Ok(Value::Bool(true)), _) => Decision::Admit,
                    (Ok(_), Ok(messages)) => Decision::Deny {
                        message: words(demand, messages[index].as_ref()),
                        reason: Some(
                            demand
                                .reason
                                .clone()
                                .unwrap_or_else(|| "Invalid".to_owned()),
                        ),
                    },
                }
            })
            .collect();
        let Ok(annotations) = self.annotations(&bare) else {
            return self.failed(OUT_OF_BUDGET.to_owned());
        };
        Judgement {
            decisions,
            annotations,
        }
    }

    fn failed(&self, message: String) -> Judgement {
        Judgement {
            decisions: vec![self.error(message)],
            annotations: Vec::new(),
        }
    }

    /// What can't be judged is refused, unless the policy says otherwise.
    fn error(&self, message: String) -> Decision {
        if self.fails_closed {
            Decision::Deny {
                message,
                reason: None,
            }
        } else {
            Decision::Admit
        }
    }

    /// Whether the policy wants to judge at all. One condition that does not hold decides, even if others fail.
    fn conditions_hold(&self, review: &Review<'_>) -> Result<bool, String> {
        let nowhere = Review {
            namespace: &Value::Null,
            request: review.request_as_sent,
            ..*review
        };
        let vars = asking(bindings(&nowhere), &nowhere);
        let outcomes = self.evaluate(&vars, self.conditions.iter().map(Some), CONDITIONS_BUDGET);
        let (outcomes, failure) = match outcomes {
            Ok((outcomes, _)) => (outcomes, None),
            Err(OutOfBudget) => (Vec::new(), Some(OUT_OF_BUDGET.to_owned())),
        };
        let mut errors = Vec::from_iter(failure);
        for outcome in outcomes.into_iter().flatten() {
            match outcome {
                Ok(Value::Bool(false)) => return Ok(false),
                Ok(_) => {}
                Err(error) if errors.contains(&error) => {}
                Err(error) => errors.push(error),
            }
        }
        if errors.is_empty() {
            return Ok(true);
        }
        if !self.fails_closed {
            return Ok(false);
        }
        Err(match errors.as_slice() {
            [one] => one.clone(),
            several => format!("[{}]", several.join(", ")),
        })
    }

    fn annotations(&self, vars: &Bindings<'_>) -> Result<Vec<Annotation>, OutOfBudget> {
        let expressions = self.annotations.iter().map(|(_, value)| Some(value));
        let (outcomes, _) = self.evaluate(vars, expressions, BUDGET)?;
        let named = self.annotations.iter().zip(outcomes);
        Ok(named
            .filter_map(|((key, _), outcome)| match outcome? {
                Ok(Value::String(text)) if !text.trim().is_empty() => Some(Annotation::Publish {
                    key: key.clone(),
                    value: text.trim().to_owned(),
                }),
                Ok(_) => None,
                Err(error) => self.fails_closed.then_some(Annotation::Failed(error)),
            })
            .collect())
    }

    /// Evaluates expressions that share variables and a budget; tells what is left of it.
    fn evaluate<'e>(
        &self,
        vars: &Bindings<'_>,
        expressions: impl Iterator<Item = Option<&'e Compiled>>,
        budget: u64,
    ) -> Result<(Vec<Option<Outcome>>, u64), OutOfBudget> {
        let effort = Effort::default();
        let arena = Arena::new();
        let vars = chain::bind(&arena, &self.variables, vars, &effort);
        let mut left = budget;
        let mut outcomes = Vec::new();
        for expression in expressions {
            let Some(expression) = expression else {
                outcomes.push(None);
                continue;
            };
            outcomes.push(Some(match &expression.program {
                Err(mistake) => Err(format!("compilation error: {}", mistake.text())),
                Ok(program) => {
                    let evaluation = program.evaluate(&vars, COST_LIMIT);
                    let cost = effort.take_cost().saturating_add(evaluation.cost);
                    left = left.checked_sub(cost).ok_or(OutOfBudget)?;
                    match evaluation.result {
                        Ok(value) => Ok(value.to_json().unwrap_or_default()),
                        Err(error) => Err(format!(
                            "expression '{}' resulted in error: {error}",
                            expression.text
                        )),
                    }
                }
            }));
        }
        Ok((outcomes, left))
    }
}

fn bindings<'a>(review: &Review<'a>) -> Bindings<'a> {
    let json = |value: &'a Value| ExprValue::json(value, &Type::Dyn);
    Bindings::new()
        .with("object", json(review.object))
        .with("oldObject", json(review.old))
        .with("request", json(review.request))
        .with("namespaceObject", json(review.namespace))
        .with("params", json(review.params))
}

/// The same for expressions that may ask about permissions.
fn asking<'a>(bindings: Bindings<'a>, review: &Review<'a>) -> Bindings<'a> {
    bindings
        .with("authorizer", Question::authorizer())
        .with(
            "authorizer.requestResource",
            review.resource.clone().request_resource(),
        )
        .asking(review.host)
}

/// Why a demand refuses: what its message expression says, its message, or the demand itself.
fn words(demand: &Validation, made: Option<&Outcome>) -> String {
    if let Some(Ok(Value::String(text))) = made {
        let text = text.trim();
        if !text.is_empty() && text.len() <= MAX_MESSAGE_BYTES && !text.contains('\n') {
            return text.to_owned();
        }
    }
    match demand.message.trim() {
        "" => format!("failed expression: {}", demand.expression.text.trim()),
        message => message.to_owned(),
    }
}
