//! What the server serves: one [`Resource`] per group, version and plural name.
//!
//! Built-in kinds and custom resources are the same thing here; [`Origin`] tells them apart where the rules
//! of Kubernetes do (defaulting, validation, table columns, decode errors).

use std::sync::Arc;

use base64::{Engine, prelude::BASE64_STANDARD};
use quadrille_machinery::{schema::Schema, structural::Rules};
use quadrille_store::Revision;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::{definition::Definition, discovery::version_priority};

/// One served resource of one version.
#[derive(Clone, Debug)]
pub struct Resource {
    /// API group; empty for the core group.
    pub group: String,
    /// Version, such as `v1`.
    pub version: String,
    /// Kind, such as `Deployment`.
    pub kind: String,
    /// Kind of a list, such as `DeploymentList`.
    pub list_kind: String,
    /// Plural name, as in URLs.
    pub plural: String,
    /// Singular name.
    pub singular: String,
    /// Short names, such as `deploy`.
    pub short_names: Vec<String>,
    /// Categories, such as `all`.
    pub categories: Vec<String>,
    /// Whether objects live in a namespace.
    pub namespaced: bool,
    /// Verbs, sorted, as discovery shows them.
    pub verbs: Vec<String>,
    /// Subresources, sorted by name.
    pub subresources: Vec<Subresource>,
    /// The schema of the whole object in this version.
    pub schema: Schema,
    /// The group and plural under which objects are stored: versions, and groups that share a storage
    /// (`events`), have the same.
    pub storage: String,
    /// The API version in which objects are stored.
    pub storage_version: String,
    /// `storageVersionHash` as discovery shows it; empty if nothing is stored.
    pub storage_version_hash: String,
    /// Where the resource comes from.
    pub origin: Origin,
}

/// Where a resource comes from.
#[derive(Clone, Debug)]
pub enum Origin {
    /// Compiled in.
    BuiltIn,
    /// Defined by this `CustomResourceDefinition` version (`spec.versions[i]` of the object).
    Custom {
        /// The whole definition.
        definition: Arc<Definition>,
        /// The index of this version in `spec.versions`.
        version_index: usize,
        /// The schema of the version in which objects are stored.
        stored_schema: Schema,
        /// The rules of this version's schema.
        rules: Arc<Rules>,
        /// The last revision at which `spec` was another: what was written until then may not have the
        /// shape that today's schemas ask for.
        settled: Revision,
    },
}

/// A subresource such as `status` or `scale`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subresource {
    /// Its name.
    pub name: String,
    /// Group of the kind that it speaks, as discovery shows it (empty: not shown).
    pub group: String,
    /// Version of that kind.
    pub version: String,
    /// The kind that it speaks.
    pub kind: String,
    /// Verbs, sorted.
    pub verbs: Vec<String>,
}

/// Where a kind keeps what its `scale` subresource shows, as paths such as `.spec.replicas`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScalePaths {
    /// The wanted number of replicas.
    pub spec: String,
    /// The number that there is.
    pub status: String,
    /// The selector of the replicas' labels, if the kind shows one.
    pub selector: Option<String>,
}

/// The `storageVersionHash` of a kind that is stored in the given group and version.
pub fn storage_version_hash(group: &str, version: &str, kind: &str) -> String {
    let digest = Sha256::digest(format!("{group}/{version}/{kind}"));
    BASE64_STANDARD.encode(&digest[..8])
}

impl Resource {
    /// `group/version`, or `version` for the core group: what `apiVersion` says.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.clone()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// Whether the resource is compiled in, not defined by a CRD.
    pub fn is_built_in(&self) -> bool {
        matches!(self.origin, Origin::BuiltIn)
    }

    /// What clients of a deprecated version are told.
    pub fn deprecation(&self) -> Option<String> {
        let Origin::Custom {
            definition,
            version_index,
            ..
        } = &self.origin
        else {
            let warning = match (self.api_version().as_str(), self.kind.as_str()) {
                ("v1", "ComponentStatus") => "v1 ComponentStatus is deprecated in v1.19+",
                ("v1", "Endpoints") => {
                    "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"
                }
                _ => return None,
            };
            return Some(warning.to_owned());
        };
        let version = &definition["spec"]["versions"][*version_index];
        if version["deprecated"] != true {
            return None;
        }
        let given = version["deprecationWarning"]
            .as_str()
            .filter(|given| !given.is_empty());
        let standard = || {
            let mut warning = format!("{} {} is deprecated", self.api_version(), self.kind);
            if let Some(newer) = self.newest_version(definition) {
                warning = format!("{warning}; use {}/{newer} {}", self.group, self.kind);
            }
            warning
        };
        Some(given.map_or_else(standard, str::to_owned))
    }

    /// The best served version of a definition that is newer than this one and not deprecated.
    fn newest_version<'a>(&self, definition: &'a Value) -> Option<&'a str> {
        let versions = definition["spec"]["versions"].as_array();
        versions
            .into_iter()
            .flatten()
            .filter(|version| version["served"] == true && version["deprecated"] != true)
            .filter_map(|version| version["name"].as_str())
            .filter(|name| version_priority(name) > version_priority(&self.version))
            .max_by_key(|name| version_priority(name))
    }

    /// Where the kind keeps its replicas; `None` for a custom resource without a scale.
    pub fn scale_paths(&self) -> Option<ScalePaths> {
        match &self.origin {
            Origin::BuiltIn => Some(ScalePaths {
                spec: ".spec.replicas".to_owned(),
                status: ".status.replicas".to_owned(),
                selector: None,
            }),
            Origin::Custom {
                definition,
                version_index,
                ..
            } => {
                let version = &definition["spec"]["versions"][*version_index];
                let scale = version["subresources"]["scale"].as_object()?;
                let path = |name: &str| scale.get(name)?.as_str().map(str::to_owned);
                Some(ScalePaths {
                    spec: path("specReplicasPath")?,
                    status: path("statusReplicasPath")?,
                    selector: path("labelSelectorPath"),
                })
            }
        }
    }

    /// Whether a subresource of this name is served.
    pub fn subresource(&self, name: &str) -> Option<&Subresource> {
        self.subresources
            .iter()
            .find(|subresource| subresource.name == name)
    }
}
