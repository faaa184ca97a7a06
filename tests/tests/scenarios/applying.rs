//! Server-side apply as our engine relies on it.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, ResourceExt as _,
    api::{Patch, PatchParams, PostParams},
};
use quadrille_testkit::{Cluster, builders::mk_config_map};
use serde_json::{Value, json};

fn document(data: &Value) -> Value {
    json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "a" }, "data": data })
}

async fn apply(api: &Api<ConfigMap>, manager: &str, document: &Value) -> kube::Result<ConfigMap> {
    api.patch("a", &PatchParams::apply(manager), &Patch::Apply(document))
        .await
}

fn is_conflict(result: &kube::Result<ConfigMap>) -> bool {
    matches!(result, Err(kube::Error::Api(status)) if status.code == 409)
}

#[tokio::test]
async fn an_apply_with_revision_one_creates_and_never_merges_into_a_foreign_object()
-> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let api = cluster.api::<ConfigMap>();
    let mut create_only = document(&json!({ "k": "ours" }));
    create_only["metadata"]["resourceVersion"] = json!("1");
    let params = PatchParams::apply("engine").force();

    api.patch("a", &params, &Patch::Apply(&create_only)).await?;
    api.delete("a", &kube::api::DeleteParams::default()).await?;
    api.create(
        &PostParams::default(),
        &mk_config_map("a", &[("k", "theirs")]),
    )
    .await?;
    let answer = api.patch("a", &params, &Patch::Apply(&create_only)).await;
    assert!(is_conflict(&answer), "{answer:?}");
    assert_eq!(api.get("a").await?.data.unwrap_or_default()["k"], "theirs");
    Ok(())
}

#[tokio::test]
async fn a_field_that_another_manager_owns_is_taken_only_by_force() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let api = cluster.api::<ConfigMap>();
    apply(
        &api,
        "one",
        &document(&json!({ "k": "one", "only": "one" })),
    )
    .await?;
    let theirs = document(&json!({ "k": "other" }));
    let answer = apply(&api, "other", &theirs).await;
    assert!(is_conflict(&answer), "{answer:?}");
    api.patch(
        "a",
        &PatchParams::apply("other").force(),
        &Patch::Apply(&theirs),
    )
    .await?;

    // The first manager has lost `k`: leaving everything out removes only what it still owns.
    apply(&api, "one", &document(&json!({}))).await?;
    let data = api.get("a").await?.data.unwrap_or_default();
    assert_eq!(
        data.into_iter().collect::<Vec<_>>(),
        [("k".to_owned(), "other".to_owned())]
    );
    Ok(())
}

#[tokio::test]
async fn a_foreign_edit_takes_the_path_out_of_our_owned_set_even_when_it_is_edited_back()
-> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let api = cluster.api::<ConfigMap>();
    let ours = document(&json!({ "k": "v" }));
    apply(&api, "engine", &ours).await?;
    for value in ["edited", "v"] {
        let patch = Patch::Merge(json!({ "data": { "k": value } }));
        api.patch(
            "a",
            &PatchParams {
                field_manager: Some("human".into()),
                ..PatchParams::default()
            },
            &patch,
        )
        .await?;
    }
    let object = api.get("a").await?;
    let owners: Vec<_> = object
        .managed_fields()
        .iter()
        .filter(|entry| {
            let fields = entry.fields_v1.as_ref().map(|fields| fields.0.to_string());
            fields.is_some_and(|fields| fields.contains("f:k"))
        })
        .filter_map(|entry| entry.manager.as_deref())
        .collect();
    assert_eq!(owners, ["human"]);
    Ok(())
}

#[tokio::test]
async fn the_same_apply_twice_keeps_the_revision() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let api = cluster.api::<ConfigMap>();
    let document = document(&json!({ "k": "v" }));
    let one = apply(&api, "engine", &document).await?;
    let other = apply(&api, "engine", &document).await?;
    assert_eq!(
        one.metadata.resource_version,
        other.metadata.resource_version
    );
    Ok(())
}
