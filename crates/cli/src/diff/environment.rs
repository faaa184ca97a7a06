//! What components would become in an environment, compared with what runs there.

use quadrille_render::{Documents, Renderer};
use quadrille_types::release::TargetPlane;
use serde_json::json;

use super::{finding::Finding, release};
use crate::{
    chain::live::{everything, rehearsed, touched},
    cluster::Cluster,
    documents::Document,
    failure::Failure,
    object::is_name,
};

/// What would happen to the objects of the components that documents are about.
pub(super) async fn findings(
    mut cluster: Cluster,
    documents: &[Document],
    environment: &str,
) -> Result<Vec<Finding>, Failure> {
    let components = touched(documents);
    if components.is_empty() {
        return Err(Failure::usage("no component is among these documents")
            .next("Give a Component or a Workload, or leave --env out."));
    }
    if let Some(namespace) = documents.iter().find_map(Document::namespace) {
        namespace.clone_into(&mut cluster.namespace);
    }
    let kind = cluster.named_kind("environments").await?;
    if !is_name(environment) {
        return Err(Failure::usage(format!("{environment:?} is no name")));
    }
    // One that is not there is told with its nearest.
    cluster.object(&kind, environment).await?;
    let documents = rehearsed(&cluster, documents).await?;
    let all = Documents::read(everything(&cluster, &documents).await?)
        .map_err(|error| Failure::new(error.to_string()))?;
    let renderer = Renderer::new();
    let mut findings = Vec::new();
    for component in &components {
        let plan = all
            .plan(&renderer, component, environment)
            .map_err(|error| {
                Failure::new(format!("{component} cannot be rendered for {environment}"))
                    .saying(error.to_string())
                    .next("See everything that is wrong: quad validate -f FILE")
            })?;
        let name = format!("{component}-{environment}");
        let before = cluster
            .get(&cluster.path_of_ours("releases", &name))
            .await?;
        let resources = json!(plan.resources(TargetPlane::Data));
        let snapshot = all.snapshot(component);
        let owner = snapshot
            .map_err(|error| Failure::new(error.to_string()))?
            .spec
            .owner;
        let fresh = json!({
            "apiVersion": "openchoreo.dev/v1alpha1", "kind": "Release",
            "metadata": { "name": name, "namespace": cluster.namespace },
            "spec": { "owner": owner, "environmentName": environment },
        });
        let mut after = before.clone().unwrap_or(fresh);
        after["spec"]["resources"] = resources;
        findings.extend(release::findings(&cluster, before.as_ref(), after, |_| false).await?);
    }
    Ok(findings)
}
