//! Script files of the suites that compare two servers.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use serde::de::DeserializeOwned;

/// One script.
pub(super) struct Script<Content> {
    /// From its place in the folder of the suite.
    pub(super) name: String,
    /// Everything that it says.
    pub(super) content: Content,
    /// The text of the file: values that stand in it are never renumbered.
    pub(super) text: String,
}

impl<Content: DeserializeOwned> Script<Content> {
    /// Reads a file.
    pub(super) fn read(file: &Path, name: String) -> Result<Self> {
        let text = fs::read_to_string(file)?;
        // YAML 1.2: `y` and `no` are texts.
        let options = serde_saphyr::options! { strict_booleans: true };
        let content = serde_saphyr::from_str_with_options(&text, options)
            .with_context(|| format!("reading script {name}"))?;
        Ok(Self {
            name,
            content,
            text,
        })
    }
}

/// The script files right in a folder, with their names, sorted.
pub(super) fn files(folder: &Path) -> Result<Vec<(PathBuf, String)>> {
    let entries = sorted_entries(folder)?.into_iter();
    let files = entries.filter(|path| path.extension().is_some_and(|kind| kind == "yaml"));
    Ok(files.map(|path| (path.clone(), stem(&path))).collect())
}

/// What is in a folder, sorted.
pub(super) fn sorted_entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut entries = fs::read_dir(folder)
        .with_context(|| format!("reading {}", folder.display()))?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<Vec<_>>>()?;
    entries.sort();
    Ok(entries)
}

/// A file's name without its ending.
pub(super) fn stem(path: &Path) -> String {
    path.file_stem()
        .map(|stem| stem.to_string_lossy().into_owned())
        .unwrap_or_default()
}
