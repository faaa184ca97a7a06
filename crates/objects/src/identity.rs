//! Which object is meant: group, kind, namespace and name. The version is not part of it: the same object
//! can be read and written in several.

use std::{fmt, sync::Arc};

use crate::word::word;

/// A kind, whatever its version.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupKind {
    /// The API group; nothing for the core group.
    pub group: Arc<str>,
    /// The kind.
    pub kind: Arc<str>,
}

/// Which object is meant, within one cluster.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identity {
    /// Its kind.
    pub kind: GroupKind,
    /// Its namespace; nothing for an object of the whole cluster.
    pub namespace: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
}

/// An API version such as `v1`, without its group.
pub type Version = Arc<str>;

impl GroupKind {
    /// A kind by its words.
    pub fn new(group: &str, kind: &str) -> Self {
        Self {
            group: word(group),
            kind: word(kind),
        }
    }

    /// Whether these are the words of the kind.
    pub fn is(&self, group: &str, kind: &str) -> bool {
        &*self.group == group && &*self.kind == kind
    }
}

impl Identity {
    /// An identity by its words.
    pub fn new(group: &str, kind: &str, namespace: &str, name: &str) -> Self {
        Self {
            kind: GroupKind::new(group, kind),
            namespace: word(namespace),
            name: name.into(),
        }
    }
}

/// Splits an `apiVersion` into group and version.
pub fn split_api_version(api_version: &str) -> (&str, &str) {
    api_version.split_once('/').unwrap_or(("", api_version))
}

/// Joins group and version into an `apiVersion`.
pub fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() {
        version.to_owned()
    } else {
        format!("{group}/{version}")
    }
}

impl fmt::Display for GroupKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.group.is_empty() {
            out.write_str(&self.kind)
        } else {
            write!(out, "{}.{}", self.kind, self.group)
        }
    }
}

/// As people say it: `Deployment shop/cart`, `Namespace shop`.
impl fmt::Display for Identity {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.namespace.is_empty() {
            write!(out, "{} {}", self.kind.kind, self.name)
        } else {
            write!(out, "{} {}/{}", self.kind.kind, self.namespace, self.name)
        }
    }
}
