//! From the data file's resources to what the server serves.

use std::sync::Arc;

use quadrille_machinery::{
    kinds::data::{GroupVersion, Served, ServedSubresource},
    schema::{NodeId, Schema, Schemas},
};

use crate::resource::{Origin, Resource, Subresource};

/// The resources of one group version.
pub(super) fn resources(
    version: &GroupVersion,
    schemas: &Arc<Schemas>,
    nodes: &[NodeId],
) -> Vec<Resource> {
    version
        .resources
        .iter()
        .map(|served| {
            let schema = Schema::new(Arc::clone(schemas), nodes[served.definition]);
            resource(version, served, schema)
        })
        .collect()
}

fn resource(version: &GroupVersion, served: &Served, schema: Schema) -> Resource {
    let (storage, storage_version) = storage(&version.group, &version.version, &served.plural);
    Resource {
        group: version.group.to_string(),
        version: version.version.to_string(),
        kind: served.kind.to_string(),
        list_kind: format!("{}List", served.kind),
        plural: served.plural.to_string(),
        singular: served.singular.to_string(),
        short_names: served.short_names.clone(),
        categories: served.categories.clone(),
        namespaced: served.namespaced,
        verbs: served.verbs.clone(),
        subresources: served.subresources.iter().map(subresource).collect(),
        schema,
        storage,
        storage_version,
        storage_version_hash: served.storage_version_hash.to_string(),
        origin: Origin::BuiltIn,
    }
}

fn subresource(served: &ServedSubresource) -> Subresource {
    Subresource {
        name: served.name.to_string(),
        group: served.group.to_string(),
        version: served.version.to_string(),
        kind: served.kind.to_string(),
        verbs: served.verbs.clone(),
    }
}

/// Where objects are kept and in which API version: events of both groups are one, and so are both versions
/// of the horizontal pod autoscaler.
fn storage(group: &str, version: &str, plural: &str) -> (String, String) {
    match (group, plural) {
        ("" | "events.k8s.io", "events") => ("events".to_owned(), "v1".to_owned()),
        ("autoscaling", _) => (format!("{plural}.{group}"), "autoscaling/v2".to_owned()),
        ("", _) => (plural.to_owned(), version.to_owned()),
        _ => (format!("{plural}.{group}"), format!("{group}/{version}")),
    }
}
