//! Rules: conditions that must hold before and after rendering, with the words of whoever wrote them.

use std::{fmt, sync::Arc};

use crate::{
    context::Context,
    error::{RenderError, shortened},
    expression::Expression,
    loops::Loop,
    target::{Candidate, RESOURCE, Target, name_of},
};

/// A rule about the context, checked before anything is rendered.
#[derive(Debug)]
pub struct Rule {
    pub(crate) written: String,
    pub(crate) condition: Arc<Expression>,
    pub(crate) message: String,
}

/// A rule that does not hold.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleFailure {
    /// Which of the rules.
    pub index: usize,
    /// The rule as it was written.
    pub rule: String,
    /// The words that its author gave it.
    pub message: String,
    /// Why it could not be evaluated; `None` when it is false.
    pub cause: Option<RenderError>,
}

impl fmt::Display for RuleFailure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rule = shortened(&self.rule);
        match &self.cause {
            None => write!(
                out,
                "rule[{}] \"{rule}\" does not hold: {}",
                self.index, self.message
            ),
            Some(cause) => write!(
                out,
                "rule[{}] \"{rule}\" cannot be evaluated: {}",
                self.index, cause.cause
            ),
        }
    }
}

/// The rules that do not hold, all of them.
pub(crate) fn failures(rules: &[Rule], context: &Context<'_>) -> Vec<RuleFailure> {
    let failure = |(index, rule): (usize, &Rule)| {
        let cause = match rule.condition.truth(context) {
            Ok(true) => return None,
            Ok(false) => None,
            Err(error) => Some(error),
        };
        Some(RuleFailure {
            index,
            rule: rule.written.clone(),
            message: rule.message.clone(),
            cause,
        })
    };
    rules.iter().enumerate().filter_map(failure).collect()
}

/// A rule about rendered objects.
#[derive(Debug)]
pub struct PostRule {
    pub(crate) path: String,
    pub(crate) when: Option<Arc<Expression>>,
    pub(crate) turns: Loop,
    pub(crate) target: Target,
    pub(crate) must_match: bool,
    pub(crate) condition: Arc<Expression>,
    pub(crate) message: String,
}

/// A rule about rendered objects that does not hold.
#[derive(Clone, Debug, PartialEq)]
pub struct PostFailure {
    /// The object, as `Kind/name`; `None` when no object is there that should be.
    pub object: Option<String>,
    /// The words of the rule's author, or that no object is there.
    pub message: String,
    /// Why the rule could not be evaluated; `None` when it is false.
    pub cause: Option<RenderError>,
    /// The turn of the loop, in words.
    pub turn: String,
}

impl fmt::Display for PostFailure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.object, &self.cause) {
            (Some(object), None) => {
                write!(out, "rule on {object} does not hold: {}", self.message)?;
            }
            (Some(object), Some(cause)) => {
                write!(out, "rule on {object} cannot be evaluated: {cause}")?;
            }
            (None, Some(cause)) => write!(out, "rule cannot be evaluated: {cause}")?,
            (None, None) => out.write_str(&self.message)?,
        }
        out.write_str(&self.turn)
    }
}

impl PostRule {
    /// What does not hold for the rendered objects.
    pub fn check<C: Candidate>(&self, context: &Context<'_>, objects: &[C]) -> Vec<PostFailure> {
        let mut failures = Vec::new();
        let checked = match self.when.as_ref().map(|when| when.truth(context)) {
            Some(Ok(false)) => Ok(()),
            Some(Err(error)) => Err(error.inside(&format!("{}.when", self.path))),
            None | Some(Ok(true)) => self.turns.turns(context, |context| {
                self.turn(context, objects, &mut failures)
            }),
        };
        if let Err(error) = checked {
            failures.push(PostFailure {
                object: None,
                message: self.message.clone(),
                cause: Some(error),
                turn: String::new(),
            });
        }
        failures
    }

    fn turn<C: Candidate>(
        &self,
        context: &Context<'_>,
        objects: &[C],
        failures: &mut Vec<PostFailure>,
    ) -> Result<(), RenderError> {
        let mut found = false;
        for candidate in objects {
            if !self.target.matches(context, candidate)? {
                continue;
            }
            found = true;
            let context = context.clone().with(RESOURCE, candidate.object());
            let cause = match self.condition.truth(&context) {
                Ok(true) => continue,
                Ok(false) => None,
                Err(error) => Some(error.inside(&format!("{}.rule", self.path))),
            };
            failures.push(PostFailure {
                object: Some(name_of(candidate.object())),
                message: self.message.clone(),
                cause,
                turn: self.turns.turn_words(&context),
            });
        }
        if !found && self.must_match {
            failures.push(PostFailure {
                object: None,
                message: format!("no object matches the target {}", self.target.words()),
                cause: None,
                turn: self.turns.turn_words(context),
            });
        }
        Ok(())
    }
}
