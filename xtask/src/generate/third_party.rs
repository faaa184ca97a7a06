//! The data file of other projects' kinds that releases are made of: their definitions without prose and
//! as a server stores them, compressed.
//!
//! Source are the files that `cargo xtask assets` copies out of these projects' Go modules; without them this
//! generator is skipped.

use std::{fs, io::Write};

use anyhow::Context;
use flate2::{Compression, write::ZlibEncoder};
use quadrille_machinery::crd;
use quadrille_testkit::assets;
use serde_json::{Value, json};

use super::Generated;

const PATH: &str = "crates/node/kinds/third-party.jsonl.z";

/// A source of definitions, and the plurals of the kinds that are taken from it.
const WANTED: &[(&str, &[&str])] = &[
    (
        "gateway-api-experimental",
        &[
            "backendtlspolicies",
            "gatewayclasses",
            "gateways",
            "grpcroutes",
            "httproutes",
            "referencegrants",
            "tcproutes",
            "tlsroutes",
            "udproutes",
        ],
    ),
    (
        "envoy-gateway",
        &[
            "backends",
            "backendtrafficpolicies",
            "clienttrafficpolicies",
            "envoyextensionpolicies",
            "envoypatchpolicies",
            "envoyproxies",
            "httproutefilters",
            "securitypolicies",
        ],
    ),
    (
        "cilium-v2",
        &["ciliumclusterwidenetworkpolicies", "ciliumnetworkpolicies"],
    ),
    (
        "external-secrets",
        &[
            "clustersecretstores",
            "externalsecrets",
            "pushsecrets",
            "secretstores",
        ],
    ),
    (
        "keda",
        &[
            "clustertriggerauthentications",
            "scaledjobs",
            "scaledobjects",
            "triggerauthentications",
        ],
    ),
];

/// The generated file, or nothing where the assets are absent.
pub(super) fn generate() -> anyhow::Result<Vec<Generated>> {
    let mut lines = Vec::new();
    for (source, plurals) in WANTED {
        let Ok(files) = assets::crds(source) else {
            println!("skipped {PATH}: run `cargo xtask assets` for the definitions of {source}");
            return Ok(Vec::new());
        };
        for file in files {
            let text = fs::read_to_string(&file)?;
            let definition: Value = serde_saphyr::from_str(&text)
                .with_context(|| format!("read {}", file.display()))?;
            let plural = definition["spec"]["names"]["plural"].as_str();
            if plural.is_some_and(|plural| plurals.contains(&plural)) {
                lines.push(compact(&definition).to_string());
            }
        }
    }
    let secret_provider: Value = serde_saphyr::from_str(assets::SECRET_PROVIDER_CLASS_CRD)?;
    lines.push(compact(&secret_provider).to_string());
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(lines.join("\n").as_bytes())?;
    Ok(vec![Generated {
        path: PATH.to_owned(),
        content: encoder.finish()?,
    }])
}

/// A definition with what a server needs: no prose, no versions that nobody can ask for, complete.
fn compact(definition: &Value) -> Value {
    let metadata = &definition["metadata"];
    let mut kept = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": metadata["name"] },
        "spec": without_prose(&definition["spec"], false),
    });
    // Without the approval a server refuses groups of Kubernetes itself.
    let approved = "api-approved.kubernetes.io";
    if let Some(by) = metadata["annotations"].get(approved) {
        kept["metadata"]["annotations"] = json!({ approved: by });
    }
    if let Some(versions) = kept["spec"]["versions"].as_array_mut() {
        versions.retain(|version| version["served"] == true || version["storage"] == true);
    }
    crd::completed(&kept)
}

/// A part of a definition. Inside of `properties` every name is a field's, `description` too.
fn without_prose(value: &Value, are_fields: bool) -> Value {
    match value {
        Value::Object(entries) => entries
            .iter()
            .filter(|(name, value)| are_fields || !(*name == "description" && value.is_string()))
            .map(|(name, value)| {
                let are_fields = !are_fields && name == "properties";
                (name.clone(), without_prose(value, are_fields))
            })
            .collect(),
        Value::Array(items) => items
            .iter()
            .map(|item| without_prose(item, false))
            .collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_goes_and_a_field_of_that_name_stays() {
        let schema = json!({
            "description": "words",
            "properties": {
                "description": { "type": "string", "description": "words" },
                "properties": { "properties": { "description": { "type": "string" } } },
            },
        });
        assert_eq!(
            without_prose(&schema, false),
            json!({
                "properties": {
                    "description": { "type": "string" },
                    "properties": { "properties": { "description": { "type": "string" } } },
                },
            })
        );
    }
}
