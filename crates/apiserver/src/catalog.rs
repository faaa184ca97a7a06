//! The set of resources served right now: built-in ones and those that CRDs define.

use std::{collections::HashMap, sync::Arc};

use parking_lot::{Mutex, MutexGuard, RwLock};

use crate::resource::Resource;

/// An immutable snapshot of what is served.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    resources: Vec<Arc<Resource>>,
    index: HashMap<(String, String, String), usize>,
    /// Grows with every change: what caches of discovery and OpenAPI documents are keyed by.
    pub(crate) generation: u64,
}

impl Catalog {
    fn new(resources: Vec<Arc<Resource>>, generation: u64) -> Self {
        let index = resources
            .iter()
            .enumerate()
            .map(|(at, resource)| {
                let key = (
                    resource.group.clone(),
                    resource.version.clone(),
                    resource.plural.clone(),
                );
                (key, at)
            })
            .collect();
        Self {
            resources,
            index,
            generation,
        }
    }

    /// The resource behind a URL.
    pub(crate) fn find(&self, group: &str, version: &str, plural: &str) -> Option<&Arc<Resource>> {
        let key = (group.to_owned(), version.to_owned(), plural.to_owned());
        self.index.get(&key).map(|at| &self.resources[*at])
    }

    /// A resource by kind.
    pub(crate) fn of_kind(&self, api_version: &str, kind: &str) -> Option<&Arc<Resource>> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        self.resources.iter().find(|resource| {
            resource.group == group && resource.version == version && resource.kind == kind
        })
    }

    /// Everything served.
    pub(crate) fn resources(&self) -> &[Arc<Resource>] {
        &self.resources
    }
}

/// The live catalog: readers take a snapshot, the CRD controller replaces it.
#[derive(Debug)]
pub(crate) struct LiveCatalog {
    built_in: Vec<Arc<Resource>>,
    current: RwLock<Arc<Catalog>>,
    changing: Mutex<()>,
}

impl LiveCatalog {
    pub(crate) fn new(built_in: Vec<Arc<Resource>>) -> Self {
        let catalog = Arc::new(Catalog::new(built_in.clone(), 0));
        Self {
            built_in,
            current: RwLock::new(catalog),
            changing: Mutex::default(),
        }
    }

    /// The catalog as it is now.
    pub(crate) fn snapshot(&self) -> Arc<Catalog> {
        self.current.read().clone()
    }

    /// Held while definitions are read and what they define replaces what was served: otherwise somebody who read
    /// earlier could bring back what somebody else just took away.
    pub(crate) fn changing(&self) -> MutexGuard<'_, ()> {
        self.changing.lock()
    }

    /// Replaces the custom resources.
    pub(crate) fn set_custom(&self, custom: Vec<Arc<Resource>>) {
        let mut current = self.current.write();
        let mut resources = self.built_in.clone();
        resources.extend(custom);
        *current = Arc::new(Catalog::new(resources, current.generation + 1));
    }
}
