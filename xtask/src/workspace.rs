//! Where things of this repository are, and how tasks run other programs.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, bail};

/// The folder of the root `Cargo.toml`.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask lies inside the workspace")
        .to_path_buf()
}

/// Results of benches and suites lie under `target/` of the repository, wherever cargo builds.
pub(crate) fn results(kind: &str) -> anyhow::Result<PathBuf> {
    let folder = root().join("target").join(kind);
    std::fs::create_dir_all(&folder).with_context(|| format!("create {}", folder.display()))?;
    Ok(folder)
}

/// The cargo that runs this task, started in the repository's root.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root());
    // What cargo tells this task of its own package, some build scripts take for a reason to build anew, and with
    // them all that stands on them.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command
}

/// Runs a program to its end, printing it first; a failure is an error that names it.
pub(crate) fn run(command: &mut Command) -> anyhow::Result<()> {
    println!("$ {}", shown(command));
    let status = command
        .status()
        .with_context(|| format!("start {}", command.get_program().display()))?;
    if !status.success() {
        bail!("`{}` failed: {status}", shown(command));
    }
    Ok(())
}

/// Runs a program to its end and hands back what it printed.
pub(crate) fn output(command: &mut Command) -> anyhow::Result<String> {
    let output = command
        .stderr(std::process::Stdio::inherit())
        .output()
        .with_context(|| format!("start {}", command.get_program().display()))?;
    if !output.status.success() {
        bail!("`{}` failed: {}", shown(command), output.status);
    }
    String::from_utf8(output.stdout).context("output is not UTF-8")
}

fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let mut words = vec![
        program
            .file_name()
            .unwrap_or(program.as_os_str())
            .to_string_lossy(),
    ];
    words.extend(command.get_args().map(std::ffi::OsStr::to_string_lossy));
    words.join(" ")
}

/// A program of ours for tests, built now if need be. It is built together with the tasks: alone it would ask for other
/// features of what they share, and so build it anew.
pub(crate) fn built(package: &str) -> anyhow::Result<PathBuf> {
    let programs = ["--package", package, "--package", "xtask"];
    run(cargo(&["build", "--quiet", "--locked"]).args(programs))?;
    built_as("debug", package)
}

/// An optimized program of ours, built now if need be. All are built together, for the same reason.
pub(crate) fn built_release(name: &str) -> anyhow::Result<PathBuf> {
    let programs = ["quad", "quad-controller", "xtask"];
    let programs = programs.iter().flat_map(|package| ["--package", package]);
    run(cargo(&["build", "--release", "--locked"]).args(programs))?;
    built_as("release", name)
}

fn built_as(profile: &str, name: &str) -> anyhow::Result<PathBuf> {
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    let path = root().join(target).join(profile).join(name);
    if !path.is_file() {
        bail!("{} was not built", path.display());
    }
    Ok(path)
}

/// Packages of this workspace that depend on one of its packages, and that package itself.
pub(crate) fn users_of(package: &str) -> anyhow::Result<Vec<String>> {
    let mut command = cargo(&["metadata", "--format-version=1", "--no-deps", "--locked"]);
    let metadata: serde_json::Value = serde_json::from_str(&output(&mut command)?)?;
    let packages = metadata["packages"]
        .as_array()
        .context("cargo metadata without packages")?;
    let uses = |candidate: &serde_json::Value| {
        let dependencies = candidate["dependencies"].as_array();
        candidate["name"] == package
            || dependencies.is_some_and(|all| all.iter().any(|one| one["name"] == package))
    };
    let names = packages.iter().filter(|candidate| uses(candidate));
    Ok(names
        .filter_map(|found| found["name"].as_str())
        .map(str::to_owned)
        .collect())
}
