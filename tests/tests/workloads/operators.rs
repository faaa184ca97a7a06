//! Stand-ins for operators on the embedded cluster: Secrets come and go with what asks for them.

use std::sync::Arc;

use k8s_openapi::api::core::v1::Secret;
use kube::{
    Api,
    api::{DeleteParams, Patch, PatchParams},
    core::{ApiResource, DynamicObject, GroupVersionKind},
};
use quadrille_node::{SystemClock, operators, third_party};
use quadrille_testkit::{Cluster, definitions, eventually};
use serde_json::{Value, json};

/// An embedded cluster with the kinds of operators and their stand-ins.
async fn cluster() -> anyhow::Result<Cluster> {
    let groups = [
        "external-secrets.io",
        "secrets-store.csi.x-k8s.io",
        "keda.sh",
    ];
    let cluster = Cluster::embedded().await?;
    let wanted: Vec<Value> = third_party::definitions()
        .map(|text| serde_json::from_str(&text).unwrap())
        .filter(|one: &Value| groups.iter().any(|group| one["spec"]["group"] == *group))
        .collect();
    definitions::install(&cluster.client(), &wanted).await?;
    tokio::spawn(operators::run(cluster.client(), Arc::new(SystemClock)));
    Ok(cluster)
}

async fn apply(cluster: &Cluster, object: &Value) -> anyhow::Result<Api<DynamicObject>> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let api_version = text(&object["apiVersion"]);
    let (group, version) = api_version.split_once('/').unwrap();
    let gvk = GroupVersionKind::gvk(group, version, &text(&object["kind"]));
    let resource = if gvk.kind == "SecretProviderClass" {
        ApiResource::from_gvk_with_plural(&gvk, "secretproviderclasses")
    } else {
        ApiResource::from_gvk(&gvk)
    };
    let api = Api::namespaced_with(cluster.client(), cluster.namespace(), &resource);
    let how = PatchParams::apply("test").force();
    let name = text(&object["metadata"]["name"]);
    api.patch(&name, &how, &Patch::Apply(object)).await?;
    Ok(api)
}

/// Waits until an object is ready for this reason.
async fn is_ready(api: &Api<DynamicObject>, name: &str, status: &str, reason: &str) {
    eventually(&format!("{name} is {status}, {reason}"), async || {
        let object = api.get(name).await?.data;
        // Whoever looks first finds no status at all.
        let said = object.pointer("/status/conditions/0");
        let said = said.cloned().unwrap_or_default();
        anyhow::ensure!(
            said["type"] == "Ready" && said["status"] == status,
            "{said}"
        );
        anyhow::ensure!(said["reason"] == reason, "{said}");
        Ok(())
    })
    .await;
}

/// Waits until a Secret has exactly these keys, each with the value that stands for all.
async fn has_keys(secrets: &Api<Secret>, name: &str, keys: &[&str]) {
    eventually(&format!("the Secret {name} has {keys:?}"), async || {
        let data = secrets.get(name).await?.data.unwrap_or_default();
        let found: Vec<&str> = data.keys().map(String::as_str).collect();
        anyhow::ensure!(found == keys, "{found:?}");
        anyhow::ensure!(
            data.values()
                .all(|value| value.0 == operators::VALUE.as_bytes())
        );
        Ok(())
    })
    .await;
}

async fn is_gone(secrets: &Api<Secret>, name: &str) {
    eventually(&format!("the Secret {name} is gone"), async || {
        anyhow::ensure!(secrets.get_opt(name).await?.is_none());
        Ok(())
    })
    .await;
}

fn external_secret(name: &str, keys: &[&str]) -> Value {
    let data: Vec<Value> = keys
        .iter()
        .map(|key| json!({ "secretKey": key, "remoteRef": { "key": "elsewhere" } }))
        .collect();
    json!({
        "apiVersion": "external-secrets.io/v1", "kind": "ExternalSecret",
        "metadata": { "name": name },
        "spec": {
            "secretStoreRef": { "name": "none", "kind": "ClusterSecretStore" },
            "target": { "name": format!("{name}-secret") },
            "data": data,
        },
    })
}

#[tokio::test]
async fn an_external_secret_has_its_secret_as_long_as_it_lives() -> anyhow::Result<()> {
    let cluster = cluster().await?;
    let secrets: Api<Secret> = Api::namespaced(cluster.client(), cluster.namespace());
    let api = apply(&cluster, &external_secret("cart", &["password", "token"])).await?;
    has_keys(&secrets, "cart-secret", &["password", "token"]).await;
    is_ready(&api, "cart", "True", "SecretSynced").await;

    apply(&cluster, &external_secret("cart", &["other"])).await?;
    has_keys(&secrets, "cart-secret", &["other"]).await;

    // One that is deleted comes again.
    secrets
        .delete("cart-secret", &DeleteParams::default())
        .await?;
    has_keys(&secrets, "cart-secret", &["other"]).await;

    api.delete("cart", &DeleteParams::default()).await?;
    is_gone(&secrets, "cart-secret").await;
    Ok(())
}

#[tokio::test]
async fn a_secret_that_the_api_refuses_is_told_and_comes_once_it_is_right() -> anyhow::Result<()> {
    let cluster = cluster().await?;
    let secrets: Api<Secret> = Api::namespaced(cluster.client(), cluster.namespace());
    let mut object = external_secret("cart", &["tls.crt"]);
    object["spec"]["target"]["template"] = json!({ "type": "kubernetes.io/tls" });
    let api = apply(&cluster, &object).await?;
    is_ready(&api, "cart", "False", "SecretSyncedError").await;

    let mut object = external_secret("cart", &["tls.crt", "tls.key"]);
    object["spec"]["target"]["template"] = json!({ "type": "kubernetes.io/tls" });
    apply(&cluster, &object).await?;
    has_keys(&secrets, "cart-secret", &["tls.crt", "tls.key"]).await;
    is_ready(&api, "cart", "True", "SecretSynced").await;
    Ok(())
}

#[tokio::test]
async fn mirrors_of_a_provider_class_are_there_and_what_keda_scales_is_ready() -> anyhow::Result<()>
{
    let cluster = cluster().await?;
    let secrets: Api<Secret> = Api::namespaced(cluster.client(), cluster.namespace());
    let class = json!({
        "apiVersion": "secrets-store.csi.x-k8s.io/v1", "kind": "SecretProviderClass",
        "metadata": { "name": "vault" },
        "spec": { "provider": "vault", "secretObjects": [{
            "secretName": "mirror", "type": "Opaque", "data": [{ "objectName": "o", "key": "token" }],
        }]},
    });
    let api = apply(&cluster, &class).await?;
    has_keys(&secrets, "mirror", &["token"]).await;
    api.delete("vault", &DeleteParams::default()).await?;
    is_gone(&secrets, "mirror").await;

    let scaled = json!({
        "apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "metadata": { "name": "cart" },
        "spec": {
            "scaleTargetRef": { "name": "cart" },
            "triggers": [{ "type": "cpu", "metadata": { "value": "50" } }],
        },
    });
    let api = apply(&cluster, &scaled).await?;
    is_ready(&api, "cart", "True", "ScaledObjectReady").await;
    Ok(())
}
