//! `docs/faults.md` is a promise: every row of its table names tests, and every test that it names is there.

use std::fs;

use anyhow::{Context, bail};

use crate::workspace;

const TABLE: &str = "docs/faults.md";

pub(crate) fn run() -> anyhow::Result<()> {
    let path = workspace::root().join(TABLE);
    let text = fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
    let find = |file: &str| fs::read_to_string(workspace::root().join(file)).ok();
    let complaints = complaints(&text, find);
    if !complaints.is_empty() {
        bail!("{TABLE}:\n  {}", complaints.join("\n  "));
    }
    Ok(())
}

/// What is wrong with the table. `find` reads a file of the workspace.
fn complaints(table: &str, find: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut rows = 0;
    for (number, line) in table.lines().enumerate() {
        let Some(row) = Row::read(line) else {
            continue;
        };
        rows += 1;
        let here = format!("line {}: {}", number + 1, row.fault);
        if row.tests.is_empty() {
            complaints.push(format!("{here}: no test is named"));
        }
        for test in row.tests {
            complaints.extend(missing(test, &find).map(|why| format!("{here}: {why}")));
        }
    }
    if rows == 0 {
        complaints.push("there is no table of faults, deeds and tests".to_owned());
    }
    complaints
}

/// A row of the table: a fault, what is done about it, and tests.
struct Row<'a> {
    fault: &'a str,
    tests: Vec<&'a str>,
}

impl<'a> Row<'a> {
    fn read(line: &'a str) -> Option<Self> {
        let cells: Vec<&str> = line
            .strip_prefix('|')?
            .trim_end()
            .strip_suffix('|')?
            .split('|')
            .map(str::trim)
            .collect();
        let [fault, _, tests] = cells.as_slice() else {
            return None;
        };
        let is_head = *tests == "Tests" || tests.starts_with("--");
        (!is_head).then(|| Self {
            fault,
            // Every other part is between backticks.
            tests: tests.split('`').skip(1).step_by(2).collect(),
        })
    }
}

/// Why a test, given as `path::name`, is not there.
fn missing(test: &str, find: &impl Fn(&str) -> Option<String>) -> Option<String> {
    let Some((file, name)) = test.split_once("::") else {
        return Some(format!("{test} is not `path::name`"));
    };
    let Some(source) = find(file) else {
        return Some(format!("there is no file {file}"));
    };
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let head = format!("fn {name}(");
    let at = lines
        .iter()
        .position(|line| line.trim_start_matches("async ").starts_with(&head));
    match at {
        None => Some(format!("{file} has no test {name}")),
        // Its attributes are right above it.
        Some(at) => {
            let above = lines[..at].iter().rev();
            let mut attributes = above.take_while(|line| line.starts_with("#["));
            let is_test = attributes.any(|line| line.contains("test"));
            (!is_test).then(|| format!("{file}: {name} is no test"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(table: &str) -> Vec<String> {
        let file = "#[test]\nfn it_holds() {}\n\n#[tokio::test]\nasync fn it_holds_too() {}\n\nfn helper() {}\n";
        complaints(table, |name| (name == "a.rs").then(|| file.to_owned()))
    }

    #[test]
    fn tests_that_are_there_are_found() {
        let table = "| Fault | What happens | Tests |\n|---|---|---|\n| x | y | `a.rs::it_holds`, `a.rs::it_holds_too` |\n";
        assert!(judge(table).is_empty(), "{:?}", judge(table));
    }

    #[test]
    fn rows_without_tests_and_tests_that_are_gone_are_named() {
        for (row, words) in [
            ("| x | y | none |", "line 1: x: no test is named"),
            ("| x | y | `a.rs::gone` |", "a.rs has no test gone"),
            ("| x | y | `b.rs::it_holds` |", "no file b.rs"),
            ("| x | y | `a.rs::helper` |", "helper is no test"),
            ("| x | y | `a.rs` |", "is not `path::name`"),
            ("no table", "there is no table"),
        ] {
            let said = judge(row).join("\n");
            assert!(said.contains(words), "{row}: {said}");
        }
    }
}
