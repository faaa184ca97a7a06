//! Ends with something in the way: planes that don't answer, planes that are gone, users that stay.

use k8s_openapi::api::{core::v1::Namespace, events::v1::Event};
use kube::{
    Api,
    api::{ListParams, Patch, PatchParams},
};
use quadrille_testkit::{
    eventually,
    wire::{Failure, Fault, Gate, Matcher, Verb},
};
use quadrille_types::{
    DataPlane, DeploymentPipeline, Environment, Organization, Project, Release, annotations,
    conditions::ConditionType,
};
use serde_json::json;

use crate::stage::{Stage, cell, gone, until_said};

#[tokio::test]
async fn an_environment_takes_its_releases_and_every_namespace_with_it() {
    let mut stage = Stage::at_rest().await;
    let acme = stage.cluster.unique("acme");
    stage.run(&[&acme]);
    stage.furnished(&acme).await;
    let namespaces = stage.cluster.all::<Namespace>();
    // Somebody else's namespace that carries both labels, as those of older versions do.
    let other = stage.cluster.unique("older");
    let older = json!({
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": {
            "name": other,
            "labels": { "environment-name": "development", "organization-name": acme },
        },
    });
    let apply = PatchParams::apply("test");
    namespaces
        .patch(&other, &apply, &Patch::Apply(&older))
        .await
        .unwrap();
    // A release that is held by somebody shows what the environment waits for.
    let releases = stage.api::<Release>(&acme);
    let held = json!({ "metadata": { "finalizers": ["openchoreo.dev/dataplane-cleanup", "example.com/hold"] } });
    let merge = PatchParams::default();
    releases
        .patch("cart", &merge, &Patch::Merge(&held))
        .await
        .unwrap();
    let environments = stage.api::<Environment>(&acme);
    stage.delete(&environments, "development").await;
    let ready = ConditionType::Ready;
    until_said(
        &environments,
        "development",
        ready,
        "False",
        "EnvironmentFinalizing",
    )
    .await;
    until_said(&environments, "development", ready, "False", "Release cart").await;
    eventually("the release goes", async || {
        let release = releases.get("cart").await.unwrap();
        let is_going = release.metadata.deletion_timestamp.is_some();
        is_going.then_some(()).ok_or("not yet")
    })
    .await;
    assert!(
        namespaces.get_opt(&other).await.unwrap().is_some(),
        "releases go first"
    );
    eventually("nothing else holds the release", async || {
        // It may be that only the other finalizer is left by now.
        let left = releases.get_opt("cart").await.unwrap();
        let Some(left) = left else { return Ok(()) };
        let mut names = left.metadata.finalizers.unwrap_or_default();
        names.retain(|name| name != "example.com/hold");
        let free = json!({ "metadata": { "finalizers": names } });
        releases
            .patch("cart", &merge, &Patch::Merge(&free))
            .await
            .map(drop)
            .map_err(|error| error.to_string())
    })
    .await;
    gone(&environments, "development").await;
    let left = ListParams::default().labels(&format!(
        "environment-name=development,organization-name={acme}"
    ));
    assert!(namespaces.list(&left).await.unwrap().items.is_empty());
    gone(&namespaces, &other).await;
}

#[tokio::test]
async fn a_plane_is_held_by_its_environments_or_takes_them_along() {
    let mut stage = Stage::at_rest().await;
    let acme = stage.cluster.unique("acme");
    stage.run(&[&acme]);
    stage.furnished(&acme).await;
    let planes = stage.api::<DataPlane>(&acme);
    stage.delete(&planes, "local").await;
    let going = ConditionType::Finalizing;
    until_said(
        &planes,
        "local",
        going,
        "True",
        "environments are on it: development",
    )
    .await;
    until_said(&planes, "local", going, "True", "DeletionBlocked").await;
    let releases = stage.api::<Release>(&acme);
    let release = releases.get("cart").await.unwrap();
    assert!(
        release.metadata.deletion_timestamp.is_none(),
        "nothing goes by itself"
    );
    stage.annotate(&planes, "local", annotations::CASCADE).await;
    gone(&planes, "local").await;
    assert!(releases.get_opt("cart").await.unwrap().is_none());
    let environments = stage.api::<Environment>(&acme);
    assert!(environments.get_opt("development").await.unwrap().is_none());
    gone(&stage.cluster.all::<Namespace>(), &cell(&acme)).await;
}

#[tokio::test]
async fn a_pipeline_is_held_by_its_projects() {
    let mut stage = Stage::at_rest().await;
    let acme = stage.cluster.unique("acme");
    stage.run(&[&acme]);
    stage.furnished(&acme).await;
    let pipelines = stage.api::<DeploymentPipeline>(&acme);
    stage.delete(&pipelines, "main").await;
    until_said(
        &pipelines,
        "main",
        ConditionType::Finalizing,
        "True",
        "promoted along it: shop",
    )
    .await;
    let other = json!({ "deploymentPipelineRef": "other" });
    stage
        .apply::<DeploymentPipeline>(&acme, "other", json!({}))
        .await;
    stage.apply::<Project>(&acme, "shop", other).await;
    gone(&pipelines, "main").await;
}

