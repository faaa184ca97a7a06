//! Custom resource definitions, ours and other people's.

use anyhow::{Context as _, ensure};
use http::{Request, header};
use kube::client::Body;
use quadrille_testkit::{Cluster, assets, real};
use serde_json::Value;

const COLLECTION: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// Applies a definition as a dry run, over one that is there already too; gives the warnings.
async fn try_out(cluster: &Cluster, definition: &Value) -> anyhow::Result<Vec<String>> {
    let name = definition["metadata"]["name"].as_str().context("a name")?;
    let request = Request::patch(format!(
        "{COLLECTION}/{name}?dryRun=All&fieldManager=tests&fieldValidation=Strict&force=true"
    ))
    .header(header::CONTENT_TYPE, "application/apply-patch+yaml")
    .body(Body::from(serde_json::to_vec(definition)?))?;
    let response = cluster.client().send(request).await?;
    let status = response.status();
    let warnings = response.headers().get_all(header::WARNING).iter();
    let warnings = warnings
        .map(|value| value.to_str().unwrap_or("?").to_owned())
        .collect();
    let body = response.into_body().collect_bytes().await?;
    ensure!(
        status.is_success(),
        "{name}: {status} {}",
        String::from_utf8_lossy(&body)
    );
    Ok(warnings)
}

#[tokio::test]
async fn our_definitions_are_accepted_without_a_warning() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    for definition in &quadrille_types::definitions() {
        let warnings = try_out(&cluster, definition).await?;
        assert_eq!(warnings, Vec::<String>::new(), "{}", definition["metadata"]);
    }
    Ok(())
}

#[tokio::test]
async fn definitions_of_other_projects_are_accepted() -> anyhow::Result<()> {
    if real::is_skipped() {
        return Ok(());
    }
    let cluster = Cluster::start().await?;
    let mut definitions: Vec<Value> =
        vec![serde_saphyr::from_str(assets::SECRET_PROVIDER_CLASS_CRD)?];
    for source in assets::CRD_SOURCES {
        for path in assets::crds(source.name)? {
            let text = std::fs::read_to_string(&path)?;
            definitions
                .push(serde_saphyr::from_str(&text).with_context(|| path.display().to_string())?);
        }
    }
    assert!(definitions.len() > 80, "{}", definitions.len());
    for definition in &definitions {
        try_out(&cluster, definition).await?;
    }
    Ok(())
}
