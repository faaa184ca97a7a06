//! The generated data file as it is written: short keys, definitions by number.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// The whole file.
#[derive(Debug, Deserialize)]
pub(crate) struct Data {
    pub(crate) kubernetes: Box<str>,
    /// Named schemas.
    pub(crate) definitions: Vec<Shape>,
    pub(crate) versions: Vec<GroupVersion>,
}

/// A schema without prose.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Shape {
    /// The name of a definition; empty inside of one.
    #[serde(rename = "n")]
    pub(crate) name: Box<str>,
    /// Group, version and kind of a definition.
    #[serde(rename = "g")]
    pub(crate) kind: Option<[Box<str>; 3]>,
    #[serde(rename = "t")]
    pub(crate) ty: Option<char>,
    #[serde(rename = "f")]
    pub(crate) format: Option<Box<str>>,
    #[serde(rename = "r")]
    pub(crate) reference: Option<usize>,
    #[serde(rename = "p")]
    pub(crate) properties: BTreeMap<Box<str>, Shape>,
    #[serde(rename = "q")]
    pub(crate) required: Vec<Box<str>>,
    #[serde(rename = "i")]
    pub(crate) items: Option<Box<Shape>>,
    #[serde(rename = "m")]
    pub(crate) additional: Option<Box<Shape>>,
    #[serde(rename = "d")]
    pub(crate) default: Option<Value>,
    #[serde(rename = "v")]
    pub(crate) enum_values: Vec<Value>,
    #[serde(rename = "l")]
    pub(crate) list_type: Option<char>,
    #[serde(rename = "k")]
    pub(crate) list_map_keys: Vec<Box<str>>,
    #[serde(rename = "c")]
    pub(crate) atomic_map: Option<bool>,
    #[serde(rename = "s")]
    pub(crate) patch_strategy: Option<Box<str>>,
    #[serde(rename = "e")]
    pub(crate) merge_key: Option<Box<str>>,
    #[serde(rename = "o")]
    pub(crate) one_of: Vec<Shape>,
    #[serde(rename = "u")]
    pub(crate) unions: Option<Value>,
    #[serde(rename = "x")]
    pub(crate) presence: Option<char>,
    #[serde(rename = "y")]
    pub(crate) go_type: Option<Box<str>>,
}

/// The resources of one group version.
#[derive(Debug, Deserialize)]
pub(crate) struct GroupVersion {
    #[serde(rename = "g")]
    pub(crate) group: Box<str>,
    #[serde(rename = "v")]
    pub(crate) version: Box<str>,
    #[serde(rename = "r")]
    pub(crate) resources: Vec<Served>,
}

/// One resource.
#[derive(Debug, Deserialize)]
pub(crate) struct Served {
    #[serde(rename = "n")]
    pub(crate) plural: Box<str>,
    #[serde(rename = "s")]
    pub(crate) singular: Box<str>,
    #[serde(rename = "k")]
    pub(crate) kind: Box<str>,
    #[serde(rename = "a", default)]
    pub(crate) short_names: Vec<String>,
    #[serde(rename = "c", default)]
    pub(crate) categories: Vec<String>,
    #[serde(rename = "ns", default)]
    pub(crate) namespaced: bool,
    #[serde(rename = "v")]
    pub(crate) verbs: Vec<String>,
    #[serde(rename = "h", default)]
    pub(crate) storage_version_hash: Box<str>,
    /// The number of the kind's definition.
    #[serde(rename = "d")]
    pub(crate) definition: usize,
    #[serde(rename = "u", default)]
    pub(crate) subresources: Vec<ServedSubresource>,
}

/// One subresource.
#[derive(Debug, Deserialize)]
pub(crate) struct ServedSubresource {
    #[serde(rename = "n")]
    pub(crate) name: Box<str>,
    #[serde(rename = "k")]
    pub(crate) kind: Box<str>,
    #[serde(rename = "g", default)]
    pub(crate) group: Box<str>,
    #[serde(rename = "w", default)]
    pub(crate) version: Box<str>,
    #[serde(rename = "v")]
    pub(crate) verbs: Vec<String>,
}
