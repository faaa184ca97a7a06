//! What is rendered, shown to a server that has the kinds of other projects: strictly, as a dry run.

use std::{collections::BTreeMap, fs, path::PathBuf};

use anyhow::{Context as _, bail};
use futures::{StreamExt as _, stream};
use http::{Request, header};
use kube::client::Body;
use quadrille_render::{Documents, Renderer, library};
use quadrille_testkit::{Cluster, definitions};
use serde_json::{Value, json};

/// Every object that the cases of the render crate give by shipped types, and of their cells where they show them, each
/// once.
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
        let Ok((plan, cell)) = Documents::read(all.collect()).and_then(|all| {
            let plan = all.plan(&renderer, component, environment)?;
            let shows_cell = task["cell"] == true;
            let cell = shows_cell.then(|| all.cell("default", environment));
            Ok((plan, cell.transpose()?.unwrap_or_default()))
        }) else {
            continue;
        };
        for planned in plan.objects.into_iter().chain(cell) {
            let mut object = planned.object;
            if object["kind"] == "Namespace" {
                continue; // the test's own takes its place
            }
            object["metadata"]["namespace"] = Value::Null;
            found.insert(object.to_string(), object);
        }
    }
    Ok(found)
}

/// Every object that makes something reachable from beyond its cell, of the cases of the render crate, each once.
fn exposed() -> anyhow::Result<BTreeMap<String, Value>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../crates/render/tests/exposed");
    let base: Vec<Value> =
        serde_saphyr::from_multiple(&fs::read_to_string(folder.join("base.yaml"))?)?;
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if !path.is_dir() {
            continue;
        }
        let text = fs::read_to_string(path.join("input.yaml"))?;
        let own: Vec<Value> = serde_saphyr::from_multiple(&text)?;
        let all = Documents::read(base.iter().cloned().chain(own).collect())?;
        // What cannot be rendered has its own tests.
        let rendered = all
            .exposures()
            .into_iter()
            .filter_map(|(_, outcome)| outcome.ok());
        for planned in rendered.flat_map(|exposure| exposure.objects) {
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

/// A cluster that has the kinds of other projects.
async fn cluster() -> anyhow::Result<Cluster> {
    let cluster = Cluster::start().await?;
    let others: Vec<Value> = quadrille_node::third_party::definitions()
        .map(|text| serde_json::from_str(&text))
        .collect::<Result<_, _>>()?;
    definitions::install(&cluster.client(), &others).await?;
    Ok(cluster)
}

#[tokio::test]
async fn everything_that_shipped_types_render_is_taken_strictly() -> anyhow::Result<()> {
    let objects = objects()?;
    assert!(objects.len() > 50, "{}", objects.len());
    for (kind, egress) in [
        ("NetworkPolicy", true),
        ("CiliumNetworkPolicy", true),
        ("ResourceQuota", false),
    ] {
        let mut alike = objects.values().filter(|object| object["kind"] == kind);
        assert!(
            alike.any(|object| object["spec"].get("egress").is_some() == egress),
            "no {kind}"
        );
    }
    are_taken(&cluster().await?, objects).await
}

#[tokio::test]
async fn everything_that_makes_something_reachable_is_taken_strictly() -> anyhow::Result<()> {
    let objects = exposed()?;
    for kind in [
        "HTTPRoute",
        "GRPCRoute",
        "TCPRoute",
        "UDPRoute",
        "HTTPRouteFilter",
        "SecurityPolicy",
        "BackendTrafficPolicy",
        "Backend",
        "NetworkPolicy",
        "CiliumNetworkPolicy",
    ] {
        let mut alike = objects.values();
        assert!(alike.any(|object| object["kind"] == kind), "no {kind}");
    }
    are_taken(&cluster().await?, objects).await
}

/// Shows objects to a cluster, each as a dry run.
async fn are_taken(cluster: &Cluster, objects: BTreeMap<String, Value>) -> anyhow::Result<()> {
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
