//! OpenAPI documents: one per group version in version 3, one for everything in version 2.
//!
//! Clients read them to learn which fields exist (`kubectl explain`), how lists merge, and whether the server
//! validates fields. Nothing is built before it is asked for; the index needs only hashes of what a document
//! is made from.

mod custom;
mod definitions;
mod operation;
mod paths;
mod prose;
mod protobuf;
mod swagger;
#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha512};

use crate::{
    kinds,
    resource::{Origin, Resource},
};
use definitions::Definitions;
pub use swagger::swagger;

/// The media type under which version 2 is answered as protobuf.
pub const PROTOBUF_V2: &str = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
/// What clients still ask by: no valid media type, and the same thing.
pub const PROTOBUF_V2_OLD: &str = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";

/// `GET /openapi/v2` as protobuf.
pub fn swagger_protobuf(resources: &[Arc<Resource>]) -> Vec<u8> {
    protobuf::encode(&swagger(resources))
}

/// The media type under which clients may ask for version 3 as protobuf; it is not offered.
pub const PROTOBUF_V3: &str = "application/com.github.proto-openapi.spec.v3@v1.0+protobuf";

/// The path of a group version below `/openapi/v3/`: `api/v1` or `apis/apps/v1`.
pub fn document_path(group: &str, version: &str) -> String {
    if group.is_empty() {
        format!("api/{version}")
    } else {
        format!("apis/{group}/{version}")
    }
}

/// `GET /openapi/v3`: all documents with the hash that a cache can keep them by.
pub fn index(resources: &[Arc<Resource>]) -> Value {
    let mut paths = Map::new();
    for (key, members) in group_versions(resources) {
        let path = document_path(key.0, key.1);
        let url = format!("/openapi/v3/{path}?hash={}", hash(&members));
        paths.insert(path, json!({"serverRelativeURL": url}));
    }
    json!({"paths": paths})
}

/// The hash of one document, as the index shows it and its entity tag repeats it.
pub fn document_hash(resources: &[Arc<Resource>], group: &str, version: &str) -> Option<String> {
    let members = group_versions(resources).remove(&(group, version))?;
    Some(hash(&members))
}

/// `GET /openapi/v3/<path>`: the document of one group version, if it is served.
pub fn document(resources: &[Arc<Resource>], group: &str, version: &str) -> Option<Value> {
    let members = group_versions(resources).remove(&(group, version))?;
    let mut definitions = Definitions::new();
    let mut paths = Map::new();
    for resource in &members {
        paths::add(&mut paths, resource, &mut definitions);
    }
    let all_custom = members.iter().all(|member| is_custom(member));
    let info = if all_custom {
        json!({"title": "Kubernetes CRD Swagger", "version": "v0.1.0"})
    } else {
        json!({"title": "Kubernetes", "version": minor_version()})
    };
    let mut components = json!({"schemas": definitions.schemas()});
    if !all_custom {
        components["securitySchemes"] = security_schemes();
    }
    Some(json!({"openapi": "3.0.0", "info": info, "paths": paths, "components": components}))
}

fn minor_version() -> String {
    let version = kinds::load().kubernetes();
    version.split('.').take(2).collect::<Vec<_>>().join(".")
}

fn security_schemes() -> Value {
    json!({"BearerToken": {"type": "apiKey", "name": "authorization", "in": "header"}})
}

fn is_custom(resource: &Resource) -> bool {
    matches!(resource.origin, Origin::Custom { .. })
}

type Members<'a> = Vec<&'a Arc<Resource>>;

fn group_versions(resources: &[Arc<Resource>]) -> BTreeMap<(&str, &str), Members<'_>> {
    let mut found: BTreeMap<(&str, &str), Members> = BTreeMap::new();
    for resource in resources {
        let key = (resource.group.as_str(), resource.version.as_str());
        found.entry(key).or_default().push(resource);
    }
    found
}

/// Changes whenever a document would: built-in resources change with the data file only, custom ones with
/// the specification of their definition.
fn hash(members: &[&Arc<Resource>]) -> String {
    use std::fmt::Write;
    let mut digest = Sha512::new();
    digest.update(kinds::load().kubernetes());
    for member in members {
        digest.update(member.api_version());
        digest.update(&member.plural);
        if let Origin::Custom {
            definition,
            version_index,
            ..
        } = &member.origin
        {
            digest.update(definition.digest());
            digest.update(version_index.to_string());
        }
    }
    digest
        .finalize()
        .iter()
        .fold(String::new(), |mut hex, byte| {
            write!(hex, "{byte:02X}").expect("writing to a string cannot fail");
            hex
        })
}
