//! A scratch workspace of the published crates.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, ensure};
use serde::Deserialize;

use crate::workspace;

/// The crates whose tests run; `kube` is the facade.
pub(super) const CRATES: [&str; 3] = ["kube", "kube-client", "kube-runtime"];

/// What the tests of the other two use the facade for.
const FACADE: &str = r#"
[dev-dependencies.kube]
path = "../kube"
features = ["derive", "client", "runtime", "ws"]
default-features = false
"#;

const WORKSPACE: &str = r#"[workspace]
resolver = "2"
members = ["kube", "kube-client", "kube-runtime"]

[patch.crates-io]
kube = { path = "kube" }
kube-client = { path = "kube-client" }
kube-runtime = { path = "kube-runtime" }

[profile.dev]
debug = false
"#;

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    manifest_path: PathBuf,
    source: Option<String>,
}

/// Copies the sources that this workspace depends on, as cargo has them, into `folder`.
pub(super) fn prepare(folder: &Path) -> anyhow::Result<()> {
    for (name, source) in published()? {
        let target = folder.join(&name);
        if target.exists() {
            fs::remove_dir_all(&target)?;
        }
        copy(&source.join("src"), &target.join("src"))?;
        // The crate's documentation is made from it.
        for file in ["README.md", "benches/memory.rs"] {
            if source.join(file).exists() {
                copy(&source.join(file), &target.join(file))?;
            }
        }
        let mut manifest = fs::read_to_string(source.join("Cargo.toml"))?;
        if name != "kube" {
            manifest.push_str(FACADE);
        }
        fs::write(target.join("Cargo.toml"), manifest)?;
    }
    fs::write(folder.join("Cargo.toml"), WORKSPACE)?;
    let lock = folder.join("Cargo.lock");
    if !lock.exists() {
        // The versions that we use ourselves, as far as they go.
        fs::copy(workspace::root().join("Cargo.lock"), &lock)?;
    }
    Ok(())
}

/// The folders of the crates in cargo's registry.
fn published() -> anyhow::Result<BTreeMap<String, PathBuf>> {
    let mut command = workspace::cargo(&["metadata", "--format-version=1", "--locked"]);
    let metadata: Metadata = serde_json::from_str(&workspace::output(&mut command)?)?;
    let folders: BTreeMap<String, PathBuf> = metadata
        .packages
        .into_iter()
        .filter(|package| CRATES.contains(&package.name.as_str()) && package.source.is_some())
        .filter_map(|package| Some((package.name, package.manifest_path.parent()?.to_owned())))
        .collect();
    ensure!(
        folders.len() == CRATES.len(),
        "found only {:?} of {CRATES:?}",
        folders.keys()
    );
    Ok(folders)
}

/// Copies a file or a whole folder.
fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    if !from.is_dir() {
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::copy(from, to).with_context(|| format!("copy {}", from.display()))?;
        return Ok(());
    }
    for entry in fs::read_dir(from).with_context(|| format!("read {}", from.display()))? {
        let entry = entry?;
        copy(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}
