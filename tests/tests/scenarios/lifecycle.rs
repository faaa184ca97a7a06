//! What a cluster does by itself: finalizers, owners, namespaces, default objects.

use k8s_openapi::api::core::v1::{ConfigMap, Namespace, ServiceAccount};
use kube::{
    ResourceExt as _,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use quadrille_testkit::{
    Cluster,
    builders::{mk, mk_config_map, mk_namespace},
    eventually_object,
};
use serde_json::json;

#[tokio::test]
async fn an_object_with_a_finalizer_stays_until_the_finalizer_is_gone() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let api = cluster.api::<ConfigMap>();
    let object: ConfigMap =
        mk(json!({ "metadata": { "name": "a", "finalizers": ["example.com/hold"] } }));
    api.create(&PostParams::default(), &object).await?;
    let answer = api.delete("a", &DeleteParams::default()).await?;
    let deleting = answer
        .left()
        .expect("the object is answered while a finalizer holds it");
    assert!(deleting.metadata.deletion_timestamp.is_some());
    let patch = Patch::Merge(json!({ "metadata": { "finalizers": null } }));
    api.patch("a", &PatchParams::default(), &patch).await?;
    assert!(api.get_opt("a").await?.is_none());
    Ok(())
}

#[tokio::test]
async fn what_an_object_owns_goes_with_it() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let api = cluster.api::<ConfigMap>();
    let owner = api
        .create(&PostParams::default(), &mk_config_map("owner", &[]))
        .await?;
    let dependent: ConfigMap = mk(json!({ "metadata": {
        "name": "owned",
        "ownerReferences": [{
            "apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner.uid(),
        }],
    }}));
    api.create(&PostParams::default(), &dependent).await?;
    api.delete("owner", &DeleteParams::background()).await?;
    eventually_object(&api, "owned", "it is gone", |object| object.is_none()).await;
    Ok(())
}

#[tokio::test]
async fn a_namespace_takes_its_objects_with_it() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let name = cluster.unique("ending");
    let namespaces = cluster.all::<Namespace>();
    namespaces
        .create(&PostParams::default(), &mk_namespace(&name))
        .await?;
    let inside = kube::Api::<ConfigMap>::namespaced(cluster.client(), &name);
    inside
        .create(&PostParams::default(), &mk_config_map("a", &[]))
        .await?;
    namespaces.delete(&name, &DeleteParams::default()).await?;
    eventually_object(&namespaces, &name, "it is gone", |object| object.is_none()).await;
    assert!(inside.get_opt("a").await?.is_none());
    Ok(())
}

#[tokio::test]
async fn every_namespace_has_its_service_account_and_root_certificate() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let accounts = cluster.api::<ServiceAccount>();
    eventually_object(&accounts, "default", "it exists", |object| object.is_some()).await;
    let root = cluster.api::<ConfigMap>();
    let found = eventually_object(&root, "kube-root-ca.crt", "it exists", |object| {
        object.is_some()
    })
    .await;
    let data = found.and_then(|found| found.data).unwrap_or_default();
    assert!(data["ca.crt"].contains("BEGIN CERTIFICATE"));
    Ok(())
}
