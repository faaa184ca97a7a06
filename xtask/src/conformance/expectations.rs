//! What a suite is expected to score: a floor, and exceptions with their reasons, in one committed YAML file.
//!
//! ```yaml
//! floor: 27          # fewer passed tests than this is a failure
//! exceptions:        # may fail, and count as not passed
//!   some::test::name: why it can't pass here
//! ```

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context, ensure};
use serde::Deserialize;

/// The committed expectations of one suite.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expectations {
    /// How many tests must pass at least.
    pub(crate) floor: usize,
    /// Tests that may fail, with the reason.
    #[serde(default)]
    pub(crate) exceptions: BTreeMap<String, String>,
}

impl Expectations {
    /// Reads a file such as `tests/conformance/kube-rs.yaml`; an exception without a reason is refused.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        let text = fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
        Self::parse(&text).with_context(|| path.display().to_string())
    }

    /// Expects of a part of the suite what it can give: no floor, and only its own exceptions.
    pub(crate) fn limit_to(&mut self, is_run: impl Fn(&str) -> bool) {
        self.floor = 0;
        self.exceptions.retain(|name, _| is_run(name));
    }

    fn parse(text: &str) -> anyhow::Result<Self> {
        let expectations: Self = serde_saphyr::from_str(text)?;
        for (test, reason) in &expectations.exceptions {
            ensure!(!reason.trim().is_empty(), "exception {test} has no reason");
        }
        Ok(expectations)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exceptions_carry_their_reason() {
        let read = Expectations::parse("floor: 3\nexceptions:\n  a::b: needs a kubelet\n").unwrap();
        assert_eq!(read.floor, 3);
        assert_eq!(read.exceptions["a::b"], "needs a kubelet");
    }

    #[test]
    fn an_exception_without_a_reason_is_refused() {
        let error = Expectations::parse("floor: 0\nexceptions:\n  a::b: ' '\n").unwrap_err();
        assert_eq!(error.to_string(), "exception a::b has no reason");
    }

    #[test]
    fn an_unknown_key_is_refused() {
        assert!(Expectations::parse("flor: 1\n").is_err());
    }
}
