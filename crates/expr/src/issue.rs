//! Everything that is wrong with an expression, told at once and in the reference's words.

use std::fmt;

/// At most this many problems are written out.
const MOST: usize = 100;
/// Longer lines are not quoted.
const LONGEST_SNIPPET: usize = 16384;

/// One problem and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// Line from 1, or -1 when the problem has no place.
    pub line: i32,
    /// Column from 0 in code points, or -1.
    pub column: i32,
    /// What is wrong.
    pub message: String,
}

/// Why an expression does not compile. `Display` is the whole report with quoted lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompileError {
    issues: Vec<Issue>,
    report: String,
    instantiation: bool,
}

impl CompileError {
    /// The problems in the order of their places.
    pub fn issues(&self) -> &[Issue] {
        &self.issues
    }

    /// Whether the expression is well formed, but a constant part of it can only fail.
    pub fn is_instantiation(&self) -> bool {
        self.instantiation
    }

    pub(crate) fn instantiation(report: String) -> Self {
        Self {
            issues: Vec::new(),
            report,
            instantiation: true,
        }
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.report)
    }
}

impl std::error::Error for CompileError {}

/// Collects problems while an expression is compiled.
pub(crate) struct Issues {
    lines: Vec<String>,
    /// Offset in code points where each line starts.
    starts: Vec<usize>,
    found: Vec<Issue>,
    count: usize,
}

impl Issues {
    pub(crate) fn new(text: &str) -> Self {
        let mut lines = Vec::new();
        let mut starts = Vec::new();
        let mut offset = 0;
        for line in text.split('\n') {
            starts.push(offset);
            offset += line.chars().count() + 1;
            lines.push(line.to_owned());
        }
        Self {
            lines,
            starts,
            found: Vec::new(),
            count: 0,
        }
    }

    /// A problem at an offset in code points.
    pub(crate) fn at(&mut self, offset: usize, message: impl Into<String>) {
        let line = self.starts.partition_point(|start| *start <= offset).max(1);
        let start = self.starts.get(line - 1).copied().unwrap_or(0);
        // The reference has no column for an expression without a single character.
        let empty = self.lines.len() == 1 && self.lines.first().is_some_and(String::is_empty);
        let column = if empty {
            -1
        } else {
            i32::try_from(offset - start).unwrap_or(i32::MAX)
        };
        self.push(
            i32::try_from(line).unwrap_or(i32::MAX),
            column,
            message.into(),
        );
    }

    /// A problem of the whole text.
    pub(crate) fn nowhere(&mut self, message: impl Into<String>) {
        self.push(-1, -1, message.into());
    }

    fn push(&mut self, line: i32, column: i32, message: String) {
        self.count += 1;
        if self.count <= MOST {
            self.found.push(Issue {
                line,
                column,
                message,
            });
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The report.
    pub(crate) fn into_error(mut self) -> CompileError {
        self.found.sort_by_key(|issue| (issue.line, issue.column));
        let mut parts: Vec<String> = self.found.iter().map(|issue| self.render(issue)).collect();
        if self.count > MOST {
            parts.push(format!("{} more errors were truncated", self.count - MOST));
        }
        CompileError {
            report: parts.join("\n"),
            issues: self.found,
            instantiation: false,
        }
    }

    fn render(&self, issue: &Issue) -> String {
        let mut out = format!(
            "ERROR: <input>:{}:{}: {}",
            issue.line,
            issue.column + 1,
            issue.message
        );
        let line = usize::try_from(issue.line - 1)
            .ok()
            .and_then(|line| self.lines.get(line));
        if let Some(line) = line.filter(|line| !line.is_empty() && line.len() <= LONGEST_SNIPPET) {
            let snippet = line.replace('\t', " ");
            out.push_str("\n | ");
            out.push_str(&snippet);
            out.push_str("\n | ");
            let mut letters = snippet.chars();
            for _ in 0..issue.column {
                match letters.next() {
                    Some(letter) => out.push(if letter.is_ascii() { '.' } else { '\u{ff0e}' }),
                    None => break,
                }
            }
            let plain = letters.next().is_none_or(|letter| letter.is_ascii());
            out.push(if plain { '^' } else { '\u{ff3e}' });
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_points_at_the_place() {
        let mut issues = Issues::new("self.foo");
        issues.at(4, "undefined field 'foo'");
        let report = issues.into_error().to_string();
        assert_eq!(
            report,
            "ERROR: <input>:1:5: undefined field 'foo'\n | self.foo\n | ....^"
        );
    }

    #[test]
    fn wide_letters_get_wide_marks() {
        let mut issues = Issues::new("'ü' + x");
        issues.at(6, "m");
        assert!(issues.into_error().to_string().ends_with("\n | .．....^"));
    }
}
