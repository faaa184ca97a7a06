//! Where kubeconfigs may be written. A file with anything in it that is not ours is never touched.

use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use quadrille_apiserver::serve::{kubeconfig::CONTEXT, private_file};
use serde_json::Value;

use crate::{data_folder::pasted, failure::Failure};

/// A place for a kubeconfig that was checked before anything was started.
#[derive(Debug)]
pub(crate) struct Place(PathBuf);

impl Place {
    /// The place inside our own folder.
    pub(crate) fn own(path: PathBuf) -> Self {
        Self(path)
    }

    /// A place that the user named: free, or holding a kubeconfig of ours.
    pub(crate) fn check(path: &Path) -> Result<Self, Failure> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => {
                return Err(Failure::new(format!("{} cannot be read", path.display()))
                    .because(&error)
                    .next("Choose another file: --kubeconfig-out FILE"));
            }
        };
        if is_ours(&text) {
            return Ok(Self(path.to_owned()));
        }
        let shown = pasted(path);
        Err(Failure::new(format!(
            "{} holds other clusters and was left as it is",
            path.display()
        ))
        .next("Let quad write a file of its own: --kubeconfig-out FILE")
        .next(format!("and use both: export KUBECONFIG=FILE:{shown}")))
    }

    /// Writes the kubeconfig.
    pub(crate) fn write(&self, text: &str) -> Result<(), Failure> {
        let written = self.0.parent().map_or(Ok(()), private_file::make_folder);
        let written = written.and_then(|()| private_file::write(&self.0, text.as_bytes()));
        written.map_err(|error| {
            Failure::new(format!("{} cannot be written", self.0.display()))
                .because(&error)
                .next("Choose a file in a folder that you may write to: --kubeconfig-out FILE")
        })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

/// Whether everything in a kubeconfig is ours (or there is nothing). `kubectl config` rewrites files and
/// drops comments, so the names tell.
fn is_ours(text: &str) -> bool {
    if text.trim().is_empty() {
        return true;
    }
    let Ok(config) = serde_saphyr::from_str::<Value>(text) else {
        return false;
    };
    let is_config = config["kind"] == "Config";
    let ours = |list: &str| match &config[list] {
        Value::Null => true,
        Value::Array(entries) => entries.iter().all(|entry| {
            let name = entry["name"].as_str().unwrap_or_default();
            name.strip_prefix(CONTEXT)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        }),
        _ => false,
    };
    is_config && ours("clusters") && ours("contexts") && ours("users")
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: &str = "kind: Config\nclusters: [{name: quadrille}]\ncontexts: [{name: quadrille, context: {namespace: shop}}]\nusers: [{name: quadrille}]\n";

    #[test]
    fn a_missing_an_empty_and_our_own_file_may_be_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kubeconfig");
        Place::check(&path).unwrap();
        for text in ["", "\n", OURS] {
            fs::write(&path, text).unwrap();
            Place::check(&path).unwrap();
        }
    }

    #[test]
    fn anything_else_is_refused_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config");
        let mixed = OURS.replace("clusters: [", "clusters: [{name: work}, ");
        for text in [mixed.as_str(), "a letter to my aunt", "kind: Pod", "- 1"] {
            fs::write(&path, text).unwrap();
            let refused = Place::check(&path).unwrap_err().to_string();
            assert!(refused.contains("left as it is"), "{refused}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }
}
