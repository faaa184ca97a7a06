//! Scripts of command lines, and reading them.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

/// One script: something that people do.
pub(super) struct Script {
    /// From the name of its file.
    pub(super) name: String,
    /// Everything that it says.
    pub(super) content: Content,
    /// The text of the file: values that stand in it are never renumbered.
    pub(super) text: String,
}

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
    let mut files = fs::read_dir(folder)
        .with_context(|| format!("read {}", folder.display()))?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<Vec<_>>>()?;
    files.retain(|file| {
        file.extension()
            .is_some_and(|extension| extension == "yaml")
    });
    files.sort();
    let mut scripts = Vec::new();
    for file in files {
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        if only.is_some_and(|only| !name.contains(only)) {
            continue;
        }
        let text = fs::read_to_string(&file)?;
        let content: Content =
            serde_saphyr::from_str(&text).with_context(|| format!("read script {name}"))?;
        ensure!(!content.steps.is_empty(), "script {name} has no steps");
        scripts.push(Script {
            name: name.into_owned(),
            content,
            text,
        });
    }
    Ok(scripts)
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
