//! The built-in kinds of Kubernetes: what is served by default, and the schema of each kind.
//!
//! Everything comes from one generated data file (`cargo xtask gen`), read once per process.

mod arena;
pub(crate) mod data;
mod served;
#[cfg(test)]
mod tests;

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
};

use quadrille_machinery::schema::{NodeId, Schema, Schemas};

use crate::resource::Resource;
use data::Data;

static FILE: &str = include_str!("../kinds/builtin.json");

/// All built-in resources and the schemas of all built-in kinds.
#[derive(Debug)]
pub struct Catalog {
    /// One entry per group, version and plural name, groups and versions in order of priority.
    pub resources: Vec<Arc<Resource>>,
    /// The arena in which all built-in schemas live.
    pub schemas: Arc<Schemas>,
    kinds: HashMap<[Box<str>; 3], NodeId>,
    definitions: HashMap<Box<str>, NodeId>,
    data: Data,
}

/// The built-in kinds; parsed by the first caller, shared by all.
pub fn load() -> &'static Catalog {
    static CATALOG: OnceLock<Catalog> = OnceLock::new();
    CATALOG.get_or_init(|| {
        let data = serde_json::from_str(FILE).expect("the generated data file is valid");
        Catalog::from_data(data)
    })
}

impl Catalog {
    fn from_data(data: Data) -> Self {
        let (schemas, nodes) = arena::build(&data.definitions);
        let schemas = Arc::new(schemas);
        let mut kinds = HashMap::new();
        let mut definitions = HashMap::new();
        for (definition, node) in data.definitions.iter().zip(&nodes) {
            if let Some(kind) = &definition.kind {
                kinds.insert(kind.clone(), *node);
            }
            definitions.insert(definition.name.clone(), *node);
        }
        let resources = data
            .versions
            .iter()
            .flat_map(|version| served::resources(version, &schemas, &nodes))
            .map(Arc::new)
            .collect();
        Self {
            resources,
            schemas,
            kinds,
            definitions,
            data,
        }
    }

    /// The schema of a kind, also of those that only subresources speak (`Scale`, `Eviction`, `TokenRequest`).
    pub fn schema(&self, group: &str, version: &str, kind: &str) -> Option<Schema> {
        let key = [group.into(), version.into(), kind.into()];
        let root = *self.kinds.get(&key)?;
        Some(Schema::new(Arc::clone(&self.schemas), root))
    }

    /// The schema of a definition by its OpenAPI name (`io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta`).
    pub fn definition(&self, name: &str) -> Option<Schema> {
        let root = *self.definitions.get(name)?;
        Some(Schema::new(Arc::clone(&self.schemas), root))
    }

    /// The built-in resource of a group, version and plural name.
    pub fn resource(&self, group: &str, version: &str, plural: &str) -> Option<&Arc<Resource>> {
        self.resources.iter().find(|resource| {
            resource.group == group && resource.version == version && resource.plural == plural
        })
    }

    /// The version of Kubernetes that the data describes, such as `1.36.3`.
    pub fn kubernetes(&self) -> &str {
        &self.data.kubernetes
    }

    /// The raw definitions, for OpenAPI documents.
    pub(crate) fn data(&self) -> &Data {
        &self.data
    }
}
