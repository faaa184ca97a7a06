//! The data file of built-in kinds: shapes, list keys, merge strategies and resources of Kubernetes.
//!
//! Source are the OpenAPI v3 and discovery documents inside the Go module of Kubernetes; they equal what a
//! running server of that version serves. Only versions that a server enables by default are taken, and no
//! prose. What the documents lack (see [`golang`]) comes from the sources of the API types. `go` finds (and
//! if need be downloads) the modules: without it this generator is skipped.

mod golang;
mod module;
mod resources;
mod schemas;

use std::path::PathBuf;

use anyhow::Context;
use serde_json::{Value, json};

use super::Generated;

/// The version of Kubernetes that the embedded server speaks.
pub(crate) const KUBERNETES: &str = "1.36.3";

const PATH: &str = "crates/machinery/kinds/builtin.json";

/// The generated file, or nothing where Go is absent.
pub(super) fn generate() -> anyhow::Result<Vec<Generated>> {
    let Some(module) = module::folder("k8s.io/kubernetes", &format!("v{KUBERNETES}"))? else {
        println!("skipped {PATH}: `go` is needed to read the documents of Kubernetes");
        return Ok(Vec::new());
    };
    let discovery = resources::read(&module.join("api/discovery"))?;
    let documents = discovery
        .iter()
        .map(|version| schemas::read(&module.join("api/openapi-spec/v3"), version))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let definitions = schemas::compact(&documents, &sources()?)?;
    let mut lines = Vec::new();
    for version in &discovery {
        lines.push(version.compact(&definitions)?);
    }
    let content = layout(&definitions, &lines).context("lay out the data file")?;
    let folders: Vec<PathBuf> = modules()?.into_iter().map(|(_, folder)| folder).collect();
    Ok(vec![
        super::protobuf::generate(&folders, &content)?,
        Generated {
            path: PATH.to_owned(),
            content: content.into_bytes(),
        },
    ])
}

/// The Go sources of all API types.
fn sources() -> anyhow::Result<golang::Sources> {
    Ok(golang::Sources::new(modules()?))
}

/// Name and folder of each module with API types.
fn modules() -> anyhow::Result<Vec<(String, PathBuf)>> {
    let version = KUBERNETES.replacen('1', "v0", 1);
    let mut modules = Vec::new();
    for name in [
        "k8s.io/apimachinery",
        "k8s.io/apiextensions-apiserver",
        "k8s.io/kube-aggregator",
        "k8s.io/api",
    ] {
        let folder = module::folder(name, &version)?.context("`go` has gone")?;
        modules.push((name.to_owned(), folder));
    }
    Ok(modules)
}

/// One line per definition and per group version: compact, and a change shows as a readable diff.
fn layout(definitions: &schemas::Definitions, versions: &[Value]) -> anyhow::Result<String> {
    let one_per_line = |values: &mut dyn Iterator<Item = &Value>| -> anyhow::Result<String> {
        let lines = values
            .map(serde_json::to_string)
            .collect::<Result<Vec<_>, _>>()?;
        Ok(lines.join(",\n"))
    };
    Ok(format!(
        "{{\"kubernetes\":{},\n\"definitions\":[\n{}\n],\n\"versions\":[\n{}\n]}}\n",
        json!(KUBERNETES),
        one_per_line(&mut definitions.compact.iter())?,
        one_per_line(&mut versions.iter())?,
    ))
}
