//! Generated files. Each generator is a function from nothing to (path, content) pairs; `--check` compares
//! instead of writing, so that CI notices what was not regenerated.

mod crds;
mod kinds;
mod protobuf;
mod rbac;
mod third_party;

use std::{fs, path::Path};

use anyhow::{Context, bail};

/// Options of `cargo xtask gen`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Compare only; fail if a file is out of date.
    #[arg(long)]
    pub(crate) check: bool,
}

/// A file that a generator wants to exist with exactly this content.
pub(crate) struct Generated {
    pub(crate) path: String,
    pub(crate) content: Vec<u8>,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mut files = kinds::generate()?;
    files.extend(crds::generate()?);
    files.extend(rbac::generate()?);
    files.extend(third_party::generate()?);
    let mut stale = Vec::new();
    for file in &files {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("..")
            .join(&file.path);
        if fs::read(&path).is_ok_and(|current| current == file.content) {
            continue;
        }
        if arguments.check {
            stale.push(file.path.as_str());
        } else {
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            fs::write(&path, &file.content).with_context(|| format!("write {}", file.path))?;
            println!("wrote {}", file.path);
        }
    }
    if !stale.is_empty() {
        bail!("out of date, run `cargo xtask gen`: {}", stale.join(", "));
    }
    Ok(())
}
