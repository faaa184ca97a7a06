//! Which resources each group version serves, from the discovery documents.

use std::{fs, path::Path};

use anyhow::Context;
use serde_json::{Map, Value, json};

use super::schemas::Definitions;

/// The resources of one group version.
pub(super) struct GroupVersion {
    pub(super) group: String,
    pub(super) version: String,
    resources: Vec<Value>,
}

/// All group versions that are served by default, in order of priority.
pub(super) fn read(folder: &Path) -> anyhow::Result<Vec<GroupVersion>> {
    let mut versions = vec![(String::new(), "v1".to_owned())];
    for group in array(&document(&folder.join("apis.json"))?["groups"]) {
        for version in array(&group["versions"]) {
            versions.push((text(&group["name"]), text(&version["version"])));
        }
    }
    versions
        .into_iter()
        .filter(|(_, version)| !version.contains("alpha") && !version.contains("beta"))
        .map(|(group, version)| {
            let file = if group.is_empty() {
                format!("api__{version}.json")
            } else {
                format!("apis__{group}__{version}.json")
            };
            let resources = array(&document(&folder.join(file))?["resources"]).to_vec();
            Ok(GroupVersion {
                group,
                version,
                resources,
            })
        })
        .collect()
}

impl GroupVersion {
    /// The compact form: resources with their subresources, names by short keys.
    pub(super) fn compact(&self, definitions: &Definitions) -> anyhow::Result<Value> {
        let mut resources: Vec<Map<String, Value>> = Vec::new();
        for served in &self.resources {
            let name = text(&served["name"]);
            let mut entry = Map::new();
            copy(served, &mut entry, "kind", "k");
            copy(served, &mut entry, "verbs", "v");
            if let Some((parent, subresource)) = name.split_once('/') {
                copy(served, &mut entry, "group", "g");
                copy(served, &mut entry, "version", "w");
                entry.insert("n".into(), json!(subresource));
                let at = resources.iter().position(|known| known["n"] == parent);
                let parent =
                    &mut resources[at.with_context(|| format!("no {parent} for {name}"))?];
                let list = parent.entry("u").or_insert_with(|| json!([]));
                list.as_array_mut()
                    .context("subresources are a list")?
                    .push(entry.into());
                continue;
            }
            entry.insert("n".into(), json!(name));
            copy(served, &mut entry, "singularName", "s");
            copy(served, &mut entry, "shortNames", "a");
            copy(served, &mut entry, "categories", "c");
            copy(served, &mut entry, "storageVersionHash", "h");
            if served["namespaced"] == json!(true) {
                entry.insert("ns".into(), json!(true));
            }
            let kind = text(&served["kind"]);
            let definition = definitions
                .of_kind(&self.group, &self.version, &kind)
                .with_context(|| {
                    format!("no definition of {}/{} {kind}", self.group, self.version)
                })?;
            entry.insert("d".into(), json!(definition));
            resources.push(entry);
        }
        Ok(json!({"g": self.group, "v": self.version, "r": resources}))
    }
}

fn copy(from: &Value, to: &mut Map<String, Value>, long: &str, short: &str) {
    if let Some(value) = from.get(long) {
        to.insert(short.to_owned(), value.clone());
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Reads one JSON document.
pub(super) fn document(path: &Path) -> anyhow::Result<Value> {
    let text = fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("parse {}", path.display()))
}
