//! How a command says that it did not do what was asked: the thing, the cause, the next command.

use std::{error::Error, fmt, process::ExitCode};

use crate::style::Style;

/// What a command could not do. Shown on standard error.
#[derive(Debug)]
pub(crate) struct Failure {
    code: u8,
    /// Whether nothing else that is tried there would fare better.
    is_final: bool,
    what: String,
    cause: Option<String>,
    next: Vec<String>,
}

impl Failure {
    /// It failed (exit code 1).
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self {
            code: 1,
            is_final: false,
            what: what.into(),
            cause: None,
            next: Vec::new(),
        }
    }

    /// What was asked for cannot be understood (exit code 2).
    pub(crate) fn usage(what: impl Into<String>) -> Self {
        Self {
            code: 2,
            ..Self::new(what)
        }
    }

    /// Adds where in the user's own documents.
    pub(crate) fn at(mut self, place: &str) -> Self {
        self.what = format!("{place}: {}", self.what);
        self
    }

    /// It is not done yet (exit code 3): waiting longer may help.
    pub(crate) fn not_yet(what: impl Into<String>) -> Self {
        Self {
            code: 3,
            ..Self::new(what)
        }
    }

    /// Adds why.
    pub(crate) fn because(mut self, error: &(dyn Error + 'static)) -> Self {
        let mut words = said(error);
        let mut source = error.source();
        while let Some(error) = source {
            let more = said(error);
            // Some errors already tell their cause.
            if !words.contains(&more) {
                words.push_str(": ");
                words.push_str(&more);
            }
            source = error.source();
        }
        self.cause = Some(words);
        self
    }

    /// Nothing else that is tried there would fare better.
    pub(crate) fn finally(mut self) -> Self {
        self.is_final = true;
        self
    }

    /// Whether nothing else that is tried there would fare better.
    pub(crate) fn is_final(&self) -> bool {
        self.is_final
    }

    /// Adds why a server was not asked or did not answer.
    pub(crate) fn unanswered(self, error: &kube::Error) -> Self {
        match error {
            // Its own words add nothing to those of what is within.
            kube::Error::Service(inner) => self.because(&**inner),
            error => self.because(error),
        }
    }

    /// Adds why, in the words of whoever refused.
    pub(crate) fn saying(mut self, words: impl Into<String>) -> Self {
        self.cause = Some(words.into());
        self
    }

    /// The same with the exit code that a verb has for it.
    pub(crate) fn with_code(mut self, code: u8) -> Self {
        self.code = code;
        self
    }

    /// Everything was said already: only the exit code is left.
    pub(crate) fn told(code: u8) -> Self {
        Self {
            code,
            ..Self::new("")
        }
    }

    /// Adds what to do next.
    pub(crate) fn next(mut self, hint: impl Into<String>) -> Self {
        self.next.push(hint.into());
        self
    }

    /// Tells the user, and gives the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        if !self.what.is_empty() {
            let style = Style::of_standard_error();
            eprintln!("{} {self}", style.red("✖"));
        }
        ExitCode::from(self.code)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.what)?;
        if let Some(cause) = &self.cause {
            for line in cause.lines() {
                write!(out, "\n    {line}")?;
            }
        }
        for hint in &self.next {
            write!(out, "\n  {hint}")?;
        }
        Ok(())
    }
}

/// What an error says; of a refusal by a server, the server's own words and nothing else.
fn said(error: &(dyn Error + 'static)) -> String {
    match error.downcast_ref::<kube::Error>() {
        Some(kube::Error::Api(status)) if !status.message.is_empty() => status.message.clone(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn a_failure_names_thing_cause_and_next_command() {
        let cause = io::Error::other("no space");
        let failure = Failure::new("cannot write x")
            .because(&cause)
            .next("try: y");
        assert_eq!(
            failure.to_string(),
            "cannot write x\n    no space\n  try: y"
        );
        assert_eq!(failure.code, 1);
        assert_eq!(Failure::not_yet("still busy").code, 3);
    }
}
