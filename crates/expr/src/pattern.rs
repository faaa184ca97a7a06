//! Regular expressions, within limits.

mod translate;

use regex::{Regex, RegexBuilder};

use crate::error::EvalError;

/// How large a compiled pattern may be: enough for long alternations, too little for bombs.
const SIZE: usize = 1 << 20;

/// Compiles a pattern.
pub(crate) fn compile(pattern: &str) -> Result<Regex, EvalError> {
    let refuse = |why: String| EvalError::new(format!("error parsing regexp: {why}"));
    let translated = translate::translate(pattern).map_err(refuse)?;
    RegexBuilder::new(&translated)
        .size_limit(SIZE)
        .dfa_size_limit(SIZE)
        .nest_limit(250)
        .build()
        .map_err(|error| refuse(complaint(pattern, &error)))
}

/// What is left to complain about after translating.
fn complaint(pattern: &str, error: &regex::Error) -> String {
    match error {
        regex::Error::CompiledTooBig(_) => "expression too large".to_owned(),
        error => {
            let text = error.to_string();
            let reason = if text.contains("invalid character class range") {
                "invalid character class range"
            } else if text.contains("nest") {
                "expression nests too deeply"
            } else {
                "invalid or unsupported Perl syntax"
            };
            format!("{reason}: `{pattern}`")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, text: &str) -> bool {
        compile(pattern).unwrap().is_match(text)
    }

    #[test]
    fn short_classes_are_ascii() {
        assert!(matches("^\\w+$", "abc_1"));
        assert!(!matches("^\\w+$", "ü"));
        assert!(matches("^\\W$", "ü"));
        assert!(!matches("^\\d$", "٣"));
        assert!(matches("^[\\d-]+$", "1-2"));
        assert!(matches("\\bfoo\\b", "a foo b"));
    }

    #[test]
    fn brackets_and_braces_mean_themselves() {
        assert!(matches("^[[a]+$", "[a"));
        assert!(matches("^[a&&b]+$", "a&b"));
        assert!(matches("^{a}$", "{a}"));
        assert!(matches("^a{,2}$", "a{,2}"));
        assert!(matches("^x]$", "x]"));
        assert!(matches("^[]a]+$", "]a"));
        assert!(matches("^\\Qa.b\\E$", "a.b"));
        assert!(matches("^[[:alpha:]]+$", "abc"));
    }

    #[test]
    fn mistakes_are_named_as_the_reference_does() {
        for (pattern, reason) in [
            ("(", "missing closing ): `(`"),
            (")", "unexpected ): `)`"),
            ("a[b", "missing closing ]: `[b`"),
            ("*", "missing argument to repetition operator: `*`"),
            ("a**", "invalid nested repetition operator: `**`"),
            ("a{1001}", "invalid repeat count: `{1001}`"),
            ("(a{100}b){11}", "invalid repeat count: `{11}`"),
            ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
            ("\\8", "invalid escape sequence: `\\8`"),
            ("a\\", "trailing backslash at end of expression: ``"),
        ] {
            let error = compile(pattern).unwrap_err().to_string();
            assert_eq!(error, format!("error parsing regexp: {reason}"));
        }
    }
}
