//! Where the Go tool keeps a module.

use std::{path::PathBuf, process::Command};

use anyhow::{Context, bail};
use serde_json::Value;

/// The folder of a module; `None` if there is no `go` on this machine.
pub(super) fn folder(module: &str, version: &str) -> anyhow::Result<Option<PathBuf>> {
    let output = Command::new("go")
        .args(["mod", "download", "-json", &format!("{module}@{version}")])
        .current_dir(std::env::temp_dir())
        .output();
    let output = match output {
        Ok(output) => output,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).context("run `go mod download`"),
    };
    let answer: Value = serde_json::from_slice(&output.stdout)
        .with_context(|| format!("`go mod download` of {module}"))?;
    match answer["Dir"].as_str() {
        Some(folder) => Ok(Some(PathBuf::from(folder))),
        None => bail!("`go mod download` of {module}: {}", answer["Error"]),
    }
}
