//! What a function gets besides its arguments.

use std::{borrow::Cow, sync::Arc};

use regex::Regex;

use crate::{
    error::EvalError,
    eval::Meter,
    pattern,
    value::{Text, Value},
};

/// A function of one of our libraries.
pub(crate) type Native = for<'a> fn(&mut Call<'_>, &[Value<'a>]) -> Result<Value<'a>, EvalError>;

/// Somebody who answers questions that no expression can answer alone.
pub trait Host: Send + Sync {
    /// Whether the attributes are allowed.
    fn authorize(&self, question: &crate::library::Question) -> crate::library::Answer;
}

/// The call at hand: its name, its budget, its host.
pub struct Call<'c> {
    pub(crate) function: &'c str,
    pub(crate) overload: &'c str,
    pub(crate) meter: &'c mut Meter,
    pub(crate) host: Option<&'c dyn Host>,
    pub(crate) patterns: &'c [(Arc<str>, Regex)],
}

impl<'c> Call<'c> {
    /// The overload that the checker chose; empty when there were several.
    pub fn overload(&self) -> &str {
        self.overload
    }

    /// Whether two values are equal. When comparing takes too long, the evaluation ends after the
    /// call, whatever it gives.
    pub(crate) fn same<'a>(&self, one: &Value<'a>, two: &Value<'a>) -> bool {
        one.equals_within(two, &self.meter.fuel)
    }

    /// Asks for memory before building something large.
    pub fn reserve(&mut self, bytes: usize) -> Result<(), EvalError> {
        self.meter.reserve(bytes)
    }

    /// The error for arguments of types that no overload has.
    pub(crate) fn refuse<T>(&self, args: &[Value<'_>]) -> Result<T, EvalError> {
        let types: Vec<String> = args.iter().map(Value::type_name).collect();
        Err(EvalError::new(format!(
            "no such overload: {}({})",
            self.function,
            types.join(", ")
        )))
    }

    /// Text made by a function.
    pub(crate) fn made<'a>(&mut self, text: String) -> Result<Value<'a>, EvalError> {
        self.reserve(text.len())?;
        Ok(Value::String(Text::Shared(text.into())))
    }

    /// A pattern; those written as literals have been compiled before.
    pub(crate) fn pattern(&self, text: &str) -> Result<Cow<'c, Regex>, EvalError> {
        let patterns: &'c [(Arc<str>, Regex)] = self.patterns;
        match patterns.iter().find(|(known, _)| **known == *text) {
            Some((_, pattern)) => Ok(Cow::Borrowed(pattern)),
            None => pattern::compile(text).map(Cow::Owned),
        }
    }
}
