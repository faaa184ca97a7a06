//! The controllers are killed before every single call while something is deleted, and start anew: it ends all the
//! same.

use kube::api::ListParams;
use quadrille_testkit::{
    eventually,
    wire::{Fault, Matcher, Wire},
};
use quadrille_types::{
    DataPlane, DeploymentPipeline, Environment, Organization, Project, Release, annotations,
};

use crate::{
    every::{Choice, Told, for_every_call, is_for_the_embedded_alone},
    orders::{What, delete},
    stage::{Stage, is_gone},
};

/// Whether what was deleted first is gone.
async fn is_over(stage: &Stage, acme: &str, first: What) -> bool {
    match first {
        What::Environment => is_gone(&stage.api::<Environment>(acme), "development").await,
        What::Project => is_gone(&stage.api::<Project>(acme), "shop").await,
        What::Plane => is_gone(&stage.api::<DataPlane>(acme), "local").await,
        What::Pipeline => is_gone(&stage.api::<DeploymentPipeline>(acme), "main").await,
        What::Organization | What::Release => {
            is_gone(&stage.cluster.all::<Organization>(), acme).await
        }
    }
}

/// Deletes these one after the other, without waiting; the controllers die before this call, and others finish it.
async fn killed(order: &[What], call: Matcher) -> Told {
    let mut stage = Stage::at_rest().await;
    let acme = stage.cluster.unique("acme");
    stage.run(&[&acme]);
    stage.furnished(&acme).await;
    let planes = stage.api::<DataPlane>(&acme);
    stage.annotate(&planes, "local", annotations::CASCADE).await;
    stage.wire.forget();
    let death = stage.wire.inject(call, Fault::Die);
    for what in order {
        delete(&stage, &acme, *what).await;
    }
    eventually("it is over, or the controllers are dead", async || {
        let is_done = death.hits() > 0 || is_over(&stage, &acme, order[0]).await;
        is_done.then_some(()).ok_or("neither")
    })
    .await;
    let told = Told::new(&death, &stage.wire);
    stage.kill();
    stage.wire = Wire::default();
    stage.run(&[&acme]);
    eventually("it is over", async || {
        if is_over(&stage, &acme, order[0]).await {
            Ok(())
        } else {
            Err(left(&stage, &acme).await)
        }
    })
    .await;
    if order.contains(&What::Organization) {
        stage.nothing_left(&acme).await;
    }
    told
}

/// What is left, for people to read.
async fn left(stage: &Stage, acme: &str) -> String {
    fn said<K: serde::Serialize>(objects: impl IntoIterator<Item = K>) -> String {
        let objects = objects.into_iter().map(|object| {
            let object = serde_json::to_value(&object).unwrap_or_default();
            let metadata = &object["metadata"];
            let conditions = &object["status"]["conditions"];
            format!(
                "{} {} {} {conditions}\n",
                metadata["name"], metadata["deletionTimestamp"], metadata["finalizers"]
            )
        });
        objects.collect()
    }
    let all = ListParams::default();
    let organizations = stage
        .cluster
        .all::<Organization>()
        .list(&all)
        .await
        .unwrap();
    let projects = stage.api::<Project>(acme).list(&all).await.unwrap();
    let environments = stage.api::<Environment>(acme).list(&all).await.unwrap();
    let planes = stage.api::<DataPlane>(acme).list(&all).await.unwrap();
    let pipelines = stage
        .api::<DeploymentPipeline>(acme)
        .list(&all)
        .await
        .unwrap();
    let releases = stage.api::<Release>(acme).list(&all).await.unwrap();
    [
        said(organizations),
        said(projects),
        said(environments),
        said(planes),
        said(pipelines),
        said(releases),
    ]
    .concat()
}

async fn kill_everywhere(order: &[What]) {
    if is_for_the_embedded_alone() {
        return;
    }
    let calls = for_every_call("ending", Choice::ALL, |call| killed(order, call)).await;
    println!("{order:?}: {calls} calls");
}

#[tokio::test]
async fn an_organization_ends_after_a_kill_at_every_call() {
    kill_everywhere(&[What::Organization]).await;
}

#[tokio::test]
async fn a_project_ends_after_a_kill_at_every_call() {
    kill_everywhere(&[What::Project]).await;
}

#[tokio::test]
async fn an_environment_ends_after_a_kill_at_every_call() {
    kill_everywhere(&[What::Environment]).await;
}

#[tokio::test]
async fn a_plane_ends_with_its_environments_after_a_kill_at_every_call() {
    kill_everywhere(&[What::Plane]).await;
}

#[tokio::test]
async fn a_pipeline_ends_after_its_project_and_a_kill_at_every_call() {
    kill_everywhere(&[What::Pipeline, What::Project]).await;
}

#[tokio::test]
async fn everything_ends_parents_first_after_a_kill_at_every_call() {
    let order = [
        What::Organization,
        What::Plane,
        What::Pipeline,
        What::Environment,
        What::Project,
        What::Release,
    ];
    kill_everywhere(&order).await;
}

#[tokio::test]
async fn everything_ends_children_first_after_a_kill_at_every_call() {
    let order = [
        What::Release,
        What::Project,
        What::Environment,
        What::Pipeline,
        What::Plane,
        What::Organization,
    ];
    kill_everywhere(&order).await;
}
