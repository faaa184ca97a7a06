//! `cargo deny`: licences, banned crates and sources. Installed once beside the other assets where nobody has
//! it, since a check that is skipped where it matters is none.

use std::{path::PathBuf, process::Command};

use quadrille_testkit::assets as parts;

use crate::{
    assets, steps,
    workspace::{self, cargo},
};

/// The version that is installed when there is none.
const VERSION: &str = "0.20.2";

/// Whether the check can run here: with `CI=true` it always can.
pub(crate) fn is_available() -> bool {
    is_installed() || ours().is_file() || steps::is_ci()
}

/// Advisories need a database from the network; they are a task of their own (`cargo deny check`).
pub(crate) fn run() -> anyhow::Result<()> {
    // It reads the sources of every target's dependencies, also of those that nobody builds here.
    workspace::run(&mut cargo(&["fetch", "--locked", "--quiet"]))?;
    let mut command = if is_installed() {
        cargo(&["deny"])
    } else {
        if !ours().is_file() {
            install()?;
        }
        let mut command = Command::new(ours());
        command.current_dir(workspace::root());
        command
    };
    command.args(["--offline", "check", "licenses", "bans", "sources"]);
    workspace::run(&mut command)
}

fn is_installed() -> bool {
    cargo(&["deny", "--version"])
        .output()
        .is_ok_and(|output| output.status.success())
}

fn folder() -> PathBuf {
    parts::folder().join(format!("cargo-deny-{VERSION}"))
}

fn ours() -> PathBuf {
    folder().join("bin/cargo-deny")
}

fn install() -> anyhow::Result<()> {
    assets::in_one_piece(&folder(), |into| {
        let mut command = cargo(&["install", "--locked", "--quiet", "--no-track"]);
        command
            .args(["--version", VERSION, "cargo-deny", "--root"])
            .arg(into);
        workspace::run(&mut command)
    })
}
