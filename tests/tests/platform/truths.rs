//! What the platform's objects say is true, and names what is missing.

use k8s_openapi::api::core::v1::Namespace;
use kube::{
    ResourceExt as _,
    api::{Patch, PatchParams, PostParams},
};
use quadrille_testkit::eventually;
use quadrille_types::{
    DataPlane, DeploymentPipeline, Environment, Organization, Project, annotations,
    conditions::ConditionType,
};
use serde_json::{Value, json};

use crate::stage::{Stage, gone, until_said};

#[tokio::test]
async fn an_environment_is_ready_only_if_its_plane_is() {
    let mut stage = Stage::at_rest().await;
    let acme = stage.cluster.unique("acme");
    stage.run(&[&acme]);
    stage.organization(&acme).await;
    let environments = stage.api::<Environment>(&acme);
    let spec = json!({ "dataPlaneRef": "far" });
    stage.apply::<Environment>(&acme, "development", spec).await;
    let ready = ConditionType::Ready;
    let said = "there is no DataPlane \"far\"";
    until_said(&environments, "development", ready, "False", said).await;
    until_said(
        &environments,
        "development",
        ready,
        "False",
        "DataPlaneNotFound",
    )
    .await;

    // The plane's connection is in a Secret that is not there.
    let plane =
        json!({ "kubernetesCluster": { "name": "far", "connectionConfigRef": "far-connection" } });
    stage.apply::<DataPlane>(&acme, "far", plane).await;
    until_said(
        &environments,
        "development",
        ready,
        "False",
        "far-connection",
    )
    .await;
    until_said(
        &environments,
        "development",
        ready,
        "False",
        "DataPlaneNotReady",
    )
    .await;

    let plane = json!({ "kubernetesCluster": { "inCluster": true } });
    let planes = stage.api::<DataPlane>(&acme);
    stage.annotate(&planes, "far", annotations::ABANDON).await;
    stage.delete(&planes, "far").await;
    until_said(
        &environments,
        "development",
        ready,
        "False",
        "DataPlaneNotFound",
    )
    .await;
    stage.apply::<DataPlane>(&acme, "far", plane).await;
    until_said(
        &environments,
        "development",
        ready,
        "True",
        "EnvironmentReady",
    )
    .await;
    until_said(&environments, "development", ready, "True", "DataPlane far").await;
}

#[tokio::test]
async fn a_pipeline_names_missing_environments_circles_and_what_nothing_leads_to() {
    let mut stage = Stage::at_rest().await;
    let acme = stage.cluster.unique("acme");
    stage.run(&[&acme]);
    stage.organization(&acme).await;
    let step = |from: &str, to: &str| json!({ "sourceEnvironmentRef": from, "targetEnvironmentRefs": [{ "name": to }] });
    let pipelines = stage.api::<DeploymentPipeline>(&acme);
    let put = async |steps: Vec<Value>| {
        let spec = json!({ "promotionPaths": steps });
        stage.apply::<DeploymentPipeline>(&acme, "main", spec).await;
    };
    for name in ["development", "staging"] {
        stage.apply::<Environment>(&acme, name, json!({})).await;
    }
    let said = async |status: &str, words: &str| {
        until_said(&pipelines, "main", ConditionType::Ready, status, words).await;
    };
    put(vec![step("development", "staging")]).await;
    said("True", "DeploymentPipelineAvailable").await;
    put(vec![
        step("development", "staging"),
        step("staging", "production"),
    ])
    .await;
    said("False", "there is no Environment production").await;
    stage
        .apply::<Environment>(&acme, "production", json!({}))
        .await;
    said("True", "DeploymentPipelineAvailable").await;
    put(vec![
        step("development", "staging"),
        step("staging", "production"),
        step("production", "staging"),
    ])
    .await;
    said("False", "staging → production → staging").await;
}

#[tokio::test]
async fn a_project_names_its_missing_pipeline() {
    let mut stage = Stage::at_rest().await;
    let acme = stage.cluster.unique("acme");
    stage.run(&[&acme]);
    stage.organization(&acme).await;
    let spec = json!({ "deploymentPipelineRef": "main" });
    stage.apply::<Project>(&acme, "shop", spec).await;
    let projects = stage.api::<Project>(&acme);
    let ready = ConditionType::Ready;
    until_said(
        &projects,
        "shop",
        ConditionType::Created,
        "True",
        "ProjectCreated",
    )
    .await;
    until_said(
        &projects,
        "shop",
        ready,
        "False",
        "DeploymentPipelineNotFound",
    )
    .await;
    stage
        .apply::<DeploymentPipeline>(&acme, "main", json!({}))
        .await;
    until_said(&projects, "shop", ready, "True", "DeploymentPipeline main").await;
}

#[tokio::test]
async fn an_organization_keeps_its_namespace_and_leaves_one_that_was_there_before() {
    let mut stage = Stage::at_rest().await;
    let [acme, old] = ["acme", "old"].map(|name| stage.cluster.unique(name));
    stage.run(&[&acme, &old]);
    let namespaces = stage.cluster.all::<Namespace>();
    stage.organization(&acme).await;
    let label = "openchoreo.dev/organization";
    // Somebody takes a label away; it comes back.
    let patch = json!({ "metadata": { "labels": { label: null } } });
    let parameters = PatchParams::default();
    namespaces
        .patch(&acme, &parameters, &Patch::Merge(&patch))
        .await
        .unwrap();
    eventually("the label is back", async || {
        let namespace = namespaces.get(&acme).await.unwrap();
        let known = namespace.labels().get(label) == Some(&acme);
        known
            .then_some(())
            .ok_or(format!("{:?}", namespace.labels()))
    })
    .await;
    let uid = namespaces.get(&acme).await.unwrap().uid();
    stage.delete(&namespaces, &acme).await;
    eventually("the namespace is made anew", async || {
        let namespace = namespaces.get_opt(&acme).await.unwrap();
        let is_new = namespace.is_some_and(|one| one.uid() != uid);
        is_new.then_some(()).ok_or("not yet")
    })
    .await;
    let organizations = stage.cluster.all::<Organization>();
    until_said(&organizations, &acme, ConditionType::Ready, "True", "").await;
    stage.delete(&organizations, &acme).await;
    gone(&organizations, &acme).await;
    gone(&namespaces, &acme).await;

    let before = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": old } });
    let before: Namespace = serde_json::from_value(before).unwrap();
    namespaces
        .create(&PostParams::default(), &before)
        .await
        .unwrap();
    stage.organization(&old).await;
    stage.delete(&organizations, &old).await;
    gone(&organizations, &old).await;
    let left = namespaces.get(&old).await.unwrap();
    assert!(left.metadata.deletion_timestamp.is_none());
    assert!(!left.labels().contains_key(label), "{:?}", left.labels());
}
