//! Documents of the first generation, `core.choreo.dev/v1`, become ours: the kinds take their fields as they are, only
//! the words around them changed.

use serde_json::{Map, Value};

/// The `apiVersion` of the first generation.
pub const API_VERSION: &str = "core.choreo.dev/v1";
const PREFIX: &str = "core.choreo.dev/";

/// Kinds of the first generation that are served.
const KINDS: [&str; 10] = [
    "Organization",
    "Project",
    "Environment",
    "DataPlane",
    "DeploymentPipeline",
    "Release",
    "DeploymentTrack",
    "DeployableArtifact",
    "Deployment",
    "ConfigurationGroup",
];

/// Why a document cannot become ours.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("kind {kind} of {API_VERSION} is not served: take it out, or write it in a kind that is ({})", KINDS.join(", "))]
pub struct UnknownKind {
    /// The kind that it has.
    pub kind: String,
}

/// Whether a document is of the first generation.
pub fn is_older(document: &Value) -> bool {
    document["apiVersion"] == API_VERSION
}

/// A document as ours; one that is not of the first generation stays as it is.
pub fn convert(mut document: Value) -> Result<Value, UnknownKind> {
    if !is_older(&document) {
        return Ok(document);
    }
    let kind = document["kind"].as_str().unwrap_or_default();
    if !KINDS.contains(&kind) {
        let kind = kind.to_owned();
        return Err(UnknownKind { kind });
    }
    document["apiVersion"] = format!("{}/{}", crate::GROUP, crate::VERSION).into();
    for part in ["labels", "annotations"] {
        let words = document.pointer_mut(&format!("/metadata/{part}"));
        if let Some(Value::Object(words)) = words {
            *words = std::mem::take(words)
                .into_iter()
                .map(renamed)
                .collect::<Map<_, _>>();
        }
    }
    if let Some(Value::Array(names)) = document.pointer_mut("/metadata/finalizers") {
        for name in names {
            if let Some(rest) = name.as_str().and_then(|name| name.strip_prefix(PREFIX)) {
                *name = format!("{}/{rest}", crate::GROUP).into();
            }
        }
    }
    Ok(document)
}

fn renamed((key, value): (String, Value)) -> (String, Value) {
    match key.strip_prefix(PREFIX) {
        Some(rest) => (format!("{}/{rest}", crate::GROUP), value),
        None => (key, value),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_document_of_the_first_generation_becomes_ours() {
        let older = json!({
            "apiVersion": "core.choreo.dev/v1", "kind": "Environment",
            "metadata": {
                "name": "development", "namespace": "acme",
                "annotations": { "core.choreo.dev/display-name": "Development Environment", "other": "x" },
                "labels": { "core.choreo.dev/organization": "acme" },
            },
            "spec": { "dataPlaneRef": "dp-local", "isProduction": false, "gateway": { "dnsPrefix": "local-dev" } },
        });
        let ours = convert(older.clone()).unwrap();
        assert_eq!(ours["apiVersion"], "openchoreo.dev/v1alpha1");
        assert_eq!(ours["spec"], older["spec"]);
        assert_eq!(
            ours["metadata"],
            json!({
                "name": "development", "namespace": "acme",
                "annotations": { "openchoreo.dev/display-name": "Development Environment", "other": "x" },
                "labels": { "openchoreo.dev/organization": "acme" },
            })
        );
        assert_eq!(
            convert(ours.clone()).unwrap(),
            ours,
            "ours stay as they are"
        );
    }

    #[test]
    fn a_kind_that_is_not_served_is_named() {
        let older = json!({ "apiVersion": "core.choreo.dev/v1", "kind": "Gadget" });
        let words = convert(older).unwrap_err().to_string();
        assert!(words.contains("kind Gadget"), "{words}");
    }
}
