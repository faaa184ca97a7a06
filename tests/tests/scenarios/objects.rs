//! The life of plain objects: what every client relies on.

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams, Preconditions};
use quadrille_testkit::{
    Cluster,
    builders::{mk, mk_config_map, mk_secret},
};
use serde_json::json;

/// The status code of a refusal; 0 if it was none.
fn code<T>(result: kube::Result<T>) -> u16 {
    match result {
        Err(kube::Error::Api(status)) => status.code,
        _ => 0,
    }
}

#[tokio::test]
async fn an_object_is_created_once_and_found_until_it_is_deleted() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let api = cluster.api::<ConfigMap>();
    let created = api
        .create(&PostParams::default(), &mk_config_map("a", &[("k", "v")]))
        .await?;
    assert!(created.metadata.uid.is_some());
    assert_eq!(
        code(
            api.create(&PostParams::default(), &mk_config_map("a", &[]))
                .await
        ),
        409
    );
    assert_eq!(api.get("a").await?, created);
    api.delete("a", &DeleteParams::default()).await?;
    assert_eq!(code(api.get("a").await), 404);
    Ok(())
}

#[tokio::test]
async fn a_generated_name_starts_as_asked() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let object: ConfigMap = mk(json!({ "metadata": { "generateName": "made-" } }));
    let api = cluster.api::<ConfigMap>();
    let one = api
        .create(&PostParams::default(), &object)
        .await?
        .metadata
        .name;
    let other = api
        .create(&PostParams::default(), &object)
        .await?
        .metadata
        .name;
    assert!(
        one.as_ref()
            .is_some_and(|name| name.starts_with("made-") && name.len() > 5)
    );
    assert_ne!(one, other);
    Ok(())
}

#[tokio::test]
async fn of_two_writers_with_the_same_revision_one_loses() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let api = cluster.api::<ConfigMap>();
    let mut object = api
        .create(&PostParams::default(), &mk_config_map("a", &[]))
        .await?;
    object.data = Some([("who".to_owned(), "one".to_owned())].into());
    let written = api.replace("a", &PostParams::default(), &object).await?;
    object.data = Some([("who".to_owned(), "other".to_owned())].into());
    assert_eq!(
        code(api.replace("a", &PostParams::default(), &object).await),
        409
    );
    assert_eq!(api.get("a").await?, written);
    Ok(())
}

#[tokio::test]
async fn a_write_that_changes_nothing_keeps_the_revision() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let api = cluster.api::<ConfigMap>();
    let created = api
        .create(&PostParams::default(), &mk_config_map("a", &[("k", "v")]))
        .await?;
    let patch = Patch::Merge(json!({ "data": { "k": "v" } }));
    let patched = api.patch("a", &PatchParams::default(), &patch).await?;
    assert_eq!(
        patched.metadata.resource_version,
        created.metadata.resource_version
    );
    Ok(())
}

#[tokio::test]
async fn every_kind_of_patch_changes_what_it_says() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let api = cluster.api::<ConfigMap>();
    api.create(&PostParams::default(), &mk_config_map("a", &[("k", "v")]))
        .await?;
    let params = PatchParams::default();
    api.patch(
        "a",
        &params,
        &Patch::Merge(json!({ "data": { "merge": "1" } })),
    )
    .await?;
    api.patch(
        "a",
        &params,
        &Patch::Strategic(json!({ "data": { "k": null, "strategic": "2" } })),
    )
    .await?;
    let steps =
        serde_json::from_value(json!([{ "op": "add", "path": "/data/json", "value": "3" }]))?;
    api.patch("a", &params, &Patch::Json::<()>(steps)).await?;
    let applied = json!({ "apiVersion": "v1", "kind": "ConfigMap", "data": { "apply": "4" } });
    api.patch("a", &PatchParams::apply("tests"), &Patch::Apply(applied))
        .await?;
    let data = api.get("a").await?.data.unwrap_or_default();
    let shown: Vec<String> = data
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    assert_eq!(shown, ["apply=4", "json=3", "merge=1", "strategic=2"]);
    Ok(())
}

#[tokio::test]
async fn a_dry_run_leaves_no_trace() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let api = cluster.api::<Secret>();
    let params = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    let answer = api.create(&params, &mk_secret("a", &[("k", "v")])).await?;
    assert!(answer.metadata.uid.is_some());
    assert!(api.get_opt("a").await?.is_none());
    Ok(())
}

#[tokio::test]
async fn a_delete_for_another_object_of_that_name_is_refused() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let api = cluster.api::<ConfigMap>();
    api.create(&PostParams::default(), &mk_config_map("a", &[]))
        .await?;
    let preconditions = Preconditions {
        uid: Some("00000000-0000-0000-0000-000000000000".into()),
        resource_version: None,
    };
    let params = DeleteParams {
        preconditions: Some(preconditions),
        ..DeleteParams::default()
    };
    assert_eq!(code(api.delete("a", &params).await), 409);
    assert!(api.get_opt("a").await?.is_some());
    Ok(())
}

#[tokio::test]
async fn pages_of_a_list_show_one_moment() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let api = cluster.api::<ConfigMap>();
    for index in 0..5 {
        api.create(
            &PostParams::default(),
            &mk_config_map(&format!("n{index}"), &[]),
        )
        .await?;
    }
    let own = ListParams::default().fields("metadata.name!=kube-root-ca.crt");
    let first = api.list(&own.clone().limit(2)).await?;
    api.create(&PostParams::default(), &mk_config_map("n9", &[]))
        .await?;
    let mut names: Vec<_> = first
        .items
        .into_iter()
        .filter_map(|item| item.metadata.name)
        .collect();
    let mut token = first.metadata.continue_;
    while let Some(next) = token.filter(|token| !token.is_empty()) {
        let page = api
            .list(&own.clone().limit(2).continue_token(&next))
            .await?;
        assert_eq!(
            page.metadata.resource_version,
            first.metadata.resource_version
        );
        names.extend(page.items.into_iter().filter_map(|item| item.metadata.name));
        token = page.metadata.continue_;
    }
    assert_eq!(names, ["n0", "n1", "n2", "n3", "n4"]);
    Ok(())
}
