//! Scripts of command lines, and reading them.

use std::{collections::BTreeMap, path::Path};

use anyhow::{Result, ensure};
use serde::Deserialize;

use super::super::scripts;

/// One script: something that people do.
pub(super) type Script = scripts::Script<Content>;

/// The content of a script file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Content {
    /// What is done, as a sentence.
    pub(super) description: String,
    /// Files that its steps name.
    #[serde(default)]
    pub(super) files: BTreeMap<String, String>,
    /// The command lines, in order.
    pub(super) steps: Vec<Step>,
}

/// One command line.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Step {
    /// What follows after `kubectl`; quotes hold words together.
    pub(super) kubectl: String,
    /// Given to its standard input.
    #[serde(default)]
    pub(super) stdin: String,
    /// Files that are written anew before it.
    #[serde(default)]
    pub(super) files: BTreeMap<String, String>,
    /// Lines come in any order: kubectl itself walks a map, or waits for several things at once.
    #[serde(default)]
    pub(super) any_order: bool,
    /// Again and again until it ends with code 0; only the last time counts.
    #[serde(default)]
    pub(super) retry: bool,
    /// Lines that hold one of these texts are not compared.
    #[serde(default)]
    pub(super) ignore: Vec<String>,
    /// Only lines that hold one of these texts are compared.
    #[serde(default)]
    pub(super) only: Vec<String>,
    /// Keeps its standard output for later steps, as `${name}`.
    pub(super) save: Option<String>,
    /// Preparation: only the exit code is compared.
    #[serde(default)]
    pub(super) quiet: bool,
}

/// All scripts in `folder` whose name contains `only`, sorted by name.
pub(super) fn load(folder: &Path, only: Option<&str>) -> Result<Vec<Script>> {
    let mut found = Vec::new();
    for (file, name) in scripts::files(folder)? {
        if only.is_none_or(|only| name.contains(only)) {
            let script = Script::read(&file, name)?;
            let name = &script.name;
            ensure!(
                !script.content.steps.is_empty(),
                "script {name} has no steps"
            );
            found.push(script);
        }
    }
    Ok(found)
}

/// Splits a command line at spaces outside of quotes.
pub(super) fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for character in line.chars() {
        match (quote, character) {
            (Some(open), _) if character == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, _) if character.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_hold_words_together() {
        assert_eq!(
            words(r#"patch x -p '{"a": "b c"}'  --type=json ''"#),
            ["patch", "x", "-p", r#"{"a": "b c"}"#, "--type=json", ""]
        );
    }
}
