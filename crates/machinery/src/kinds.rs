//! The built-in kinds of Kubernetes: the schema of each, and which resources a server has of them.
//!
//! Everything comes from one generated data file (`cargo xtask gen`), read once per process and only where it is asked
//! for: whoever merges a template needs no server for that.

mod arena;
pub mod data;

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
};

use self::data::Data;
use crate::schema::{NodeId, Schema, Schemas};

static FILE: &str = include_str!("../kinds/builtin.json");

/// The schemas of all built-in kinds.
#[derive(Debug)]
pub struct Kinds {
    /// The arena in which they all live.
    pub schemas: Arc<Schemas>,
    /// The node of each definition of the data file.
    pub nodes: Vec<NodeId>,
    /// The data file.
    pub data: Data,
    by_kind: HashMap<[Box<str>; 3], NodeId>,
    definitions: HashMap<Box<str>, NodeId>,
}

/// The built-in kinds; parsed by the first caller, shared by all.
pub fn load() -> &'static Kinds {
    static KINDS: OnceLock<Kinds> = OnceLock::new();
    KINDS.get_or_init(|| {
        let data = serde_json::from_str(FILE).expect("the generated data file is valid");
        Kinds::from_data(data)
    })
}

impl Kinds {
    fn from_data(data: Data) -> Self {
        let (schemas, nodes) = arena::build(&data.definitions);
        let mut by_kind = HashMap::new();
        let mut definitions = HashMap::new();
        for (definition, node) in data.definitions.iter().zip(&nodes) {
            if let Some(kind) = &definition.kind {
                by_kind.insert(kind.clone(), *node);
            }
            definitions.insert(definition.name.clone(), *node);
        }
        Self {
            schemas: Arc::new(schemas),
            nodes,
            data,
            by_kind,
            definitions,
        }
    }

    /// The schema of a kind, also of those that only subresources speak (`Scale`, `Eviction`, `TokenRequest`).
    pub fn schema(&self, group: &str, version: &str, kind: &str) -> Option<Schema> {
        let key = [group.into(), version.into(), kind.into()];
        let root = *self.by_kind.get(&key)?;
        Some(Schema::new(Arc::clone(&self.schemas), root))
    }

    /// The schema of a definition by its OpenAPI name (`io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta`).
    pub fn definition(&self, name: &str) -> Option<Schema> {
        let root = *self.definitions.get(name)?;
        Some(Schema::new(Arc::clone(&self.schemas), root))
    }
}
