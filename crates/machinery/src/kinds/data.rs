//! The generated data file as it is written: short keys, definitions by number.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// The whole file.
#[derive(Debug, Deserialize)]
pub struct Data {
    /// The version of Kubernetes that it describes.
    pub kubernetes: Box<str>,
    /// Named schemas.
    pub definitions: Vec<Shape>,
    /// What is served.
    pub versions: Vec<GroupVersion>,
}

/// A schema without prose.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Shape {
    /// The name of a definition; empty inside of one.
    #[serde(rename = "n")]
    pub name: Box<str>,
    /// Group, version and kind of a definition.
    #[serde(rename = "g")]
    pub kind: Option<[Box<str>; 3]>,
    /// The first letter of its JSON type.
    #[serde(rename = "t")]
    pub ty: Option<char>,
    /// Its format.
    #[serde(rename = "f")]
    pub format: Option<Box<str>>,
    /// The number of the definition that it is.
    #[serde(rename = "r")]
    pub reference: Option<usize>,
    /// Fields.
    #[serde(rename = "p")]
    pub properties: BTreeMap<Box<str>, Shape>,
    /// Fields that must be there.
    #[serde(rename = "q")]
    pub required: Vec<Box<str>>,
    /// Entries of a list.
    #[serde(rename = "i")]
    pub items: Option<Box<Shape>>,
    /// Values of a map.
    #[serde(rename = "m")]
    pub additional: Option<Box<Shape>>,
    /// What is there where nothing is said.
    #[serde(rename = "d")]
    pub default: Option<Value>,
    /// The values that it can have.
    #[serde(rename = "v")]
    pub enum_values: Vec<Value>,
    /// How a list merges: `a`tomic, `s`et, `m`ap.
    #[serde(rename = "l")]
    pub list_type: Option<char>,
    /// What tells entries of a list apart.
    #[serde(rename = "k")]
    pub list_map_keys: Vec<Box<str>>,
    /// Whether a map is one piece.
    #[serde(rename = "c")]
    pub atomic_map: Option<bool>,
    /// How strategic patches merge it.
    #[serde(rename = "s")]
    pub patch_strategy: Option<Box<str>>,
    /// By what strategic patches tell entries apart.
    #[serde(rename = "e")]
    pub merge_key: Option<Box<str>>,
    /// Shapes of which one is meant.
    #[serde(rename = "o")]
    pub one_of: Vec<Shape>,
    /// Fields of which one is set.
    #[serde(rename = "u")]
    pub unions: Option<Value>,
    /// How it is written when it is empty.
    #[serde(rename = "x")]
    pub presence: Option<char>,
    /// Its type in Go.
    #[serde(rename = "y")]
    pub go_type: Option<Box<str>>,
}

/// The resources of one group version.
#[derive(Debug, Deserialize)]
pub struct GroupVersion {
    /// The group.
    #[serde(rename = "g")]
    pub group: Box<str>,
    /// The version.
    #[serde(rename = "v")]
    pub version: Box<str>,
    /// Its resources.
    #[serde(rename = "r")]
    pub resources: Vec<Served>,
}

/// One resource.
#[derive(Debug, Deserialize)]
pub struct Served {
    /// Its name in paths.
    #[serde(rename = "n")]
    pub plural: Box<str>,
    /// Its name for one.
    #[serde(rename = "s")]
    pub singular: Box<str>,
    /// Its kind.
    #[serde(rename = "k")]
    pub kind: Box<str>,
    /// Short names.
    #[serde(rename = "a", default)]
    pub short_names: Vec<String>,
    /// The sets that it is in.
    #[serde(rename = "c", default)]
    pub categories: Vec<String>,
    /// Whether its objects are in namespaces.
    #[serde(rename = "ns", default)]
    pub namespaced: bool,
    /// What can be done with it.
    #[serde(rename = "v")]
    pub verbs: Vec<String>,
    /// A hash of the version that it is kept in.
    #[serde(rename = "h", default)]
    pub storage_version_hash: Box<str>,
    /// The number of the kind's definition.
    #[serde(rename = "d")]
    pub definition: usize,
    /// What it has below.
    #[serde(rename = "u", default)]
    pub subresources: Vec<ServedSubresource>,
}

/// One subresource.
#[derive(Debug, Deserialize)]
pub struct ServedSubresource {
    /// Its name.
    #[serde(rename = "n")]
    pub name: Box<str>,
    /// Its kind.
    #[serde(rename = "k")]
    pub kind: Box<str>,
    /// The group.
    #[serde(rename = "g", default)]
    pub group: Box<str>,
    /// The version.
    #[serde(rename = "w", default)]
    pub version: Box<str>,
    /// What can be done with it.
    #[serde(rename = "v")]
    pub verbs: Vec<String>,
}
