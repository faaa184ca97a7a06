//! The scoreboard: every test of a suite with its outcome, the judgement against the expectations, the JSON
//! result and the last line.

use std::{collections::BTreeSet, fmt::Write as _, fs};

use anyhow::{Context, bail};
use serde::Serialize;

use super::expectations::Expectations;
use crate::workspace;

/// What became of one test.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Outcome {
    /// Unique within the suite; exceptions refer to it.
    pub(crate) test: String,
    /// Whether it passed.
    pub(crate) passed: bool,
    /// Whether it did not even run, as an exception whose failure would take long.
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) skipped: bool,
    /// What went wrong, empty when it passed.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) detail: String,
}

impl Outcome {
    /// A test that did what it should.
    pub(crate) fn passed(test: impl Into<String>) -> Self {
        Self {
            test: test.into(),
            passed: true,
            skipped: false,
            detail: String::new(),
        }
    }

    /// A test that did not, and what it said.
    pub(crate) fn failed(test: impl Into<String>, detail: impl Into<String>) -> Self {
        Self {
            test: test.into(),
            passed: false,
            skipped: false,
            detail: detail.into(),
        }
    }

    /// A test that was not run; the exceptions say why.
    pub(crate) fn skipped(test: impl Into<String>) -> Self {
        Self {
            skipped: true,
            ..Self::failed(test, "")
        }
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
fn is_false(value: &bool) -> bool {
    !*value
}

#[derive(Serialize)]
struct Result<'a> {
    suite: &'a str,
    passed: usize,
    total: usize,
    floor: usize,
    outcomes: &'a [Outcome],
}

/// Prints the scoreboard, writes `target/conformance/SUITE.json`, prints `SUITE: PASSED/TOTAL` as the last line
/// of standard output, and fails when a test outside the exceptions failed or the score is below the floor.
pub(crate) fn finish(
    suite: &str,
    outcomes: &[Outcome],
    expectations: &Expectations,
) -> anyhow::Result<()> {
    print!("{}", table(outcomes, expectations));
    judge(suite, outcomes, expectations)
}

/// The same for a suite of thousands: what passed is in the JSON only.
pub(crate) fn finish_briefly(
    suite: &str,
    outcomes: &[Outcome],
    expectations: &Expectations,
) -> anyhow::Result<()> {
    let failed: Vec<Outcome> = outcomes
        .iter()
        .filter(|outcome| !outcome.passed)
        .cloned()
        .collect();
    print!("{}", table(&failed, expectations));
    judge(suite, outcomes, expectations)
}

fn judge(suite: &str, outcomes: &[Outcome], expectations: &Expectations) -> anyhow::Result<()> {
    let passed = outcomes.iter().filter(|outcome| outcome.passed).count();
    let result = Result {
        suite,
        passed,
        total: outcomes.len(),
        floor: expectations.floor,
        outcomes,
    };
    let path = workspace::results("conformance")?.join(format!("{suite}.json"));
    fs::write(&path, serde_json::to_vec_pretty(&result)?)
        .with_context(|| format!("write {}", path.display()))?;

    let complaints = complaints(outcomes, expectations);
    for complaint in &complaints {
        println!("{complaint}");
    }
    println!("{suite}: {passed}/{}", outcomes.len());
    if !complaints.is_empty() {
        bail!("{suite}: {} complaint(s), see above", complaints.len());
    }
    Ok(())
}

/// One line per test; a failure shows what it said, an exception its reason.
fn table(outcomes: &[Outcome], expectations: &Expectations) -> String {
    let mut text = String::new();
    for outcome in outcomes {
        let reason = expectations.exceptions.get(&outcome.test);
        let mark = match (outcome.passed, reason) {
            (true, None) => "ok       ",
            (true, Some(_)) => "ok (new) ",
            (false, Some(_)) if outcome.skipped => "skipped  ",
            (false, Some(_)) => "exception",
            (false, None) => "FAILED   ",
        };
        let _ = writeln!(text, "{mark}  {}", outcome.test);
        match (outcome.passed, reason) {
            (true, Some(_)) => {
                text.push_str("             passes now: strike it off the exceptions\n");
            }
            (false, Some(reason)) => {
                let _ = writeln!(text, "             {}", reason.trim());
            }
            (false, None) => {
                for line in outcome.detail.lines() {
                    let _ = writeln!(text, "             {line}");
                }
            }
            (true, None) => {}
        }
    }
    text
}

/// Everything that makes the run a failure.
fn complaints(outcomes: &[Outcome], expectations: &Expectations) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut names = BTreeSet::new();
    for outcome in outcomes {
        if !names.insert(outcome.test.as_str()) {
            complaints.push(format!("two tests are named {}", outcome.test));
        }
        if !outcome.passed && !expectations.exceptions.contains_key(&outcome.test) {
            complaints.push(format!("failed, and is no exception: {}", outcome.test));
        }
    }
    for name in expectations
        .exceptions
        .keys()
        .filter(|name| !names.contains(name.as_str()))
    {
        complaints.push(format!(
            "the exceptions name a test that does not exist: {name}"
        ));
    }
    let passed = outcomes.iter().filter(|outcome| outcome.passed).count();
    if passed < expectations.floor {
        complaints.push(format!(
            "{passed} passed, the committed floor is {}",
            expectations.floor
        ));
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expecting(floor: usize, exceptions: &[&str]) -> Expectations {
        Expectations {
            floor,
            exceptions: exceptions
                .iter()
                .map(|name| ((*name).into(), "because".into()))
                .collect(),
        }
    }

    #[test]
    fn a_failure_outside_the_exceptions_is_a_complaint() {
        let outcomes = [Outcome::passed("a"), Outcome::failed("b", "boom")];
        assert_eq!(
            complaints(&outcomes, &expecting(0, &[])),
            ["failed, and is no exception: b"]
        );
        assert!(complaints(&outcomes, &expecting(1, &["b"])).is_empty());
    }

    #[test]
    fn an_exception_does_not_count_towards_the_floor() {
        let outcomes = [Outcome::passed("a"), Outcome::failed("b", "boom")];
        assert_eq!(
            complaints(&outcomes, &expecting(2, &["b"])),
            ["1 passed, the committed floor is 2"]
        );
    }

    #[test]
    fn an_exception_for_a_test_that_is_gone_is_a_complaint() {
        let complaints = complaints(&[Outcome::passed("a")], &expecting(0, &["gone"]));
        assert_eq!(
            complaints,
            ["the exceptions name a test that does not exist: gone"]
        );
    }

    #[test]
    fn the_table_names_every_test_and_says_why() {
        let outcomes = [
            Outcome::passed("a"),
            Outcome::failed("b", "boom"),
            Outcome::failed("c", "x"),
            Outcome::skipped("d"),
        ];
        let table = table(&outcomes, &expecting(0, &["c", "d"]));
        assert_eq!(
            table,
            "ok         a\nFAILED     b\n             boom\nexception  c\n             because\n\
             skipped    d\n             because\n"
        );
    }
}
