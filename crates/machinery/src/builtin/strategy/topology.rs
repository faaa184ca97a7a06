//! Where endpoints are, as the first version of their slices told it.

use serde_json::{Map, Value};

use crate::{builtin::fields::objects, names};

const FIELD: &str = "deprecatedTopology";
const HOST: &str = "kubernetes.io/hostname";

/// The field can't be written any more. A node that it named before is kept where it belongs now.
pub(super) fn drop(slice: &mut Map<String, Value>, old: &Value) {
    if slice.get("endpoints") == old.get("endpoints") {
        return;
    }
    let known: Vec<&str> = old["endpoints"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|endpoint| endpoint[FIELD][HOST].as_str())
        .collect();
    for endpoint in objects(slice, "endpoints") {
        let Some(topology) = endpoint.remove(FIELD) else {
            continue;
        };
        let node = topology[HOST].as_str().unwrap_or_default();
        let named = endpoint.get("nodeName").is_some_and(|name| !name.is_null());
        if !named && known.contains(&node) && names::dns_1123_subdomain(node).is_empty() {
            endpoint.insert("nodeName".to_owned(), node.into());
        }
    }
}