#[tokio::test]
async fn a_plane_that_does_not_answer_holds_its_environment_until_it_is_back() {
    let mut stage = Stage::at_rest().await;
    let acme = stage.cluster.unique("acme");
    stage.run(&[&acme]);
    stage.furnished(&acme).await;
    let environments = stage.api::<Environment>(&acme);
    let broken = stage.wire.inject(
        Matcher::any().resource("configmaps"),
        Fault::Fail(Failure::unavailable()),
    );
    stage.delete(&environments, "development").await;
    let ready = ConditionType::Ready;
    until_said(&environments, "development", ready, "False", "Release cart").await;
    eventually("the plane was asked", async || {
        (broken.hits() > 0).then_some(()).ok_or("not yet")
    })
    .await;
    assert!(environments.get_opt("development").await.unwrap().is_some());
    stage.wire.heal();
    gone(&environments, "development").await;
    gone(&stage.cluster.all::<Namespace>(), &cell(&acme)).await;
}

#[tokio::test]
async fn an_organization_that_waits_for_its_plane_delays_no_other() {
    let mut stage = Stage::at_rest().await;
    let [acme, umbrella] = ["acme", "umbrella"].map(|name| stage.cluster.unique(name));
    stage.run(&[&acme, &umbrella]);
    stage.furnished(&acme).await;
    stage.furnished(&umbrella).await;
    let environments = stage.api::<Environment>(&acme);
    let names: Vec<String> = (0..24).map(|number| format!("stage-{number}")).collect();
    let on_plane = json!({ "dataPlaneRef": "local" });
    for name in &names {
        let spec = on_plane.clone();
        stage.apply::<Environment>(&acme, name, spec).await;
    }
    for name in &names {
        until_said(&environments, name, ConditionType::Ready, "True", "").await;
    }
    // Before one goes, its namespaces are looked for; the plane takes its time to answer.
    let gate = Gate::closed();
    let lists = Matcher::verb(Verb::List).resource("namespaces");
    stage.wire.inject(lists, Fault::Hold(gate.clone()));
    for name in &names {
        stage.delete(&environments, name).await;
    }
    gate.reached_by(4).await;
    let project = json!({ "deploymentPipelineRef": "main" });
    stage.apply::<Project>(&umbrella, "new", project).await;
    let projects = stage.api::<Project>(&umbrella);
    until_said(&projects, "new", ConditionType::Ready, "True", "").await;
    for name in &names {
        let left = environments.get_opt(name).await.unwrap();
        assert!(left.is_some(), "{name} did not wait");
    }
    gate.open();
    for name in &names {
        gone(&environments, name).await;
    }
}

#[tokio::test]
async fn what_is_on_a_plane_that_is_gone_for_good_is_left_by_a_word() {
    let mut stage = Stage::at_rest().await;
    let acme = stage.cluster.unique("acme");
    stage.run(&[&acme]);
    stage.furnished(&acme).await;
    stage.wire.inject(
        Matcher::any().resource("configmaps"),
        Fault::Fail(Failure::unavailable()),
    );
    let organizations = stage.cluster.all::<Organization>();
    stage.delete(&organizations, &acme).await;
    let deleting = ConditionType::Deleting;
    until_said(
        &organizations,
        &acme,
        deleting,
        "True",
        "waits for the end of Project shop",
    )
    .await;
    let planes = stage.api::<DataPlane>(&acme);
    stage.annotate(&planes, "local", annotations::ABANDON).await;
    gone(&organizations, &acme).await;
    let namespaces = stage.cluster.all::<Namespace>();
    gone(&namespaces, &acme).await;
    assert!(
        namespaces.get_opt(&cell(&acme)).await.unwrap().is_some(),
        "as asked"
    );
    stage.wire.heal();
    stage.delete(&namespaces, &cell(&acme)).await;
}

#[tokio::test]
async fn an_organization_goes_with_its_namespace_when_somebody_deletes_that() {
    let mut stage = Stage::at_rest().await;
    let acme = stage.cluster.unique("acme");
    stage.run(&[&acme]);
    stage.furnished(&acme).await;
    let namespaces = stage.cluster.all::<Namespace>();
    let organizations = stage.cluster.all::<Organization>();
    // Both at once: everything in the namespace goes in no order at all.
    stage.delete(&namespaces, &acme).await;
    stage.delete(&organizations, &acme).await;
    stage.nothing_left(&acme).await;
}

