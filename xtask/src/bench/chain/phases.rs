//! What is done to the component chain, and how long it takes.

use std::{
    ops::Range,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use rand::{Rng as _, SeedableRng as _, rngs::StdRng};
use serde_json::Value;

use super::{
    super::{
        board::Board,
        engine::phases::{send, send_all},
        load::Seen,
        objects::{OURS, until, until_ready},
    },
    fixture,
};
use crate::wire::{Connection, Endpoint};

/// Makes the projects.
pub(super) async fn projects(endpoint: &Endpoint, count: usize) -> Result<()> {
    send_all(endpoint, count, |index| vec![fixture::project(index)]).await?;
    let mut connection = endpoint.connect().await?;
    for index in 0..count {
        let path = fixture::project_path(index);
        until_ready(&mut connection, &path).await?;
    }
    Ok(())
}

/// Creates components with their workloads, and waits until all of them are Ready in the first environment.
pub(super) async fn deploy(
    endpoint: &Endpoint,
    board: &mut Board,
    which: Range<usize>,
    projects: usize,
) -> Result<Duration> {
    let began = Instant::now();
    send_all(endpoint, which.len(), |index| {
        fixture::component(which.start + index, projects)
    })
    .await?;
    board
        .until("all components are Ready", |board| {
            board.count(|state| state.is_ready) >= which.end
        })
        .await?;
    Ok(began.elapsed())
}

/// Edits workloads one after the other, and measures each until the plane's Deployment has the edit.
pub(super) async fn edits(endpoint: &Endpoint, edits: usize, components: usize) -> Result<Seen> {
    let mut random = StdRng::seed_from_u64(11);
    let mut connection = endpoint.connect().await?;
    let began = Instant::now();
    let mut latencies = Vec::new();
    for edit in 0..edits {
        let name = fixture::name(random.random_range(0..components));
        let deployment = deployment_of(&mut connection, &name).await?;
        let image = format!("registry.example.com/shop/cart:1.0.{}", edit + 1);
        let sent = Instant::now();
        send(&mut connection, fixture::edit(&name, &image)).await?;
        until(&mut connection, &deployment, |object| {
            object["spec"]["template"]["spec"]["containers"][0]["image"] == image.as_str()
        })
        .await?;
        latencies.push(sent.elapsed());
        // The next one begins when this one is through.
        let binding = format!("{OURS}/releasebindings/{name}-development");
        until_ready(&mut connection, &binding).await?;
    }
    Ok(Seen::new(latencies, began.elapsed()))
}

/// The path of the Deployment that a component's release is.
async fn deployment_of(connection: &mut Connection, component: &str) -> Result<String> {
    let path = format!("{OURS}/releases/{component}-development");
    let release = until(connection, &path, |object| object["spec"].is_object()).await?;
    let resources = release["spec"]["resources"].as_array();
    let deployment = resources
        .into_iter()
        .flatten()
        .map(|resource| &resource["object"])
        .find(|object| object["kind"] == "Deployment")
        .context("a release without a Deployment")?;
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let metadata = &deployment["metadata"];
    Ok(format!(
        "/apis/apps/v1/namespaces/{}/deployments/{}",
        word(&metadata["namespace"]),
        word(&metadata["name"]),
    ))
}

/// Edits the type of all components, and waits until it says that all of them have the edit and are well.
pub(super) async fn edit_type(endpoint: &Endpoint) -> Result<Duration> {
    let mut connection = endpoint.connect().await?;
    let definition = until(&mut connection, fixture::TYPE, |object| {
        object["spec"].is_object()
    })
    .await?;
    let began = Instant::now();
    send(&mut connection, fixture::edited(definition)).await?;
    until(&mut connection, fixture::TYPE, is_rolled_out).await?;
    Ok(began.elapsed())
}

/// Whether a type says of its latest generation that all components have it.
fn is_rolled_out(definition: &Value) -> bool {
    let generation = &definition["metadata"]["generation"];
    let conditions = definition["status"]["conditions"].as_array();
    conditions.into_iter().flatten().any(|condition| {
        condition["type"] == "RolledOut"
            && condition["status"] == "True"
            && condition["observedGeneration"] == *generation
    })
}

/// Deletes the components, and waits until their bindings are gone.
pub(super) async fn delete(
    endpoint: &Endpoint,
    board: &mut Board,
    count: usize,
) -> Result<Duration> {
    let began = Instant::now();
    send_all(endpoint, count, |index| {
        vec![fixture::deletion(&fixture::name(index))]
    })
    .await?;
    board
        .until("all bindings are gone", |board| board.count(|_| true) == 0)
        .await?;
    Ok(began.elapsed())
}
