//! Discovery documents: what the server serves, told in the ways that clients ask for.
//!
//! All functions are pure: from the set of served resources to a document. The legacy documents have one URL
//! per group version; the aggregated one tells everything at once, under `/api` for the core group and under
//! `/apis` for the rest.

mod order;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha512};

use crate::resource::{Origin, Resource, Subresource};
pub use order::{Group, Version, groups, version_priority};

/// The media type parameters of aggregated discovery, as requests name them and answers repeat them.
pub const AGGREGATED_MEDIA_TYPE: &str =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// The verbs of a custom resource, in the order in which servers show them.
const CUSTOM_VERB_ORDER: [&str; 8] = [
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "create",
    "update",
    "watch",
];

/// `GET /api`: the versions of the core group, and where the server is reached.
pub fn api_versions(server_address: &str) -> Value {
    json!({
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [
            {"clientCIDR": "0.0.0.0/0", "serverAddress": server_address},
        ],
    })
}

/// `GET /apis`: all groups but the core group.
pub fn group_list(resources: &[Arc<Resource>]) -> Value {
    let groups: Vec<Value> = groups(resources)
        .iter()
        .filter(|group| !group.name.is_empty())
        .map(|group| Value::Object(group_versions(group)))
        .collect();
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
}

/// `GET /apis/<group>`, if there is such a group.
pub fn group(resources: &[Arc<Resource>], name: &str) -> Option<Value> {
    let groups = groups(resources);
    let group = groups
        .iter()
        .find(|group| group.name == name && !name.is_empty())?;
    let mut document = group_versions(group);
    document.insert("kind".into(), json!("APIGroup"));
    document.insert("apiVersion".into(), json!("v1"));
    Some(document.into())
}

/// `GET /api/v1` and `GET /apis/<group>/<version>`, if there is such a group version.
pub fn resource_list(resources: &[Arc<Resource>], group: &str, version: &str) -> Option<Value> {
    let groups = groups(resources);
    let found = groups.iter().find(|found| found.name == group)?;
    let found = found.versions.iter().find(|found| found.name == version)?;
    let mut served = Vec::new();
    for resource in &found.resources {
        served.push(legacy_resource(resource));
        let subresources = subresources(resource);
        served.extend(subresources.map(|subresource| legacy_subresource(resource, subresource)));
    }
    let mut document = json!({
        "kind": "APIResourceList",
        "groupVersion": group_version(group, version),
        "resources": served,
    });
    // The core group's document is older than the habit of naming its API version.
    if !group.is_empty() {
        document["apiVersion"] = json!("v1");
    }
    Some(document)
}

/// Aggregated discovery (`APIGroupDiscoveryList`, v2): of the core group or of all others.
pub fn aggregated(resources: &[Arc<Resource>], core: bool) -> Value {
    let items: Vec<Value> = groups(resources)
        .iter()
        .filter(|group| group.name.is_empty() == core)
        .map(aggregated_group)
        .collect();
    json!({
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": items,
    })
}

/// The entity tag of a document: quoted, upper-case SHA-512.
pub fn etag(document: &[u8]) -> String {
    use std::fmt::Write;
    let mut tag = String::with_capacity(130);
    tag.push('"');
    for byte in Sha512::digest(document) {
        write!(tag, "{byte:02X}").expect("writing to a string cannot fail");
    }
    tag.push('"');
    tag
}

fn group_version(group: &str, version: &str) -> String {
    if group.is_empty() {
        version.to_owned()
    } else {
        format!("{group}/{version}")
    }
}

fn group_versions(group: &Group) -> Map<String, Value> {
    let versions: Vec<Value> = group
        .versions
        .iter()
        .map(|version| {
            json!({
                "groupVersion": group_version(group.name, version.name),
                "version": version.name,
            })
        })
        .collect();
    let mut document = Map::new();
    document.insert("name".into(), json!(group.name));
    document.insert("preferredVersion".into(), json!(versions.first()));
    document.insert("versions".into(), versions.into());
    document
}

fn legacy_resource(resource: &Resource) -> Value {
    let mut entry = Map::new();
    entry.insert("name".into(), json!(resource.plural));
    entry.insert("singularName".into(), json!(resource.singular));
    entry.insert("namespaced".into(), json!(resource.namespaced));
    entry.insert("kind".into(), json!(resource.kind));
    entry.insert("verbs".into(), json!(verbs(resource)));
    insert_names(&mut entry, resource);
    if !resource.storage_version_hash.is_empty() {
        let hash = json!(resource.storage_version_hash);
        entry.insert("storageVersionHash".into(), hash);
    }
    entry.into()
}

