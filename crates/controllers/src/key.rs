//! Which object: its namespace and name.

use std::{fmt, sync::Arc};

use kube::Resource;
use quadrille_objects::word;
use quadrille_planes::feed::Head;

/// Which object of a kind; the namespace is empty for one of the whole cluster.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Key {
    /// Its namespace.
    pub(crate) namespace: Arc<str>,
    /// Its name.
    pub(crate) name: Arc<str>,
}

impl Key {
    /// By its words.
    pub(crate) fn new(namespace: &str, name: &str) -> Self {
        Self {
            namespace: word(namespace),
            name: name.into(),
        }
    }

    /// Of an object.
    pub(crate) fn of(object: &impl Resource) -> Self {
        let metadata = object.meta();
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        Self::new(&text(&metadata.namespace), &text(&metadata.name))
    }

    /// Of an object that was not read yet.
    pub(crate) fn told(head: &Head) -> Self {
        Self::new(&head.namespace, &head.name)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.namespace.is_empty() {
            out.write_str(&self.name)
        } else {
            write!(out, "{}/{}", self.namespace, self.name)
        }
    }
}