#[tokio::test]
async fn two_organizations_with_equal_names_inside_have_nothing_to_do_with_each_other() {
    let mut stage = Stage::at_rest().await;
    let [acme, umbrella] = ["acme", "umbrella"].map(|name| stage.cluster.unique(name));
    stage.run(&[&acme, &umbrella]);
    stage.furnished(&acme).await;
    stage.furnished(&umbrella).await;
    let organizations = stage.cluster.all::<Organization>();
    stage.delete(&organizations, &acme).await;
    stage.nothing_left(&acme).await;
    let ready = ConditionType::Ready;
    until_said(&stage.api::<Release>(&umbrella), "cart", ready, "True", "").await;
    until_said(
        &stage.api::<Environment>(&umbrella),
        "development",
        ready,
        "True",
        "",
    )
    .await;
    let namespaces = stage.cluster.all::<Namespace>();
    let kept = namespaces.get(&cell(&umbrella)).await.unwrap();
    assert!(kept.metadata.deletion_timestamp.is_none());
    stage.delete(&organizations, &umbrella).await;
    stage.nothing_left(&umbrella).await;
}

#[tokio::test]
async fn a_project_that_shares_a_namespace_leaves_it_to_the_other() {
    let mut stage = Stage::at_rest().await;
    let acme = stage.cluster.unique("acme");
    stage.run(&[&acme]);
    stage.furnished(&acme).await;
    let config = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": { "name": "other", "namespace": cell(&acme) },
    });
    let release = json!({
        "owner": { "projectName": "bank", "componentName": "other" },
        "environmentName": "development",
        "resources": [{ "id": "config", "object": config }],
    });
    stage
        .apply::<Project>(&acme, "bank", json!({ "deploymentPipelineRef": "main" }))
        .await;
    stage.apply::<Release>(&acme, "other", release).await;
    let releases = stage.api::<Release>(&acme);
    until_said(&releases, "other", ConditionType::Ready, "True", "").await;
    let projects = stage.api::<Project>(&acme);
    stage.delete(&projects, "shop").await;
    gone(&projects, "shop").await;
    let namespaces = stage.cluster.all::<Namespace>();
    let kept = namespaces.get(&cell(&acme)).await.unwrap();
    assert!(kept.metadata.deletion_timestamp.is_none());
    stage.delete(&projects, "bank").await;
    gone(&projects, "bank").await;
    gone(&namespaces, &cell(&acme)).await;
}

/// What is on the plane can neither be read nor removed.
fn shut_the_plane(stage: &Stage) {
    stage.wire.inject(
        Matcher::any().resource("configmaps"),
        Fault::Fail(Failure::unavailable()),
    );
}

#[tokio::test]
async fn a_word_on_an_environment_or_a_project_ends_its_releases_too() {
    let mut stage = Stage::at_rest().await;
    let [acme, umbrella] = ["acme", "umbrella"].map(|name| stage.cluster.unique(name));
    stage.run(&[&acme, &umbrella]);
    stage.furnished(&acme).await;
    stage.furnished(&umbrella).await;
    shut_the_plane(&stage);
    let ready = ConditionType::Ready;
    let environments = stage.api::<Environment>(&acme);
    stage.delete(&environments, "development").await;
    until_said(&environments, "development", ready, "False", "Release cart").await;
    let word = annotations::ABANDON;
    stage.annotate(&environments, "development", word).await;
    gone(&environments, "development").await;
    gone(&stage.api::<Release>(&acme), "cart").await;
    let projects = stage.api::<Project>(&umbrella);
    stage.delete(&projects, "shop").await;
    until_said(&projects, "shop", ready, "False", "Release cart").await;
    stage.annotate(&projects, "shop", word).await;
    gone(&projects, "shop").await;
    gone(&stage.api::<Release>(&umbrella), "cart").await;
}

#[tokio::test]
async fn what_was_on_a_plane_that_was_left_ends_without_another_word() {
    let mut stage = Stage::at_rest().await;
    let acme = stage.cluster.unique("acme");
    stage.run(&[&acme]);
    stage.furnished(&acme).await;
    shut_the_plane(&stage);
    let planes = stage.api::<DataPlane>(&acme);
    stage.annotate(&planes, "local", annotations::ABANDON).await;
    stage.delete(&planes, "local").await;
    gone(&planes, "local").await;
    let events: Api<Event> = Api::namespaced(stage.client(), &acme);
    eventually("people are told who was on it", async || {
        let events = events.list(&ListParams::default()).await.unwrap();
        let notes = events.items.into_iter().filter_map(|event| event.note);
        let notes: Vec<String> = notes.collect();
        let is_told = |note: &&String| note.contains("development") && note.contains("cart");
        notes.iter().find(is_told).map(drop).ok_or(notes.join("; "))
    })
    .await;
    let releases = stage.api::<Release>(&acme);
    let said = "DataPlaneNotFound";
    until_said(&releases, "cart", ConditionType::Ready, "False", said).await;
    let organizations = stage.cluster.all::<Organization>();
    stage.delete(&organizations, &acme).await;
    gone(&organizations, &acme).await;
}
