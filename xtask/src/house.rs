//! House rules that no lint knows: every source file opens with a line that says what it does, and none is so
//! long that nobody reads it.

use std::{fs, path::Path};

use anyhow::{Context, bail};

use crate::workspace;

/// A file with more lines than this, blank ones aside, wants a split.
const MOST_LINES: usize = 500;

pub(crate) fn run() -> anyhow::Result<()> {
    let mut complaints = Vec::new();
    for folder in ["crates", "bin", "fuzz", "testkit", "tests", "xtask"] {
        visit(&workspace::root().join(folder), &mut complaints)?;
    }
    if !complaints.is_empty() {
        bail!("house rules:\n  {}", complaints.join("\n  "));
    }
    Ok(())
}

fn visit(folder: &Path, complaints: &mut Vec<String>) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("read {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            visit(&path, complaints)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path)?;
            let name = path
                .strip_prefix(workspace::root())
                .unwrap_or(&path)
                .display()
                .to_string();
            complaints.extend(complaint(&name, &text));
        }
    }
    Ok(())
}

fn complaint(name: &str, text: &str) -> Option<String> {
    let lines = text.lines().filter(|line| !line.trim().is_empty()).count();
    if !text.starts_with("//!") {
        Some(format!("{name} does not open with `//!` and what it does"))
    } else if lines > MOST_LINES {
        Some(format!(
            "{name} has {lines} lines; split it (at most {MOST_LINES})"
        ))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_a_header_and_one_that_is_too_long_are_named() {
        assert!(complaint("a.rs", "//! Does a.\n").is_none());
        assert!(
            complaint("a.rs", "fn main() {}\n")
                .unwrap()
                .contains("a.rs")
        );
        let long = format!("//! Long.\n{}", "mod x;\n".repeat(MOST_LINES));
        assert!(complaint("a.rs", &long).unwrap().contains("501 lines"));
    }
}
