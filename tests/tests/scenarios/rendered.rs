//! What is rendered, shown to a server that has the kinds of other projects: strictly, as a dry run.

use std::{collections::BTreeMap, fs, path::PathBuf};

use anyhow::{Context as _, bail};
use futures::{StreamExt as _, stream};
use http::{Request, header};
use kube::client::Body;
use quadrille_render::{Documents, Renderer, library};
use quadrille_testkit::{Cluster, definitions};
use serde_json::{Value, json};

/// Every object that the cases of the render crate give by shipped types, each once.
fn objects() -> anyhow::Result<BTreeMap<String, Value>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../crates/render/tests");
    let base: Vec<Value> =
        serde_saphyr::from_multiple(&fs::read_to_string(folder.join("base.yaml"))?)?;
    let renderer = Renderer::new();
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder.join("cases"))? {
        let text = fs::read_to_string(entry?.path().join("input.yaml"))?;
        let mut documents: Vec<Value> = serde_saphyr::from_multiple(&text)?;
        let task = documents.remove(0);
        let own = [json!("ComponentType"), json!("ComponentRelease")];
        let by_shipped_types = !documents
            .iter()
            .any(|document| own.contains(&document["kind"]));
        if !by_shipped_types {
            continue;
        }
        let all = library::documents()
            .into_iter()
            .chain(base.clone())
            .chain(documents);
        let component = task["component"].as_str().context("a component")?;
        let environment = task["environment"].as_str().unwrap_or("development");
        // What cannot be rendered has its own tests.
        let Ok(plan) = Documents::read(all.collect())
            .and_then(|all| all.plan(&renderer, component, environment))
        else {
            continue;
        };
        for planned in plan.objects {
            let mut object = planned.object;
            object["metadata"]["namespace"] = Value::Null;
            found.insert(object.to_string(), object);
        }
    }
    Ok(found)
}

/// The path of an object in a namespace. Plurals of what we render are regular, but for policies.
fn path(object: &Value, namespace: &str) -> anyhow::Result<String> {
    let version = object["apiVersion"].as_str().context("a version")?;
    let root = if version.contains('/') { "apis" } else { "api" };
    let kind = object["kind"].as_str().context("a kind")?.to_lowercase();
    let plural = match (kind.strip_suffix('y'), kind.strip_suffix("ss")) {
        (Some(stem), _) => format!("{stem}ies"),
        (_, Some(stem)) => format!("{stem}sses"),
        _ => format!("{kind}s"),
    };
    let name = object["metadata"]["name"].as_str().context("a name")?;
    Ok(format!(
        "/{root}/{version}/namespaces/{namespace}/{plural}/{name}"
    ))
}

#[tokio::test]
async fn everything_that_shipped_types_render_is_taken_strictly() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let others: Vec<Value> = quadrille_node::third_party::definitions()
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()?;
    definitions::install(&cluster.client(), &others).await?;
    let objects = objects()?;
    assert!(objects.len() > 50, "{}", objects.len());
    let cluster = &cluster;
    let tried = stream::iter(objects.into_values()).map(|mut object| async move {
        object["metadata"]["namespace"] = json!(cluster.namespace());
        let path = path(&object, cluster.namespace())?;
        let request = Request::patch(format!(
            "{path}?dryRun=All&fieldManager=tests&fieldValidation=Strict"
        ))
        .header(header::CONTENT_TYPE, "application/apply-patch+yaml")
        .body(Body::from(serde_json::to_vec(&object)?))?;
        let response = cluster.client().send(request).await?;
        let status = response.status();
        let body = response.into_body().collect_bytes().await?;
        if !status.is_success() {
            bail!(
                "{path}: {status} {}\n{object}",
                String::from_utf8_lossy(&body)
            );
        }
        Ok(())
    });
    let outcomes: Vec<anyhow::Result<()>> = tried.buffer_unordered(8).collect().await;
    let wrong: Vec<String> = outcomes
        .into_iter()
        .filter_map(|outcome| outcome.err().map(|error| error.to_string()))
        .collect();
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
    Ok(())
}
