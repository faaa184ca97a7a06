//! Where an instance keeps its things.
//!
//! ```text
//!   store.redb      objects           kubeconfig   how to reach the API (0600)
//!   pki/            keys (0600)       quad.lock    held while running; says who
//!   users/          kubeconfigs of local users (0600)
//! ```

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
};

use quadrille_apiserver::serve::private_file;
use tempfile::TempDir;

use crate::failure::Failure;

/// A folder for the data of one instance.
#[derive(Debug)]
pub(crate) struct DataFolder {
    path: PathBuf,
    /// Removed with everything in it when dropped; only throw-away instances have one.
    temporary: Option<TempDir>,
}

impl DataFolder {
    /// The given folder or the user's default one, made if it is not there.
    pub(crate) fn open(given: Option<&Path>) -> Result<Self, Failure> {
        let path = locate(given)?;
        private_file::make_folder(&path).map_err(|error| {
            Failure::new(format!("{} cannot be used as data folder", path.display()))
                .because(&error)
                .next("Choose a folder that you may write to: quad up --data-dir FOLDER")
        })?;
        // Paths are printed for use elsewhere: they must hold from any working directory.
        let path = path.canonicalize().unwrap_or(path);
        Ok(Self {
            path,
            temporary: None,
        })
    }

    /// A folder that goes away with the value.
    pub(crate) fn temporary() -> Result<Self, Failure> {
        let folder = tempfile::Builder::new()
            .prefix("quadrille-")
            .tempdir()
            .map_err(|error| {
                Failure::new("no temporary folder can be made")
                    .because(&error)
                    .next("Point TMPDIR to a folder that you may write to")
            })?;
        Ok(Self {
            path: folder.path().to_owned(),
            temporary: Some(folder),
        })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it goes away with the value.
    pub(crate) fn is_temporary(&self) -> bool {
        self.temporary.is_some()
    }

    /// The objects.
    pub(crate) fn store(&self) -> PathBuf {
        self.path.join("store.redb")
    }

    /// The keys.
    pub(crate) fn keys(&self) -> PathBuf {
        self.path.join("pki")
    }

    /// The kubeconfigs of local users.
    pub(crate) fn users(&self) -> PathBuf {
        self.path.join("users")
    }

    /// The kubeconfig.
    pub(crate) fn kubeconfig(&self) -> PathBuf {
        self.path.join("kubeconfig")
    }
}

/// The kubeconfig of `quad up` in the default folder, if that can be told.
pub(crate) fn default_kubeconfig() -> Option<PathBuf> {
    locate(None).ok().map(|folder| folder.join("kubeconfig"))
}

/// The given folder, or the default: `$XDG_STATE_HOME` or `~/.local/state`, then `quadrille/default`.
pub(crate) fn locate(given: Option<&Path>) -> Result<PathBuf, Failure> {
    given
        .map(Path::to_owned)
        .or_else(|| default(env::var_os("XDG_STATE_HOME"), env::var_os("HOME")))
        .ok_or_else(|| {
            Failure::new("no data folder: neither XDG_STATE_HOME nor HOME is set")
                .next("Name one: --data-dir FOLDER")
        })
}

fn default(state_home: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    // The specification of XDG says that relative paths are to be ignored.
    let absolute =
        |value: Option<OsString>| value.map(PathBuf::from).filter(|path| path.is_absolute());
    let state = absolute(state_home).or_else(|| Some(absolute(home)?.join(".local/state")))?;
    Some(state.join("quadrille/default"))
}

/// A path as people write it: `~` for their home.
pub(crate) fn shown(path: &Path) -> String {
    let home = env::var_os("HOME").map(PathBuf::from);
    match home.and_then(|home| path.strip_prefix(home).ok().map(Path::to_owned)) {
        Some(below) => format!("~/{}", below.display()),
        None => path.display().to_string(),
    }
}

/// A command for pasting into a shell, on an instance's folder: `quad up`, or `quad up --data-dir ./data`.
pub(crate) fn command_on(folder: &Path, words: &str) -> String {
    let same = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if locate(None).is_ok_and(|usual| same(&usual) == same(folder)) {
        format!("quad {words}")
    } else {
        format!("quad {words} --data-dir {}", pasted(folder))
    }
}

/// A path for pasting into a shell.
pub(crate) fn pasted(path: &Path) -> String {
    let text = shown(path);
    let plain = |c: char| c.is_ascii_alphanumeric() || "/~._-+@%,:".contains(c);
    if text.chars().all(plain) {
        text
    } else {
        format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_follows_the_environment() {
        let text = |value: &str| Some(OsString::from(value));
        let found = |state, home| default(state, home).map(|path| path.display().to_string());
        let wanted = |path: &str| Some(path.to_owned());
        assert_eq!(
            found(text("/s"), text("/h")),
            wanted("/s/quadrille/default")
        );
        assert_eq!(
            found(None, text("/h")),
            wanted("/h/.local/state/quadrille/default")
        );
        assert_eq!(
            found(text("relative"), text("/h")),
            wanted("/h/.local/state/quadrille/default")
        );
        assert_eq!(found(None, None), None);
    }

    #[test]
    fn a_command_names_the_folder_unless_it_is_the_usual_one() {
        assert_eq!(command_on(&locate(None).unwrap(), "up"), "quad up");
        let other = command_on(Path::new("/tmp/a b"), "up");
        assert_eq!(other, "quad up --data-dir '/tmp/a b'");
    }

    #[test]
    fn a_path_with_a_space_can_be_pasted() {
        assert_eq!(pasted(Path::new("/tmp/a b")), "'/tmp/a b'");
        assert_eq!(pasted(Path::new("/tmp/it's")), r"'/tmp/it'\''s'");
    }
}