fn legacy_subresource(resource: &Resource, subresource: &Subresource) -> Value {
    let mut entry = Map::new();
    let name = format!("{}/{}", resource.plural, subresource.name);
    entry.insert("name".into(), json!(name));
    entry.insert("singularName".into(), json!(""));
    entry.insert("namespaced".into(), json!(resource.namespaced));
    for (key, value) in [
        ("group", &subresource.group),
        ("version", &subresource.version),
    ] {
        // A custom resource's own kind goes without saying.
        let own = is_custom(resource) && subresource.kind == resource.kind;
        if !value.is_empty() && !own {
            entry.insert(key.into(), json!(value));
        }
    }
    entry.insert("kind".into(), json!(subresource.kind));
    entry.insert("verbs".into(), json!(subresource.verbs));
    entry.into()
}

fn aggregated_group(group: &Group) -> Value {
    let versions: Vec<Value> = group
        .versions
        .iter()
        .map(|version| {
            let resources = version.resources.iter().copied();
            json!({
                "version": version.name,
                "resources": resources.map(aggregated_resource).collect::<Vec<_>>(),
                "freshness": "Current",
            })
        })
        .collect();
    let metadata = if group.name.is_empty() {
        json!({})
    } else {
        json!({"name": group.name})
    };
    json!({"metadata": metadata, "versions": versions})
}

fn aggregated_resource(resource: &Arc<Resource>) -> Value {
    let mut entry = Map::new();
    let scope = if resource.namespaced {
        "Namespaced"
    } else {
        "Cluster"
    };
    let custom = is_custom(resource);
    entry.insert("resource".into(), json!(resource.plural));
    entry.insert("responseKind".into(), own_kind(resource, custom));
    entry.insert("scope".into(), json!(scope));
    entry.insert("singularResource".into(), json!(resource.singular));
    entry.insert("verbs".into(), json!(verbs(resource)));
    insert_names(&mut entry, resource);
    let subresources: Vec<Value> = subresources(resource)
        .map(|subresource| {
            let kind = if subresource.group.is_empty() && subresource.version.is_empty() && custom {
                own_kind(resource, custom)
            } else {
                response_kind(&subresource.group, &subresource.version, &subresource.kind)
            };
            json!({
                "subresource": subresource.name,
                "responseKind": kind,
                "verbs": subresource.verbs,
            })
        })
        .collect();
    if !subresources.is_empty() {
        entry.insert("subresources".into(), subresources.into());
    }
    entry.into()
}

/// Only custom resources repeat their group and version here.
fn own_kind(resource: &Resource, custom: bool) -> Value {
    if custom {
        response_kind(&resource.group, &resource.version, &resource.kind)
    } else {
        response_kind("", "", &resource.kind)
    }
}

fn response_kind(group: &str, version: &str, kind: &str) -> Value {
    json!({"group": group, "version": version, "kind": kind})
}

fn insert_names(entry: &mut Map<String, Value>, resource: &Resource) {
    for (key, names) in [
        ("shortNames", &resource.short_names),
        ("categories", &resource.categories),
    ] {
        if !names.is_empty() {
            entry.insert(key.into(), json!(names));
        }
    }
}

fn is_custom(resource: &Resource) -> bool {
    matches!(resource.origin, Origin::Custom { .. })
}

fn verbs(resource: &Resource) -> Vec<&str> {
    if is_custom(resource) {
        let served = |verb: &&str| resource.verbs.iter().any(|served| served == verb);
        CUSTOM_VERB_ORDER.into_iter().filter(served).collect()
    } else {
        resource.verbs.iter().map(String::as_str).collect()
    }
}

/// Subresources as shown: sorted by name, but `status` before `scale` for custom resources.
fn subresources(resource: &Resource) -> impl Iterator<Item = &Subresource> {
    let mut shown: Vec<&Subresource> = resource.subresources.iter().collect();
    if is_custom(resource) {
        shown.sort_by(|one, other| other.name.cmp(&one.name));
    }
    shown.into_iter()
}
