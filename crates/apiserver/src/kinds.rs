//! The built-in kinds of Kubernetes: what is served by default, and the schema of each kind.

mod served;
#[cfg(test)]
mod tests;

use std::sync::{Arc, OnceLock};

use quadrille_machinery::{
    kinds::{self, Kinds, data::Data},
    schema::Schema,
};

use crate::resource::Resource;

/// All built-in resources and the schemas of all built-in kinds.
#[derive(Debug)]
pub struct Catalog {
    /// One entry per group, version and plural name, groups and versions in order of priority.
    pub resources: Vec<Arc<Resource>>,
    kinds: &'static Kinds,
}

/// The built-in kinds; put together by the first caller, shared by all.
pub fn load() -> &'static Catalog {
    static CATALOG: OnceLock<Catalog> = OnceLock::new();
    CATALOG.get_or_init(|| {
        let kinds = kinds::load();
        let versions = kinds.data.versions.iter();
        let resources = versions
            .flat_map(|version| served::resources(version, &kinds.schemas, &kinds.nodes))
            .map(Arc::new)
            .collect();
        Catalog { resources, kinds }
    })
}

impl Catalog {
    /// The schema of a kind, also of those that only subresources speak (`Scale`, `Eviction`, `TokenRequest`).
    pub fn schema(&self, group: &str, version: &str, kind: &str) -> Option<Schema> {
        self.kinds.schema(group, version, kind)
    }

    /// The schema of a definition by its OpenAPI name (`io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta`).
    pub fn definition(&self, name: &str) -> Option<Schema> {
        self.kinds.definition(name)
    }

    /// The built-in resource of a group, version and plural name.
    pub fn resource(&self, group: &str, version: &str, plural: &str) -> Option<&Arc<Resource>> {
        self.resources.iter().find(|resource| {
            resource.group == group && resource.version == version && resource.plural == plural
        })
    }

    /// The version of Kubernetes that the data describes, such as `1.36.3`.
    pub fn kubernetes(&self) -> &str {
        &self.kinds.data.kubernetes
    }

    /// The raw definitions, for OpenAPI documents.
    pub(crate) fn data(&self) -> &'static Data {
        &self.kinds.data
    }
}
