//! Regular expressions, within limits.

use regex::{Regex, RegexBuilder};

use crate::error::EvalError;

/// How large a compiled pattern may be: enough for long alternations, too little for bombs.
const SIZE: usize = 2 << 20;

/// Compiles a pattern.
pub(crate) fn compile(pattern: &str) -> Result<Regex, EvalError> {
    RegexBuilder::new(pattern)
        .size_limit(SIZE)
        .dfa_size_limit(SIZE)
        .nest_limit(100)
        .build()
        .map_err(|error| EvalError::new(message(pattern, &error)))
}

/// The complaint in the words of the reference where a short one will do.
fn message(pattern: &str, error: &regex::Error) -> String {
    match error {
        regex::Error::CompiledTooBig(_) => {
            "error parsing regexp: expression too large".to_owned()
        }
        _ => {
            let text = error.to_string();
            let reason = if text.contains("unclosed group") {
                "missing closing )"
            } else if text.contains("unopened group") {
                "unexpected )"
            } else if text.contains("unclosed character class") {
                "missing closing ]"
            } else if text.contains("repetition operator missing expression") {
                "missing argument to repetition operator"
            } else if text.contains("look-around") {
                "invalid or unsupported Perl syntax"
            } else if text.contains("backreferences") || text.contains("escape sequence") {
                "invalid escape sequence"
            } else {
                "invalid pattern"
            };
            let shown = match reason {
                "missing closing ]" => pattern.rfind('[').map_or(pattern, |at| &pattern[at..]),
                _ => pattern,
            };
            format!("error parsing regexp: {reason}: `{shown}`")
        }
    }
}
