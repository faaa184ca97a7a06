//! The `go` command, without surprises from the user's environment.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, bail, ensure};
use serde::Deserialize;

use crate::workspace;

/// Whether there is a `go` command.
pub(super) fn is_installed() -> bool {
    Command::new("go")
        .arg("version")
        .output()
        .is_ok_and(|output| output.status.success())
}

/// Fails with a message for people when Go is missing.
pub(super) fn require() -> anyhow::Result<()> {
    if !is_installed() {
        bail!(
            "Go is not installed, and the real control plane is built with it. Install Go 1.26 or later \
             (https://go.dev/doc/install), or point KUBEBUILDER_ASSETS to a folder with the binaries."
        );
    }
    Ok(())
}

/// Builds one package of the module in `folder`, exactly as its `go.mod` and `go.sum` say.
pub(super) fn build(
    folder: &Path,
    package: &str,
    binary: &Path,
    linker_flags: &str,
) -> anyhow::Result<()> {
    compile(&["build"], folder, package, binary, linker_flags)
}

/// Builds the tests of one package into a program.
pub(super) fn build_tests(
    folder: &Path,
    package: &str,
    binary: &Path,
    linker_flags: &str,
) -> anyhow::Result<()> {
    compile(&["test", "-c"], folder, package, binary, linker_flags)
}

fn compile(
    verb: &[&str],
    folder: &Path,
    package: &str,
    binary: &Path,
    linker_flags: &str,
) -> anyhow::Result<()> {
    let mut command = go(folder);
    command
        .args(verb)
        .args([
            "-mod=readonly",
            "-trimpath",
            "-buildvcs=false",
            "-ldflags",
            linker_flags,
        ])
        .arg("-o")
        .arg(binary)
        .arg(package);
    workspace::run(&mut command)
}

/// Runs a package of the module in `folder`.
pub(super) fn run(folder: &Path, package: &str, arguments: &[&Path]) -> anyhow::Result<()> {
    let mut command = go(folder);
    command
        .args(["run", "-mod=readonly", package])
        .args(arguments);
    workspace::run(&mut command)
}

/// Where the files of a dependency of the module in `folder` are.
pub(super) fn module_folder(folder: &Path, module: &str) -> anyhow::Result<PathBuf> {
    let mut command = go(folder);
    command.args(["list", "-mod=readonly", "-m", "-f", "{{.Dir}}", module]);
    Ok(workspace::output(&mut command)?.trim().into())
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Downloaded {
    #[serde(default)]
    dir: PathBuf,
    #[serde(default)]
    sum: String,
    #[serde(default)]
    error: String,
}

/// Fetches a module that nothing here depends on, and compares it with its pinned checksum.
pub(super) fn download(module: &str, version: &str, sum: &str) -> anyhow::Result<PathBuf> {
    let folder = tempfile::tempdir()?;
    let mut command = go(folder.path());
    // The checksum is ours, so no other service has to vouch for it.
    command
        .env("GOSUMDB", "off")
        .args(["mod", "download", "-json"]);
    command.arg(format!("{module}@{version}"));
    let output = command.output().context("start go")?;
    let downloaded: Downloaded = serde_json::from_slice(&output.stdout)
        .with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())?;
    ensure!(downloaded.error.is_empty(), "{}", downloaded.error);
    ensure!(
        downloaded.sum == sum,
        "{module}@{version} has checksum {}, expected {sum}",
        downloaded.sum
    );
    Ok(downloaded.dir)
}

fn go(folder: &Path) -> Command {
    let mut command = Command::new("go");
    command
        .current_dir(folder)
        .env("GOFLAGS", "")
        .env("GOWORK", "off");
    command
}
